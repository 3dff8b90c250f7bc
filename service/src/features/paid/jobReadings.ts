import { listReadBlocks } from '../../derive/paidPrice.js'
import { EarnError } from '../../kernel/errors.js'
import { groupBy } from '../../kernel/groups.js'
import { inTransaction } from '../../postgres/pool.js'
import type { Chain, ChainContext } from '../../rpc/chains.js'
import { RpcError } from '../../rpc/rpc.js'
import { readFigures } from '../../vaults/index.js'
import {
  type DueReading,
  type DueVault,
  listDueReadings,
  listDueVaults,
  listOtherwiseMints,
  listUnread,
  type NewReading,
  type OtherwiseMint,
  recordChecked,
  recordFailed,
  recordReadings,
  recordWanted,
  type WantedReading,
} from './storeReadings.js'

/** How long one run goes on, so that a service that stops does not wait for it. */
const runMs = 3_000
const vaultsAtOnce = 50
const readingsAtOnce = 200
/** Blocks that could not be read are tried again after this long: a node may become an archive. */
const retryMs = 3_600_000
/** All mints are looked at again after this long: a snapshot of the past may have come between them. */
const wholeMs = 24 * 3_600_000

/**
 * Reads the share price of vaults at blocks in which shares were minted that name no price, for a moment; the next run goes on
 * where this one ended. A block that a node cannot read stays noted with the reason, and is tried again.
 */
export async function runShareReadings(ctx: ChainContext, options: { runMs?: number } = {}): Promise<void> {
  const endMs = ctx.clock.monotonicMs() + (options.runMs ?? runMs)
  await Promise.all(
    [...ctx.chains.values()].map(async (chain) => {
      try {
        while ((await noteBlocks(ctx, chain)) && ctx.clock.monotonicMs() < endMs);
        while ((await readBlocks(ctx, chain)) && ctx.clock.monotonicMs() < endMs);
      } catch (error) {
        ctx.log.warn({ err: error, chainId: chain.chainId }, 'share prices could not be read where shares were minted')
      }
    }),
  )
}

/** Notes which blocks are to be read; false once all mints are looked at. */
async function noteBlocks({ db, clock }: ChainContext, { chainId }: Chain): Promise<boolean> {
  const now = clock.now()
  const due = await listDueVaults(db, {
    ...{ chainId, wholeBefore: new Date(now.getTime() - wholeMs), limit: vaultsAtOnce },
  })
  if (due.length === 0) return false
  const mints = await listOtherwiseMints(db, due)
  const wanted = await listUnread(db, listWanted(mints))
  await inTransaction(db, async (tx) => {
    await recordWanted(tx, wanted)
    await recordChecked(tx, findChecked(due, mints), now)
  })
  return due.length === vaultsAtOnce
}

/** The blocks to read among mints in the order of the chain, each with the snapshot before it. Pure. */
export function listWanted(mints: readonly OtherwiseMint[]): WantedReading[] {
  // The price of a snapshot holds after all that its block minted.
  const later = mints.filter(({ blockNumber, since }) => blockNumber > since)
  const stretches = groupBy(later, ({ vaultId, since }) => `${vaultId} ${since}`)
  return [...stretches.values()].flatMap((own) => {
    const [first] = own
    if (!first || first.since < 0) return []
    const blocks = new Set(listReadBlocks({ totalSupply: BigInt(first.supply) }, own.map(toMint)))
    return own
      .filter(({ blockNumber }) => blocks.has(blockNumber))
      .map(({ vaultId, blockNumber, blockHash, at }) => ({ vaultId, blockNumber, blockHash, at }))
  })
}

const toMint = ({ at, blockNumber, shares }: OtherwiseMint) => ({
  ...{ atMs: at.getTime(), blockNumber, logIndex: 0, shares: BigInt(shares) },
})

function findChecked(due: readonly DueVault[], mints: readonly OtherwiseMint[]) {
  const newest = new Map(mints.map((mint) => [mint.vaultId, mint]))
  return due.flatMap(({ vaultId, isWhole }) => {
    const mint = newest.get(vaultId)
    return mint ? [{ vaultId, to: mint.blockNumber, at: mint.at, since: mint.since, isWhole }] : []
  })
}

/** Reads some of the blocks that are noted; false once none can be read now. */
async function readBlocks(ctx: ChainContext, chain: Chain): Promise<boolean> {
  const { db, clock } = ctx
  const triedBefore = new Date(clock.now().getTime() - retryMs)
  const due = await listDueReadings(db, { chainId: chain.chainId, triedBefore, limit: readingsAtOnce })
  for (const own of groupBy(due, ({ blockHash }) => blockHash).values()) await readBlock(ctx, chain, own)
  return due.length === readingsAtOnce
}

/** Reads vaults at one block, by its hash. */
async function readBlock({ db, clock }: ChainContext, chain: Chain, due: readonly DueReading[]): Promise<void> {
  const [first] = due
  if (!first) return
  const now = clock.now()
  try {
    const vaults = due.map(({ vault }) => vault)
    const { figures } = await readFigures(chain, vaults, first.blockHash)
    const readings = due.flatMap((each, index): NewReading[] => {
      const found = figures[index]?.figures
      return found ? [{ ...each, numerator: found.priceNumerator, exponent: found.priceExponent }] : []
    })
    const silent = due.filter((_, index) => !figures[index]?.figures)
    await inTransaction(db, async (tx) => {
      await recordReadings(tx, readings)
      await recordFailed(tx, silent, { reason: 'the vault does not tell its share price at the block', now })
    })
  } catch (error) {
    const refused = error instanceof EarnError && error.cause instanceof RpcError ? error.cause : undefined
    if (!refused) throw error
    await recordFailed(db, due, { reason: `the node does not answer for the block: ${refused.message}`, now })
  }
}
