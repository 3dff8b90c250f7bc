import type { Address } from 'viem'
import { formatTs } from '../../kernel/clock.js'
import { unavailable } from '../../kernel/errors.js'
import type { ChainContext } from '../../rpc/chains.js'
import { multicall } from '../../rpc/multicall.js'
import { readView, type View } from '../../rpc/views.js'
import { viewRequest } from '../../vaults/index.js'
import { listCooldowns } from './cooldowns.js'
import { computeReceived } from './received.js'
import { listWalletRequests, type WalletRequest } from './storeWalletRequests.js'

/**
 * Asynchronous deposits and redemptions of a wallet, oldest first. The claimable amount is read from the chain; of requests that
 * share an id, or the view of what is claimable, the oldest are claimable first. The received amount of a request is returned once it is closed. Throws 503 if
 * a chain with an open request cannot be read.
 */
export async function getWalletRequests(ctx: ChainContext, input: { address: string }) {
  const wallet = input.address.toLowerCase()
  const [requests, cooldowns] = await Promise.all([listShownRequests(ctx, wallet), listCooldowns(ctx, wallet)])
  const all = [...requests.map(({ shown }) => shown), ...cooldowns]
  return { requests: all.sort((a, b) => (a.requestedAt < b.requestedAt ? -1 : a.requestedAt > b.requestedAt ? 1 : 0)) }
}

/** Requests of a wallet (lower-case) with their ids and chains, as they are shown now. */
export async function listShownRequests(ctx: ChainContext, wallet: string) {
  const requests = await listWalletRequests(ctx.db, wallet)
  const claimable = await readClaimable(ctx, requests.filter(isOpen))
  const received = computeReceived(requests)
  return requests.map((request) => {
    const key = keyOf(request.chainId, poolOf(request))
    const left = claimable.get(key) ?? 0n
    const remaining = BigInt(request.remaining)
    const own = isOpen(request) ? (left < remaining ? left : remaining) : 0n
    if (own > 0n) claimable.set(key, left - own)
    const { amount } = request
    const paid = BigInt(request.cancelled) === 0n ? request.promised : null
    const gained = isOpen(request) ? null : (received.get(request.id)?.toString() ?? paid)
    const shown = {
      opportunityId: request.opportunityId,
      kind: request.kind,
      requestId: request.requestId,
      state: requestState(request, own),
      assets: request.kind === 'deposit' ? amount : gained,
      shares: request.kind === 'redeem' ? amount : gained,
      claimable: String(own),
      distributorId: request.distributorId,
      requestedAt: formatTs(request.requestedAt),
      txHash: request.transactionHash,
    }
    return { id: request.id, chainId: request.chainId, shown }
  })
}

export type RequestStateName = 'pending' | 'claimable' | 'claimed' | 'cancelling' | 'cancelled'

/** State of a request: the chain decides, terminal states never change. */
export function requestState(
  request: Pick<WalletRequest, 'remaining' | 'cancelled' | 'cancelling'>,
  claimable: bigint,
): RequestStateName {
  if (BigInt(request.remaining) === 0n) return BigInt(request.cancelled) > 0n ? 'cancelled' : 'claimed'
  if (claimable > 0n) return 'claimable'
  return request.cancelling ? 'cancelling' : 'pending'
}

const isOpen = (request: WalletRequest) => request.remaining !== '0'

/** The view of the claimable amount, which other requests of the wallet may share. */
function poolOf({ vaultKind, vaultAddress, contracts, kind, requestId, controller }: WalletRequest): View | undefined {
  const vault = { kind: vaultKind, address: vaultAddress, contracts }
  return viewRequest(vault, { kind, requestId: BigInt(requestId), controller: controller as Address })?.claimable
}

const keyOf = (chainId: number, view: View | undefined) => `${chainId}:${view?.target}:${view?.data}`

async function readClaimable(ctx: ChainContext, open: readonly WalletRequest[]): Promise<Map<string, bigint>> {
  const pools = new Map(
    open.map((request) => {
      const view = poolOf(request)
      return [keyOf(request.chainId, view), { chainId: request.chainId, view }]
    }),
  )
  const answers = await Promise.all(
    [...pools].map(async ([key, { chainId, view }]) => {
      if (!view) return [key, 0n] as const
      const chain = ctx.chains.get(chainId)
      if (!chain) throw unavailable(`chain ${chainId} cannot be read right now`, { retryAfterSeconds: 30 })
      const { answer } = await multicall(chain, readView(view))
      return [key, answer ?? 0n] as const
    }),
  )
  return new Map(answers)
}
