import { uuidOf } from './bytes.js'
import { type Attribution, type Decision, weaker } from './deciding.js'
import type { Told } from './types.js'

/** A line of the ledger, with every member the product writes. */
export type Entry = {
  id: string
  vaultId: number
  kind: 'deposit' | 'withdraw'
  blockNumber: number
  blockHash: string
  timestamp: number
  transactionHash: string
  transactionIndex: number
  logIndex: number
  wallet: string
  distributorId: string
  attribution: Attribution
  assets: bigint
  shares: bigint
  isSwap: boolean
}
export type Place = Pick<Entry, 'blockNumber' | 'blockHash' | 'timestamp' | 'transactionHash' | 'transactionIndex'>

/** A part of an event: one distributor and one wallet. `ofRequest`: of a request that the event claims. */
export type EntryPart = Decision & { wallet: string; assets: bigint; shares: bigint; ofRequest?: boolean }

/** SEMANTICS §1 and §3: one entry for an event, a distributor and a wallet; mixed parts show the weakest. */
export function makeEntries(
  event: Extract<Told, { kind: 'deposit' | 'withdraw' }>,
  parts: readonly EntryPart[],
  place: Place,
  chainId: number,
): Entry[] {
  const entries: Entry[] = []
  if (event.ofOtherToken) return entries
  for (const { wallet, distributorId, attribution, assets, shares, isSwap, ofRequest } of parts) {
    if (shares === 0n) continue
    const known = entries.find((each) => each.wallet === wallet && each.distributorId === distributorId)
    if (known) {
      known.assets += assets
      known.shares += shares
      known.attribution = weaker(known.attribution, attribution)
      known.isSwap ||= isSwap
      continue
    }
    const own = wallet === event.owner
    // An event that can name but one distributor needs none in its name.
    const more = own ? (ofRequest ? [distributorId] : []) : [distributorId, wallet]
    const id = uuidOf([chainId, place.blockHash, place.transactionHash, event.logIndex, ...more].join(':'))
    const { vaultId, kind, logIndex } = event
    entries.push({ id, vaultId, kind, ...place, logIndex, wallet, distributorId, attribution, assets, shares, isSwap })
  }
  return entries
}
