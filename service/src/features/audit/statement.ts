import { formatUnits, parseDecimal, usdDecimals } from '../../kernel/amount.js'
import { formatTs, toUnixSeconds } from '../../kernel/clock.js'
import type { Context } from '../../postgres/context.js'
import { listPriceSteps, listTokenDecimals } from '../../prices/index.js'
import { listOutstanding } from '../../snapshots/index.js'
import { listHeadersDown } from '../../sync/storeRaw.js'
import { findVaultKind } from '../../vaults/index.js'
import { listCountedReach } from '../metrics/index.js'
import { toDeposited } from './coverage.js'
import { type DistributorReportRow, reportDistributor } from './reportDistributor.js'
import {
  computeOwed,
  computeTokens,
  listStatementChanges,
  paysTheSame,
  type StatementChange,
  type StatementFacts,
  type StatementRate,
} from './statementFacts.js'
import { hashOf, nameStatement, type StatementFiles, writeStatement } from './statementFiles.js'
import { listDeposited } from './storeCoverage.js'
import {
  findStatement,
  hashInputs,
  listLastBlocks,
  listRules,
  listVaultChains,
  recordStatement,
  type StatementKey,
} from './storeStatements.js'

export type StatementAsk = {
  distributorId: string
  /** YYYY-MM, UTC. */
  month: string
  /** Hundredths of a percent a year. */
  rateBps?: number | undefined
  /** The amount owed is told in it too. Its address is lower-case. */
  token?: { chainId: number; address: string } | undefined
}

type Ctx = Pick<Context, 'db' | 'config' | 'clock'>

/** A statement, or why there is none. `revision` null: a draft. */
export type MadeStatement =
  | { problems: readonly string[] }
  | (StatementFiles & {
      revision: number | null
      usdDays: string
      rate: StatementRate | null
      /** Against the revision before, where this one was made now. */
      changes: readonly StatementChange[]
    })

/** The bounds of a month (UTC); undefined where the text names no month. */
export function parseMonth(text: string): { from: Date; to: Date } | undefined {
  const [, year, month] = /^([0-9]{4})-(0[1-9]|1[0-2])$/.exec(text) ?? []
  if (year === undefined || month === undefined) return undefined
  const [from, to] = [Number(month) - 1, Number(month)].map((index) => new Date(Date.UTC(Number(year), index, 1)))
  return from && to && { from, to }
}

/**
 * The USD-days of a distributor's month, kept as they were told: asked again it is the same bytes, and where the facts have changed since,
 * a further revision that says so. Refused while a chain's month is not final. A draft is told of any month, and not kept.
 */
export async function makeStatement(
  ctx: Ctx,
  ask: StatementAsk,
  { isDraft }: { isDraft: boolean },
): Promise<MadeStatement> {
  const range = parseMonth(ask.month)
  if (!range) return { problems: [`"${ask.month}" is no month such as 2026-10`] }
  const rows = await reportDistributor(ctx, { distributorId: ask.distributorId, ...range })
  const problems = isDraft ? [] : await listUnfinal(ctx, rows, range)
  if (problems.length > 0) return { problems }
  const facts = await collectFacts(ctx, { ...ask, range }, rows)
  if ('problems' in facts) return facts
  if (!isDraft) return keepStatement(ctx, ask, facts)
  return { ...writeStatement(facts, { revision: null, changes: [] }), ...tell(facts), revision: null, changes: [] }
}

const tell = ({ usdDays, rate }: StatementFacts) => ({ usdDays, rate })

/** The newest revision where it still holds, else a further one. */
async function keepStatement({ db, clock }: Ctx, ask: StatementAsk, facts: StatementFacts): Promise<MadeStatement> {
  const { rateBps, token } = ask
  const terms = rateBps === undefined ? '' : `${rateBps} bps${token ? ` in ${token.chainId}:${token.address}` : ''}`
  const key: StatementKey = { distributorId: ask.distributorId, month: ask.month, terms }
  for (;;) {
    const last = await findStatement(db, key)
    const before: (StatementFacts & { changes: StatementChange[] }) | undefined = last && JSON.parse(last.document)
    if (last && before && paysTheSame(before, facts)) {
      const { revision, document } = last
      const [name, sha256] = [nameStatement(before, revision), hashOf(document)]
      return { ...last, name, sha256, ...tell(before), changes: before.changes }
    }
    const revision = (last?.revision ?? 0) + 1
    const changes = before ? listStatementChanges(before, facts) : []
    const made = { ...writeStatement(facts, { revision, changes }), revision }
    const { rulesVersion } = facts
    // Where another process kept this revision first, that one is compared.
    if (await recordStatement(db, key, { ...made, madeAt: clock.now(), rulesVersion }))
      return { ...made, ...tell(facts), changes }
  }
}

