/** The amount that a claim took from one request, and the data of its event, if the log is stored. */
export type Claim = { blockNumber: number; logIndex: number; taken: string; data: string | null }

type Claimed = { id: string; chainId: number; kind: 'deposit' | 'redeem'; claims: readonly Claim[] }

/**
 * The received amounts by request: shares for deposits, assets for redemptions. The payment of one claim is divided among the
 * requests it took from, in their order, without a remainder. A request without claims, or with a claim whose event is
 * unknown, has no received amount. Pure.
 */
export function computeReceived(requests: readonly Claimed[]): ReadonlyMap<string, bigint> {
  const received = new Map<string, bigint>()
  /** The part of a claim that is divided already. */
  const divided = new Map<string, bigint>()
  for (const { id, chainId, kind, claims } of requests) {
    let sum: bigint | undefined = claims.length > 0 ? 0n : undefined
    for (const { blockNumber, logIndex, taken, data } of claims) {
      const event = readEvent(data)
      const [paid, given] = kind === 'deposit' ? [event?.assets, event?.shares] : [event?.shares, event?.assets]
      if (paid === undefined || given === undefined || paid === 0n) {
        sum = undefined
        break
      }
      const place = `${chainId}:${blockNumber}:${logIndex}`
      const before = divided.get(place) ?? 0n
      const after = before + BigInt(taken)
      divided.set(place, after)
      sum = (sum ?? 0n) + (given * after) / paid - (given * before) / paid
    }
    if (sum !== undefined) received.set(id, sum)
  }
  return received
}

/** The amounts of an ERC-4626 Deposit or Withdraw; undefined where the log is not kept or has another shape. */
function readEvent(data: string | null): { assets: bigint; shares: bigint } | undefined {
  if (data === null || data.length !== 2 + 2 * 64) return undefined
  return { assets: BigInt(data.slice(0, 66)), shares: BigInt(`0x${data.slice(66)}`) }
}
