import { type Attribution, attribute } from '@openearn/attribution'
import type { Address } from 'viem'
import { openFastRecover } from '../../derive/fastRecover.js'
import { fromUnixSeconds } from '../../kernel/clock.js'
import { readBlock } from '../../rpc/blocks.js'
import type { RawLog } from '../../rpc/raw.js'
import type { ChainTransaction } from '../../rpc/transaction.js'
import { findCursor } from '../../sync/storeCursors.js'
import { decodeVaultEvent, type EmittingVault, findVaultKind } from '../../vaults/index.js'
import { findDistributor, findVault, type VaultRecord } from '../catalogue/index.js'
import { listInteractionsByTx, listTransactionAttributions } from '../ledger/index.js'
import { type Claim, findClaim } from './claim.js'
import { decodeEvents } from './decodeEvents.js'
import {
  type ExplainedEvent,
  type Explanation,
  type ExplanationFacts,
  explainAttribution,
  explainEvents,
  type ToldEvent,
} from './explanation.js'
import { listStatements } from './statements.js'
import {
  type AttributionContext,
  findTransaction,
  getSupportedChain,
  hasDistributor,
  listOperations,
  listWhatCounts,
} from './transaction.js'

/** Explains why a transaction was, or was not, credited to a distributor, from the chain and our own tables. */
export async function checkAttribution(
  ctx: AttributionContext,
  input: { txHash: string; chainId: number },
): Promise<Explanation> {
  return explainAttribution(await collectFacts(ctx, input))
}

/** Explains of each vault event of a transaction who it is credited to, or which rule left it out. `lines` are of the transaction. */
export async function explainMissing(
  ctx: AttributionContext,
  input: { txHash: string; chainId: number },
): Promise<Explanation & { events: ExplainedEvent[] }> {
  const facts = await collectFacts(ctx, input)
  return { ...explainAttribution(facts), events: explainEvents(facts) }
}

async function collectFacts(
  ctx: AttributionContext,
  input: { txHash: string; chainId: number },
): Promise<ExplanationFacts> {
  const { chainId, txHash } = { chainId: input.chainId, txHash: input.txHash.toLowerCase() }
  const chain = getSupportedChain(ctx, chainId)
  const transaction = await findTransaction(ctx, txHash, chainId)
  const attribution = transaction && (await judgeHere(ctx, transaction))
  const claim = attribution && findClaim(listStatements(attribution), (code) => hasDistributor(ctx, code))
  const [entries, watched, cursor] = await Promise.all([
    listInteractionsByTx(ctx.db, txHash, chainId),
    listTransactionAttributions(ctx.db, txHash, chainId),
    findCursor(ctx.db, chainId),
  ])
  return {
    chainName: chain.name,
    found: transaction !== undefined,
    mined: transaction?.mined,
    vaultEvents: listVaultEvents(ctx, transaction),
    events: listToldEvents(ctx, transaction),
    attribution,
    claim,
    distributor: findClaimed(ctx, claim),
    blockAt: await findBlockTime(ctx, chainId, transaction, watched[0]?.timestamp),
    entries,
    watched,
    confirmations: chain.confirmations,
    headNumber: cursor?.headNumber,
  }
}

/** An operator asks for one transaction, in a process that does nothing else. */
async function judgeHere(ctx: AttributionContext, transaction: ChainTransaction): Promise<Attribution> {
  const { signers, entryPoints } = await listWhatCounts(ctx, transaction.chainId)
  const { chainId, from, to, input } = transaction
  return attribute({
    chainId,
    from: from as Address,
    to: to as Address | null,
    operations: listOperations(transaction),
    input,
    signers: signers.map((address) => ({ address })),
    entryPoints,
    recover: openFastRecover(),
  })
}

function findClaimed(ctx: AttributionContext, claim: Claim | undefined) {
  return claim && findDistributor(ctx.catalogue.current(), claim.code)
}

/** Events of a catalogue vault, except transfers and approvals of its shares. */
function listVaultEvents(ctx: AttributionContext, transaction: ChainTransaction | undefined): string[] {
  const snapshot = ctx.catalogue.current()
  const logs: readonly RawLog[] = transaction?.mined?.logs ?? []
  const own = logs.filter((log) => findVault(snapshot, transaction?.chainId ?? 0, log.address) !== undefined)
  return decodeEvents(own)
    .map(({ name }) => name)
    .filter((name) => name !== 'Transfer' && name !== 'Approval')
}

/** Events of catalogue vaults and their further contracts that deposit, withdraw, or ask for it. */
function listToldEvents(ctx: AttributionContext, transaction: ChainTransaction | undefined): ToldEvent[] {
  const snapshot = ctx.catalogue.current()
  const logs: readonly RawLog[] = transaction?.mined?.logs ?? []
  const vaults = [...snapshot.vaults.values()].filter(({ chainId }) => chainId === transaction?.chainId)
  return vaults
    .flatMap((vault): ToldEvent[] => {
      const kind = findVaultKind(vault.kind)
      return logs.flatMap((log): ToldEvent[] => {
        const event = decodeVaultEvent(log, toEmitting(vault), logs)
        if (!event) return []
        const isAsync = event.kind === 'deposit' ? kind?.asyncDeposit : kind?.asyncRedeem
        const isSettled = event.kind === 'deposit' || event.kind === 'withdraw'
        return [
          {
            ...{ logIndex: event.logIndex, vault: vault.address, kind: event.kind },
            isClaim: isSettled && isAsync === true && event.atOnce !== true,
            isOtherToken: isSettled && event.isOtherToken === true,
          },
        ]
      })
    })
    .sort((one, other) => one.logIndex - other.logIndex)
}

/** A vault as its logs are read: what it holds by address is lower-case. */
function toEmitting({ address, kind, asset, receiptToken, contracts }: VaultRecord): EmittingVault {
  const lower = (text: string) => text.toLowerCase()
  const beside = Object.entries(contracts).map(([name, each]) => [name, lower(each)])
  return {
    kind,
    ...{ address: lower(address), asset: lower(asset), receiptToken: lower(receiptToken) },
    contracts: Object.fromEntries(beside),
  }
}

async function findBlockTime(
  ctx: AttributionContext,
  chainId: number,
  transaction: ChainTransaction | undefined,
  watchedAt: Date | undefined,
): Promise<Date | undefined> {
  const chain = ctx.chains.get(chainId)
  if (watchedAt || !chain || !transaction?.mined) return watchedAt
  const { timestamp } = await readBlock(chain, transaction.mined.blockNumber)
  return fromUnixSeconds(timestamp)
}