/** Why a month is not final, in sentences. */
export async function listUnfinal(
  { db }: Pick<Ctx, 'db'>,
  rows: readonly DistributorReportRow[],
  range: Range,
): Promise<string[]> {
  const chains = await listVaultChains(db)
  const reach = await listCountedReach(db, chains)
  const own = new Set(rows.map(({ chainId }) => chainId))
  const early = chains.flatMap((chainId) => {
    const known = reach.get(chainId)
    if (!known) return own.has(chainId) ? [`chain ${chainId} is not read any more`] : []
    const { finalAt } = known
    if (finalAt && finalAt >= range.to) return []
    return [`chain ${chainId} is final ${finalAt ? `up to ${formatTs(finalAt)}` : 'nowhere yet'}`]
  })
  const addressOf = new Map(rows.map(({ vaultId, vaultAddress }) => [vaultId, vaultAddress]))
  const open = await listOutstanding(db, { vaultIds: [...addressOf.keys()], ...range })
  const outstanding = open
    .filter(({ kind }) => findVaultKind(kind)?.readFigures !== undefined)
    .map(({ vaultId }) => `snapshots of vault ${addressOf.get(vaultId)} are still to be read`)
  const awaited = rows
    .filter(({ isAwaited }) => isAwaited)
    .map(({ vaultAddress }) => `share prices of vault ${vaultAddress} are still to be read where it minted shares`)
  return [...early, ...outstanding, ...awaited]
}

type Range = { from: Date; to: Date }

async function collectFacts(
  { db }: Ctx,
  ask: StatementAsk & { range: Range },
  rows: readonly DistributorReportRow[],
): Promise<StatementFacts | { problems: string[] }> {
  const { distributorId, month, range } = ask
  const reasons = await listDeposited(db, { vaultIds: rows.map(({ vaultId }) => vaultId), ...range })
  const vaults: StatementFacts['vaults'][number][] = []
  for (const row of rows) {
    const { attributed, unattributed, drift, supply } = row.coverage
    vaults.push({
      ...{ chainId: row.chainId, vault: row.vaultAddress, opportunityId: row.opportunityId, usdDays: row.usdDays },
      ...{ unpricedSeconds: row.unpricedMs / 1_000, unguardedSeconds: row.unguardedMs / 1_000, staged: row.staged },
      coverage: {
        ...{ attributed: String(attributed), unattributed: String(unattributed), drift: String(drift) },
        supply: supply === null ? null : String(supply),
        deposited: toDeposited(reasons.get(row.vaultId) ?? []),
      },
      inputs: await hashInputs(db, { vaultId: row.vaultId, distributorId, ...range }),
    })
  }
  const rules = await listRules(db, range.to)
  const sum = vaults.reduce((all, { usdDays }) => all + parseDecimal(usdDays, usdDecimals), 0n)
  const usdDays = formatUnits(sum, usdDecimals)
  const rate = await countOwed({ db }, ask, usdDays)
  if (rate && 'problems' in rate) return rate
  return {
    ...{ distributorId, month, from: formatTs(range.from), to: formatTs(range.to) },
    rulesVersion: rules.findLast(({ from }) => from <= range.from)?.version ?? 1,
    rules: rules.map(({ version, from }) => ({ version, from: formatTs(from) })),
    chains: await listCountedBlocks(db, rows, range),
    ...{ vaults, usdDays, rate },
  }
}

/** The block of each chain up to which a month is counted: of one that is not confirmed to its end, the newest confirmed one. */
async function listCountedBlocks(
  db: Ctx['db'],
  rows: readonly DistributorReportRow[],
  { to }: Range,
): Promise<StatementFacts['chains']> {
  const reach = await listCountedReach(db, [...new Set(rows.map(({ chainId }) => chainId))])
  const vaultIds = rows.map(({ vaultId }) => vaultId)
  const chains: StatementFacts['chains'][number][] = []
  for (const { chainId, ...last } of await listLastBlocks(db, vaultIds, to)) {
    const known = reach.get(chainId)
    const isWhole = known?.confirmedAt && known.confirmedAt >= to
    const [newest] = isWhole || !known ? [] : await listHeadersDown(db, chainId, known.confirmed, 1)
    const block = newest ? { blockNumber: newest.number, blockHash: newest.hash } : last
    chains.push({ chainId, ...block, to: formatTs(isWhole ? to : (known?.confirmedAt ?? to)) })
  }
  return chains
}

async function countOwed(
  { db }: Pick<Ctx, 'db'>,
  { rateBps, token, range }: StatementAsk & { range: Range },
  usdDays: string,
): Promise<StatementRate | null | { problems: string[] }> {
  if (rateBps === undefined) return null
  const owedUsd = computeOwed(usdDays, rateBps)
  if (!token) return { bps: rateBps, owedUsd, token: null }
  const known = await listTokenDecimals(db)
  const decimals = known.find(
    ({ chainId, address }) => chainId === token.chainId && address === token.address,
  )?.decimals
  const at = toUnixSeconds(range.to)
  const [price] = await listPriceSteps(db, token, { from: at, to: at })
  if (decimals === undefined) return { problems: [`token ${token.chainId}:${token.address} is in no catalogue`] }
  if (!price || parseDecimal(price.priceUsd, usdDecimals) === 0n)
    return { problems: [`token ${token.chainId}:${token.address} has no price at the end of the month`] }
  const { priceUsd, observationId: priceObservationId } = price
  const owed = computeTokens(owedUsd, { decimals, priceUsd })
  return { bps: rateBps, owedUsd, token: { ...token, priceUsd, priceObservationId, owed } }
}
