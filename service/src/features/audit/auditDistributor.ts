import { standardEntryPoints } from '@openearn/attribution'
import { signatureUsed } from '../../derive/index.js'
import { withholdPrices } from '../../derive/usdDays.js'
import { groupBy } from '../../kernel/groups.js'
import type { Context } from '../../postgres/context.js'
import type { Queryable } from '../../postgres/pool.js'
import { listWithheldTimes } from '../../snapshots/index.js'
import { listRawTransactions } from '../../sync/storeRaw.js'
import { listCountedReach, listFloorsAt } from '../metrics/index.js'
import { readPaidValues, toLevels } from '../paid/index.js'
import { auditMonth, type MonthAudit } from './auditFindings.js'
import { type AuditLimits, readAuditLimits } from './auditLimits.js'
import type { AuditChange, AuditVault } from './auditPieces.js'
import { listStagedStretches } from './auditStaged.js'
import { reportDistributor } from './reportDistributor.js'
import { listUnfinal, parseMonth } from './statement.js'
import {
  type ChangeRow,
  listAddedEntryPoints,
  listHeldBefore,
  listMonthChanges,
  listUncredited,
  type PlaceRow,
} from './storeFindings.js'
import { type AttributedVault, type BrokenHolder, listAttributedVaults, listBrokenHolders } from './storeReport.js'
import { listRules } from './storeStatements.js'

export type DistributorAudit = MonthAudit & {
  distributorId: string
  month: string
  /** The version of the rules that held when the month began. */
  rulesVersion: number
  limits: AuditLimits
  /** Why the month is not final, so that the audit may tell something else later; empty where it is. */
  openReasons: readonly string[]
  /** Holders of its vaults that are not looked through any more: the shares in them count for nobody. */
  brokenHolders: readonly BrokenHolder[]
}

type Ctx = Pick<Context, 'db' | 'config'>

/** Audits a month of a distributor, as far as blocks are confirmed (docs/audit.md). */
export async function auditDistributor(
  { db, config }: Ctx,
  { distributorId, month }: { distributorId: string; month: string },
): Promise<DistributorAudit> {
  const range = parseMonth(month)
  if (!range) throw new Error(`"${month}" is no month such as 2026-10`)
  const limits = readAuditLimits(config.auditLimits, config.stagedBps)
  const of = { distributorId, ...range }
  const vaults = await readVaults(db, of, limits)
  const approvalCodes = await listApprovalCodes(db, await listUncredited(db, of))
  const entryPoints = new Set([...standardEntryPoints, ...(await listAddedEntryPoints(db))])
  const bounds = { fromMs: range.from.getTime(), toMs: range.to.getTime() }
  const rules = await listRules(db, range.to)
  const rows = await reportDistributor({ db, config }, of)
  return {
    ...auditMonth({ ...bounds, vaults, approvalCodes, entryPoints }, limits),
    ...{ distributorId, month, limits },
    rulesVersion: rules.findLast(({ from }) => from <= range.from)?.version ?? 1,
    openReasons: await listUnfinal({ db }, rows, range),
    brokenHolders: await listBrokenHolders(
      db,
      rows.map(({ vaultId }) => vaultId),
    ),
  }
}

type Of = { distributorId: string; from: Date; to: Date }

async function readVaults(db: Queryable, of: Of, limits: AuditLimits): Promise<AuditVault[]> {
  const vaults = await listAttributedVaults(db, of.distributorId)
  const ids = vaults.map(({ vaultId }) => vaultId)
  const floors = await listFloorsAt(db, ids, of.to)
  const found: AuditVault[] = []
  for (const [chainId, own] of groupBy(vaults, (vault) => vault.chainId)) {
    const reach = await listCountedReach(db, [chainId])
    const toMs = Math.min(of.to.getTime(), reach.get(chainId)?.confirmedAt?.getTime() ?? of.from.getTime())
    if (toMs <= of.from.getTime()) continue
    const withheld = await listWithheldTimes(
      db,
      chainId,
      own.map(({ vaultId }) => vaultId),
    )
    for (const vault of own) {
      const read = await readVault(db, { ...of, to: new Date(toMs) }, vault, limits)
      const prices = withholdPrices(toLevels(read.values), withheld.get(vault.vaultId) ?? [])
      const end = prices.at(-1)
      const known = prices.map(({ atMs, value }) => ({ ...value, atMs }))
      found.push({
        ...read.lots,
        ...{ chainId, vault: vault.vaultAddress, assetDecimals: vault.assetDecimals, staged: read.staged },
        lpFloor: floors.get(vault.vaultId) ?? 1n,
        // Nothing counts from the newest confirmed block on.
        prices: end ? [...known, { ...end.value, atMs: Math.max(toMs, end.atMs), priceUsd: null }] : [],
      })
    }
  }
  return found
}

async function readVault(db: Queryable, of: Of, { vaultId }: AttributedVault, { stagedBps }: AuditLimits) {
  const [held, rows, { values, steps }] = await Promise.all([
    listHeldBefore(db, { vaultId, ...of }),
    listMonthChanges(db, { vaultId, ...of }),
    readPaidValues(db, { vaultId, from: of.from, to: of.to, carries: false }),
  ])
  const named = steps.map((step) => ({
    ...step,
    transactionHash: step.origin.kind === 'sale' ? step.origin.transactionHash : null,
  }))
  return {
    values,
    staged: listStagedStretches(named, stagedBps),
    lots: {
      held: new Map(held.map(({ wallet, shares }) => [wallet, BigInt(shares)])),
      changes: rows.map(toChange),
    },
  }
}

const toChange = ({ at, before, after, problems, ...row }: ChangeRow): AuditChange => ({
  ...row,
  ...{ atMs: at.getTime(), before: BigInt(before), after: BigInt(after) },
  isReplayed: problems?.includes(signatureUsed) ?? false,
})

/** `approve` of ERC-20, in the calldata of a batch or of the transaction itself. */
const approval = '095ea7b3'

/** Of transactions that were not credited to a distributor whose code they carry, those that approve. */
async function listApprovalCodes(db: Queryable, places: readonly PlaceRow[]): Promise<string[]> {
  const found: string[] = []
  for (const [chainId, own] of groupBy(places, (place) => place.chainId))
    for (const { hash, input } of await listRawTransactions(db, chainId, own))
      if (input.includes(approval)) found.push(hash)
  return found
}
