import { daySeconds } from '../../kernel/clock.js'
import { inTransaction } from '../../postgres/pool.js'
import type { Chain, ChainContext } from '../../rpc/chains.js'
import { multicallMany } from '../../rpc/manyReads.js'
import { type Cursor, findCursor, lockCursor } from '../../sync/storeCursors.js'
import { findBlockHash, listStoredLogs } from '../../sync/storeRaw.js'
import { decodeHolderEvent, holderTopics, readKept } from '../../vaults/holders/index.js'
import { judgeViews, sumEvents } from './judgeViews.js'
import {
  believeDoubt,
  type Doubt,
  type HolderOf,
  type KeptSample,
  listWaiting,
  readKeptAt,
  recordDoubt,
  removeDoubt,
  sampleAccounts,
} from './storeDoubts.js'

export type ViewSettings = {
  /** Each url of a chain as a chain of its own, by a name. */
  nodesOf(chain: Chain): ReadonlyMap<string, Chain>
}

/** Accounts of a holder that are asked about in one look. */
const sampleCount = 50
/** A doubt that could not be settled within this time is dropped, and the holder looked at anew. */
const patienceMs = daySeconds * 1_000

/** A look at one chain. */
type Look = { ctx: ChainContext; chain: Chain; cursor: Cursor; nodes: ReadonlyMap<string, Chain> }

/**
 * Compares what declared holders tell of their accounts with what their events come to. A view that contradicts them is noted as
 * a doubt; it is believed, and the holder is broken, once the logs up to its block were looked at twice and two readings agree: of
 * two urls, or where a chain has only one, a later one too.
 */
export async function watchHolders(ctx: ChainContext, { nodesOf }: ViewSettings): Promise<void> {
  for (const chain of ctx.chains.values()) {
    const cursor = await findCursor(ctx.db, chain.chainId)
    if (!cursor || cursor.blockHash === '') continue
    const look: Look = { ctx, chain, cursor, nodes: nodesOf(chain) }
    try {
      for (const doubt of await listWaiting(ctx.db, chain.chainId)) await settle(look, doubt)
      await lookAround(look)
    } catch (error) {
      ctx.log.warn({ err: error, chainId: chain.chainId }, 'the views of the holders of a chain could not be read')
    }
  }
}

async function lookAround({ ctx, chain, nodes }: Look): Promise<void> {
  const { db, clock, log } = ctx
  const { chainId } = chain
  const sample = await sampleAccounts(db, chainId, sampleCount)
  if (!sample) return
  const { number: blockNumber, hash: blockHash } = sample.block
  const told = await readViews(chain, sample.accounts, blockHash)
  const doubted = new Set<string>()
  for (const [index, account] of sample.accounts.entries()) {
    const { vaultId, holder, wallet, shares } = account
    const key = `${vaultId} ${holder.address}`
    if (told[index] === undefined || told[index] === shares || doubted.has(key)) continue
    const all = nodes.size < 2 ? [told[index]] : await readEach(nodes, account, blockHash)
    const found = judgeViews(shares, all)
    const place = { chainId, holder: holder.address, wallet, blockNumber, derived: shares, said: all.map(String) }
    if (!found) log.warn(place, 'the nodes of a chain do not agree on the view of a holder')
    // Its own events say so too: a Transfer is lacking to one, which counts for nothing and is counted.
    if (!found || found.said === (await countEvents(db, { ...account, chainId, blockNumber }))) continue
    doubted.add(key)
    const of = { chainId, vaultId, holder: holder.address, wallet, blockNumber, blockHash }
    await recordDoubt(db, { ...of, ...found, readAt: clock.now() })
    log.warn(place, 'the view of a holder contradicts its events: it is looked at again')
  }
}

/** The shares that holders tell for accounts at a block; undefined where one does not answer. */
async function readViews(
  chain: Chain,
  accounts: readonly Pick<KeptSample['accounts'][number], 'holder' | 'wallet'>[],
  blockHash: string,
): Promise<(bigint | undefined)[]> {
  const reads = accounts.map(({ holder, wallet }) => readKept(holder, wallet))
  const { answers } = await multicallMany(chain, reads, { blockHash })
  return answers.map((each) => each?.answer)
}

/** The same of one account by each url; undefined of a node that cannot tell. */
function readEach(
  nodes: ReadonlyMap<string, Chain>,
  account: Pick<KeptSample['accounts'][number], 'holder' | 'wallet'>,
  blockHash: string,
): Promise<(bigint | undefined)[]> {
  return Promise.all(
    [...nodes.values()].map(async (node) => {
      try {
        const [said] = await readViews(node, [account], blockHash)
        return said
      } catch {
        return undefined
      }
    }),
  )
}

type AccountAt = HolderOf & { chainId: number; wallet: string; blockNumber: number }

/** The sum of a holder's stored events for an account at the end of a block. */
async function countEvents(
  db: ChainContext['db'],
  { chainId, holder, wallet, blockNumber }: AccountAt,
): Promise<bigint> {
  const logs = await listStoredLogs(db, {
    ...{ chainId, from: 0, to: blockNumber, addresses: [holder.address], topics: holderTopics(holder.kind) },
    about: [`0x${wallet.slice(2).padStart(64, '0')}`],
  })
  const events = logs.flatMap((log) => decodeHolderEvent(log, { ...holder, from: 0 }) ?? [])
  return sumEvents(events, wallet)
}

/** Believes a doubt, drops it, or leaves it for later. */
async function settle({ ctx, chain, cursor, nodes }: Look, doubt: Doubt & { of: HolderOf }): Promise<void> {
  const { db, clock } = ctx
  const { chainId, wallet, blockNumber, said, urls, readAt, of } = doubt
  const age = clock.now().getTime() - readAt.getTime()
  const contradicts = async (told: bigint, at: number): Promise<boolean> => {
    if (told === (await readKeptAt(db, { ...doubt, blockNumber: at }))) return false
    return told !== (await countEvents(db, { ...of, chainId, wallet, blockNumber: at }))
  }
  const [isAlone, isGone] = [urls < 2, of.holder.kind === '']
  if (isGone || age > patienceMs || (isAlone && nodes.size > 1) || !(await contradicts(said, blockNumber))) {
    await removeDoubt(db, doubt)
    return
  }
  // An event that a node left out is found by the second look.
  if (cursor.checkedTo < blockNumber) return
  if (isAlone) {
    if (cursor.blockNumber <= blockNumber || age < chain.reorgRecheckSeconds * 1_000) return
    const [again] = await readViews(chain, [{ ...of, wallet }], cursor.blockHash)
    if (again === undefined) return
    if (!(await contradicts(again, cursor.blockNumber))) {
      await removeDoubt(db, doubt)
      return
    }
  }
  await believe(ctx, doubt)
}

/** Breaks the holder from the vault's next transaction on: nothing that is derived already changes. */
async function believe({ db, log }: ChainContext, { of, ...doubt }: Doubt & { of: HolderOf }): Promise<void> {
  const { chainId, blockNumber, blockHash, holder, wallet, said } = doubt
  const isBelieved = await inTransaction(db, async (tx) => {
    const cursor = await lockCursor(tx, chainId)
    if (!cursor?.blockTimestamp || cursor.blockNumber < blockNumber) return false
    if (((await findBlockHash(tx, chainId, blockNumber)) ?? blockHash) !== blockHash) return false
    return believeDoubt(tx, doubt, cursor.blockTimestamp)
  })
  if (isBelieved)
    log.error(
      { chainId, vault: of.vaultAddress, holder, wallet, blockNumber, said },
      'the view of a holder contradicts its events: it is not looked through any more',
    )
}
