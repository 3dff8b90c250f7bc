/** An order and its state, by the events of its settlement contract. Pure. */

export type OrderVenue = 'local' | 'cow'

export type OrderStatus = 'built' | 'open' | 'partially-filled' | 'filled' | 'cancelled' | 'expired' | 'failed'

/** How an order was signed: by the key of its owner, or as its owner's contract takes it (ERC-1271). */
export type OrderScheme = 'eip712' | 'eip1271'

export type OrderSubmission = { signature: string; scheme: OrderScheme; venue: OrderVenue; submittedAt: Date }

/** A sell order of a settlement contract. Addresses, the uid and hashes are lower-case. */
export type Order = {
  id: string
  organizationId: string
  distributorId: string
  opportunityId: string | null
  chainId: number
  settlement: string
  /** Who takes the token that is sold. */
  relayer: string
  /** 56 bytes: digest, owner, expiry. */
  uid: string
  /** It signs, and it gets what is bought. */
  owner: string
  tokenIn: string
  tokenOut: string
  amountIn: bigint
  minAmountOut: bigint
  partiallyFillable: boolean
  /** The text whose hash is signed. */
  appData: string
  appDataHash: string
  /** A whole second; the last one it may be filled in. */
  expiresAt: Date
  createdAt: Date
  /** Absent: it is built and nothing more. */
  submission: OrderSubmission | undefined
  /** When we stopped to look at it, and why. */
  failedAt: Date | null
  failure: string | null
}

/** An order that its owner has signed. */
export type SubmittedOrder = Omit<Order, 'submission'> & { submission: OrderSubmission }

/** An event of a settlement contract about an order. */
export type OrderEvent = {
  blockNumber: number
  /** Unix seconds. */
  timestamp: number
  kind: 'trade' | 'invalidated'
  transactionHash: string
  amountIn: bigint
  amountOut: bigint
}

/** The last block of a chain that is confirmed, and its time; null: no block is confirmed. */
export type Confirmed = { blockNumber: number; at: Date } | null

export type OrderState = {
  status: OrderStatus
  filledIn: bigint
  filledOut: bigint
  /** Of the trades, and of the cancellation that counts, in the order of the chain. */
  transactionHashes: readonly string[]
  /** Nothing but a reorganisation below what is confirmed changes it. */
  isTerminal: boolean
  /** Why it failed. */
  error: string | null
  updatedAt: Date
}

/**
 * The state of an order, by its events in the order of the chain. After the whole is filled, a trade or an invalidation
 * changes nothing; nor does an invalidation after the expiry.
 */
export function computeState(
  order: Pick<Order, 'amountIn' | 'expiresAt' | 'createdAt' | 'failedAt' | 'failure'> & {
    submission: Pick<OrderSubmission, 'submittedAt'> | undefined
  },
  events: readonly OrderEvent[],
  confirmed: Confirmed,
): OrderState {
  const validTo = order.expiresAt.getTime() / 1_000
  let filledIn = 0n
  let filledOut = 0n
  let end: { status: 'filled' | 'cancelled'; blockNumber: number } | undefined
  let changedAt = order.submission?.submittedAt ?? order.createdAt
  const hashes = new Set<string>()
  for (const event of events) {
    if (end || (event.kind === 'invalidated' && event.timestamp > validTo)) continue
    filledIn += event.amountIn
    filledOut += event.amountOut
    hashes.add(event.transactionHash)
    changedAt = later(changedAt, new Date(event.timestamp * 1_000))
    const { blockNumber } = event
    if (event.kind === 'invalidated') end = { status: 'cancelled', blockNumber }
    else if (filledIn >= order.amountIn) end = { status: 'filled', blockNumber }
  }
  const state = { filledIn, filledOut, transactionHashes: [...hashes], error: null }
  if (end) {
    const isTerminal = confirmed !== null && end.blockNumber <= confirmed.blockNumber
    return { ...state, status: end.status, isTerminal, updatedAt: changedAt }
  }
  // No later block can fill it: time only goes forward along a chain.
  if (confirmed !== null && confirmed.at.getTime() / 1_000 > validTo)
    return { ...state, status: 'expired', isTerminal: true, updatedAt: later(changedAt, order.expiresAt) }
  if (filledIn > 0n) return { ...state, status: 'partially-filled', isTerminal: false, updatedAt: changedAt }
  if (order.failedAt) {
    const updatedAt = later(changedAt, order.failedAt)
    return { ...state, status: 'failed', isTerminal: false, error: order.failure, updatedAt }
  }
  return { ...state, status: order.submission ? 'open' : 'built', isTerminal: false, updatedAt: changedAt }
}

const later = (a: Date, b: Date): Date => (a > b ? a : b)
