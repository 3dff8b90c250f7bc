import type { Transaction } from '../../postgres/pool.js'
import { findBlockHash } from '../../sync/storeRaw.js'
import { listActionTransactions } from '../ledger/index.js'
import { type ActionRow, recordActionLook } from '../plans/index.js'
import { type CarrierState, decideActionStatus, decideTransactionState } from './actionStatus.js'
import { type Carrier, isSameSighting, readCarrier, toSighting } from './carriers.js'
import { type Depth, openDepth } from './depth.js'
import { lookThrough } from './lookThrough.js'
import type { ActionBody, ShownTransaction } from './schema.js'
import { type ActionSighting, listSightings, recordSighting } from './storeSightings.js'
import { type AttributionContext, type JudgeContext, orUndefined } from './transaction.js'

type LookUpContext = AttributionContext & JudgeContext

/** Where an action stands, the transactions that carry it, oldest block first, and what is to be kept of what was read. */
export type Standing = {
  status: ActionBody['status']
  transactions: ShownTransaction[]
  write?: (tx: Transaction) => Promise<void>
}

/** A transaction of an action, and what is to be kept of it. */
type Place = CarrierState & { hash: string; blockNumber: number | null; keep?: ActionSighting }

/** Transactions of an action whose present state is asked for at most; a wallet may send the same calldata any number of times. */
const asksMax = 20

/**
 * The one place that says what became of an action, whichever operation is asked. It goes by what the watcher derived and
 * by what others found; what is in no block of ours a node is asked for. `found` are transactions the caller has just read.
 * Where nothing is known that succeeded or waits once its time is over, it looks itself.
 */
export async function findStanding(
  ctx: LookUpContext,
  action: ActionRow,
  found: readonly Carrier[] = [],
): Promise<Standing> {
  const depth = await openDepth(ctx, action.chainId)
  const known = await listPlaces(ctx, action, { found, depth })
  // If one reverted, another may have been sent that nobody reported.
  const isOpen = known.every(({ state }) => state === 'reverted') && ctx.clock.now() > action.validUntil
  const look = isOpen ? await lookThrough(ctx, action, depth) : undefined
  const news = (look?.found ?? []).filter(({ transaction }) => !known.some(({ hash }) => hash === transaction.hash))
  const seen = await Promise.all(news.map((carrier) => toPlace(ctx, action, carrier, depth)))
  const places = [...known, ...seen]
  const kept = places.flatMap(({ keep }) => keep ?? [])
  const lookedTo = look?.looked
  const write = async (tx: Transaction) => {
    for (const sighting of kept) await recordSighting(tx, sighting)
    if (lookedTo) await recordActionLook(tx, { actionId: action.id, ...lookedTo })
  }
  return {
    status: decideActionStatus(places, { isLookedThrough: look !== undefined }),
    transactions: places
      .sort((a, b) => (a.blockNumber ?? Number.POSITIVE_INFINITY) - (b.blockNumber ?? Number.POSITIVE_INFINITY))
      .map(({ hash, blockNumber, state }) => ({ txHash: hash, blockNumber, state })),
    ...(kept.length > 0 || lookedTo ? { write } : {}),
  }
}

/** Where one transaction that was just read stands, and what is to be kept of it. */
export async function findCarrierState(
  ctx: LookUpContext,
  action: ActionRow,
  carrier: Carrier,
): Promise<Pick<CarrierState, 'state'> & Pick<Standing, 'write'>> {
  const [depth, sightings] = await Promise.all([openDepth(ctx, action.chainId), listSightings(ctx.db, action.id)])
  const kept = sightings.find(({ transactionHash }) => transactionHash === carrier.transaction.hash)
  const { state, keep } = await toPlace(ctx, action, carrier, depth, kept)
  return { state, ...(keep ? { write: (tx: Transaction) => recordSighting(tx, keep) } : {}) }
}

/** Each transaction known to carry the action, once; without those that no node knows any more. */
async function listPlaces(
  ctx: LookUpContext,
  action: ActionRow,
  { found, depth }: { found: readonly Carrier[]; depth: Depth },
): Promise<Place[]> {
  const [watched, sightings] = await Promise.all([
    listActionTransactions(ctx.db, action),
    listSightings(ctx.db, action.id),
  ])
  const places = new Map<string, Place>()
  for (const { transactionHash: hash, blockNumber, retracted } of watched) {
    if (retracted) continue
    const state = decideTransactionState({ success: true }, await depth.isConfirmed(blockNumber))
    places.set(hash, { hash, blockNumber, state, isMain: true })
  }
  const kept = new Map(sightings.map((sighting) => [sighting.transactionHash, sighting]))
  for (const carrier of found) {
    const { hash } = carrier.transaction
    if (!places.has(hash)) places.set(hash, await toPlace(ctx, action, carrier, depth, kept.get(hash)))
  }
  const open = [...new Set([...watched.map(({ transactionHash }) => transactionHash), ...kept.keys()])]
    .filter((hash) => !places.has(hash))
    .slice(-asksMax)
  const asked = await Promise.all(open.map((hash) => findPlace(ctx, action, { hash, kept: kept.get(hash), depth })))
  return [...places.values(), ...asked.filter((place) => place !== undefined)]
}

/**
 * Where a transaction stands that was found before: in a block that is ours still, or by the present word of a node. One
 * that no node knows is undefined; while nobody can be asked, it stands where it stood, and what was taken back waits.
 */
async function findPlace(
  ctx: LookUpContext,
  action: ActionRow,
  { hash, kept, depth }: { hash: string; kept: ActionSighting | undefined; depth: Depth },
): Promise<Place | undefined> {
  if (kept && (kept.isFinal || (await isOurs(ctx, kept)))) {
    const isFinal = kept.blockNumber !== null && kept.blockNumber <= depth.finalTo
    return { ...(await placeOf(kept, depth)), ...(isFinal && !kept.isFinal ? { keep: { ...kept, isFinal } } : {}) }
  }
  const read = await orUndefined(async () => ({ carrier: await readCarrier(ctx, action, hash) }))
  if (read) return read.carrier && toPlace(ctx, action, read.carrier, depth, kept)
  return kept ? placeOf(kept, depth) : { hash, blockNumber: null, state: 'pending', isMain: true }
}

/** Whether its block is one that is kept of the chain. */
async function isOurs(ctx: LookUpContext, { chainId, blockNumber, blockHash }: ActionSighting): Promise<boolean> {
  return blockNumber !== null && (await findBlockHash(ctx.db, chainId, blockNumber)) === blockHash
}

async function placeOf(
  { transactionHash: hash, blockNumber, success, isMain }: ActionSighting,
  depth: Depth,
): Promise<Place> {
  if (blockNumber === null || success === null) return { hash, blockNumber: null, state: 'pending', isMain }
  const state = decideTransactionState({ success }, success && (await depth.isConfirmed(blockNumber)))
  return { hash, blockNumber, state, isMain }
}

/** Where a transaction stands that was just read; it is kept where that is news. */
async function toPlace(
  ctx: LookUpContext,
  action: ActionRow,
  carrier: Carrier,
  depth: Depth,
  kept?: ActionSighting,
): Promise<Place> {
  const sighting = toSighting(action, carrier, { finalTo: depth.finalTo, at: ctx.clock.now() })
  const isNews = !kept || !isSameSighting(kept, sighting)
  return { ...(await placeOf(sighting, depth)), ...(isNews ? { keep: sighting } : {}) }
}
