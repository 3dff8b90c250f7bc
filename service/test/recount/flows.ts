import type { Credit } from './credit.js'
import type { EntryPart } from './entries.js'
import type { Told } from './types.js'

export type Lot = { wallet: string; distributorId: string; shares: bigint }
type Deposit = Extract<Told, { kind: 'deposit' }>
type Withdraw = Extract<Told, { kind: 'withdraw' }>

/** SEMANTICS §3: a deposit's parts, one for each wallet that keeps its marks. */
export function depositParts(
  event: Deposit,
  { kept, decisions }: Credit,
  minted: bigint,
): { parts: EntryPart[]; lots: Lot[] } {
  const shares = [...kept].map(([wallet, amount]) => ({ wallet, amount, assets: (event.assets * amount) / minted }))
  const all = shares.reduce((sum, { amount }) => sum + amount, 0n)
  if (shares.length > 0 && all === minted) {
    const given = shares.reduce((sum, { assets }) => sum + assets, 0n)
    const [largest] = shares.toSorted((a, b) =>
      a.amount !== b.amount ? (a.amount > b.amount ? -1 : 1) : a.wallet < b.wallet ? -1 : 1,
    )
    largest!.assets += event.assets - given
  }
  const parts = shares.flatMap(({ wallet, amount, assets }) => {
    const decision = decisions.get(wallet)
    return decision ? [{ ...decision, wallet, shares: amount, assets }] : []
  })
  return { parts, lots: parts.map(({ wallet, distributorId, shares: of }) => ({ wallet, distributorId, shares: of })) }
}

/** A withdrawal's parts: the old shares each wallet lost in it, of all it burned. */
export function withdrawParts(
  _event: Withdraw,
  { kept, decisions }: Credit,
  burned: bigint,
  assets: bigint,
): EntryPart[] {
  return [...kept].flatMap(([wallet, amount]) => {
    const decision = decisions.get(wallet)
    return decision ? [{ ...decision, wallet, shares: amount, assets: (assets * amount) / burned }] : []
  })
}
