import { least } from './bytes.js'
import type { Attribution } from './deciding.js'
import type { Losses } from './losses.js'
import type { Told } from './types.js'

/** An asynchronous deposit (assets) or redemption (shares) as it stands (SEMANTICS §3a). */
export type Request = {
  vaultId: number
  kind: 'deposit' | 'redeem'
  controller: string
  /** Whose assets or shares it took. */
  owner: string
  requestId: bigint
  distributorId: string | null
  attribution: Attribution | null
  isSwap: boolean
  amount: bigint
  /** Of a redemption the old shares it took: what of it the ledger counts. */
  counted: bigint
  remaining: bigint
  cancelled: bigint
  cancelling: boolean
  blockNumber: number
  transactionHash: string
  logIndex: number
  /** Of a redemption: what each lot gave. */
  taken: Map<string | null, bigint>
  /** What it is to be paid with, where that was told. */
  promised: bigint | undefined
}

/** A deposit that may be given back until some second: `counted` of its assets are in an entry. */
export type Refundable = {
  owner: string
  assets: bigint
  counted: bigint
  until: bigint
  distributorId: string | null
  attribution: Attribution | null
  isSwap: boolean
}

export type Consumed = { request: Request; amount: bigint }

const isOpen = ({ remaining }: Request): boolean => remaining > 0n

/**
 * A claim takes of a controller's requests what their ids lost in the block, the lowest id first; where that is not known
 * of one of them, the oldest first.
 */
export function consume(
  requests: readonly Request[],
  { vaultId, kind, controller }: Pick<Request, 'vaultId' | 'kind' | 'controller'>,
  amount: bigint,
  losses: Losses,
): Consumed[] {
  const open = requests.filter(
    (each) => each.vaultId === vaultId && each.kind === kind && each.controller === controller && isOpen(each),
  )
  const isKnown = open.every(({ requestId }) => losses.of(kind, controller, requestId) !== undefined)
  if (isKnown) open.sort((a, b) => (a.requestId < b.requestId ? -1 : a.requestId > b.requestId ? 1 : 0))
  const list: Consumed[] = []
  let left = amount
  for (const request of open) {
    const most = isKnown ? losses.of(kind, controller, request.requestId)! : request.remaining
    const part = least(least(request.remaining, left), most)
    if (part === 0n) continue
    request.remaining -= part
    left -= part
    losses.use(kind, controller, request.requestId, part)
    list.push({ request, amount: part })
  }
  return list
}

/** What is left below one share of a claim's price counts as claimed; a claim of no share has no price. */
export function dropDust(consumed: readonly Consumed[], assets: bigint, shares: bigint): void {
  if (shares === 0n) return
  for (const { request } of consumed) if (request.remaining * shares < assets) request.remaining = 0n
}

type Cancel = Extract<Told, { kind: `cancel${string}` }>

const kindOf = (event: Cancel): Request['kind'] =>
  event.kind === 'cancelDepositRequest' || event.kind === 'cancelDepositClaim' ? 'deposit' : 'redeem'
const isNamed = (request: Request, event: Cancel): boolean =>
  request.vaultId === event.vaultId &&
  request.kind === kindOf(event) &&
  request.controller === event.controller &&
  request.requestId === event.id

export function beginCancel(requests: readonly Request[], event: Cancel): void {
  for (const request of requests) if (isNamed(request, event) && isOpen(request)) request.cancelling = true
}

/** A completed cancel takes what was pending when it was asked for, the newest first, then what was asked for since. */
export function completeCancel(
  requests: readonly Request[],
  event: Extract<Told, { kind: 'cancelDepositClaim' | 'cancelRedeemClaim' }>,
): Consumed[] {
  const named = requests.filter((request) => isNamed(request, event))
  const asked = named.filter(({ cancelling }) => cancelling)
  const since = named.filter(({ cancelling }) => !cancelling)
  const list: Consumed[] = []
  let left = event.amount
  for (const request of [...asked.toReversed(), ...since.toReversed()]) {
    const part = least(request.remaining, left)
    request.remaining -= part
    request.cancelled += part
    request.cancelling = false
    left -= part
    if (part > 0n) list.push({ request, amount: part })
  }
  return list
}
