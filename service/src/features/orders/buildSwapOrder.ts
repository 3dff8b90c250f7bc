import { type Address, getAddress, zeroAddress } from 'viem'
import { formatTs, fromUnixSeconds, toUnixSeconds } from '../../kernel/clock.js'
import { invalidArgument, invalidInput, notFound, unavailable } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import { type Caller, written } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { readHead } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import { readGasPrice } from '../../rpc/estimate.js'
import { combine, multicall } from '../../rpc/multicall.js'
import type { Header } from '../../rpc/raw.js'
import { formatAddress } from '../../wallets/format.js'
import { type CatalogueSnapshot, type ChainRecord, findOpportunity, type TokenRecord } from '../catalogue/index.js'
import {
  type ActionContext,
  buildApprovals,
  getOwnDistributor,
  parseAmount,
  prepareSteps,
  refuse,
} from '../plans/index.js'
import {
  assertDifferent,
  computeMinimum,
  getSwapChain,
  isNative,
  listHubs,
  parseToken,
  quoteSwap,
  readFunds,
  readSwapToken,
  type SwapAsk,
} from '../swap/index.js'
import { type BuildInput, type BuiltOrder, validity } from './schema.js'
import {
  buildCancellation,
  computeOrderUid,
  formatAppData,
  hashAppData,
  type SellOrder,
  toTypedData,
} from './sellOrder.js'
import { getSettlement, readFitness } from './settlement.js'
import { type NewOrder, recordOrder } from './storeOrders.js'

/** How long a quote informs; the order itself is valid for as long as was asked for. */
const quoteMs = 60_000

/** Builds an order to sign: sells at no less than what is quoted now, less the slippage. Sends nothing. */
export async function buildSwapOrder(
  ctx: ActionContext,
  input: BuildInput,
  caller: Caller,
): Promise<Written<BuiltOrder>> {
  const amountIn = parseAmount(input.amountIn, 'amountIn')
  const owner = parseOwner(input)
  const [addressIn, addressOut] = [parseToken(input.tokenIn), parseToken(input.tokenOut)]
  assertDifferent(addressIn, addressOut)
  const { chain, settings, providers } = getSwapChain(ctx, input.chainId)
  const settlement = getSettlement(settings)
  const snapshot = ctx.catalogue.current()
  assertSellable(addressIn, settings)
  const distributor = getOwnDistributor(snapshot, input.distributorId, caller)
  const opportunityId = assertAccepts(snapshot, input, addressOut)

  const { relayer } = settlement
  const spenders = providers.flatMap((provider) => provider.spenders(settings))
  const [head, gasPrice, { answer }] = await Promise.all([
    readHead(chain),
    readGasPrice(chain),
    multicall(
      chain,
      combine({
        isFit: readFitness(input.chainId, settlement),
        tokenIn: readSwapToken(snapshot, input.chainId, addressIn),
        tokenOut: readSwapToken(snapshot, input.chainId, addressOut),
        funds: readFunds(owner, addressIn, [relayer, ...spenders]),
      }),
    ),
  ])
  const { isFit, tokenIn, tokenOut, funds } = answer
  if (!isFit)
    throw unavailable(
      `orders cannot be built on ${chain.name}: the configured settlement address is not a settlement contract`,
    )
  const ask: SwapAsk = {
    ...{ chain, settings, tokenIn, tokenOut, amountIn, gasPrice, wallet: owner },
    ...{ hubs: listHubs(snapshot, settings), at: { blockHash: head.hash }, slippageBps: BigInt(input.slippageBps) },
    // Who does not hold it yet may sign already: it is looked at again when the order is submitted.
    simulates: funds.balance >= amountIn,
  }
  const quote = await quoteSwap(providers, ask, { head, allowanceOf: funds.allowanceOf })
  const minAmountOut = computeMinimum(quote.amountOut, ask.slippageBps)
  if (minAmountOut === 0n) throw refuse('BELOW_MINIMUM', 'the amount is too small: the minimum output would be 0')

  const orderId = newId()
  const createdAt = ctx.clock.now()
  // A chain whose clock is ahead would take the order for expired.
  const startsAt = Math.max(toUnixSeconds(createdAt), head.timestamp)
  const validTo = startsAt + (input.validForSeconds ?? validity.default)
  const appData = formatAppData({ distributorId: distributor.id, orderId, opportunityId })
  const order: SellOrder = {
    ...{ chainId: input.chainId, settlement: settlement.address, owner, validTo },
    ...{ sellToken: tokenIn.address as Address, buyToken: tokenOut.address as Address },
    ...{ sellAmount: amountIn, buyAmount: minAmountOut, appData: hashAppData(appData) },
    partiallyFillable: input.partiallyFillable === true,
  }
  const orderUid = computeOrderUid(order)
  const expiresAt = fromUnixSeconds(validTo)
  const body: BuiltOrder = {
    orderId,
    typedData: toTypedData(order),
    approvals: await buildOrderApprovals(chain, head, {
      ...{ owner, relayer, tokenIn, amountIn, allowance: funds.allowanceOf(relayer) },
    }),
    quote: {
      amountOut: String(quote.amountOut),
      minAmountOut: String(minAmountOut),
      provider: quote.provider,
      expiresAt: formatTs(new Date(createdAt.getTime() + quoteMs)),
    },
    expiresAt: formatTs(expiresAt),
    orderUid,
    settlement: formatAddress(settlement.address),
    cancellation: buildCancellation({ ...order, orderUid }),
  }
  const kept: NewOrder = {
    ...{ id: orderId, organizationId: caller.organizationId, distributorId: distributor.id },
    ...{ opportunityId: opportunityId ?? null, chainId: input.chainId, settlement: settlement.address, relayer },
    ...{ uid: orderUid, owner: owner.toLowerCase(), tokenIn: tokenIn.address, tokenOut: tokenOut.address },
    ...{ amountIn, minAmountOut, partiallyFillable: order.partiallyFillable },
    ...{ appData, appDataHash: order.appData, expiresAt, createdAt },
  }
  return written(body, (tx) => recordOrder(tx, kept, head.number))
}

/** Nobody signs for the zero address, and all that is bought is for who sells. */
function parseOwner({ userAddress, receiver }: BuildInput): Address {
  const owner = userAddress.toLowerCase()
  if (owner === zeroAddress) throw invalidInput([{ path: 'userAddress', message: 'must be the address of a wallet' }])
  if (receiver !== undefined && receiver.toLowerCase() !== owner)
    throw invalidInput([{ path: 'receiver', message: 'must be userAddress: all output goes to the wallet that signs' }])
  return getAddress(owner)
}

/** The settlement contract takes what is sold by an allowance, which the native token has not. */
function assertSellable(tokenIn: string, { wrappedNative, nativeSymbol }: ChainRecord): void {
  if (!isNative({ address: tokenIn })) return
  const into = wrappedNative === null ? '' : ` into ${formatAddress(wrappedNative)}`
  throw invalidArgument(`an order cannot sell ${nativeSymbol} itself: wrap it${into} first (GetSwap), and sell that`)
}

/** The opportunity the order is for, in lower case, once it is known to take what is bought. */
function assertAccepts(snapshot: CatalogueSnapshot, { opportunityId, chainId }: BuildInput, tokenOut: string) {
  if (opportunityId === undefined) return undefined
  const opportunity = findOpportunity(snapshot, opportunityId)
  if (!opportunity?.listed) throw notFound('no such opportunity')
  const wrapped = snapshot.chains.get(chainId)?.wrappedNative
  const entering = isNative({ address: tokenOut }) ? wrapped : tokenOut
  const { depositTokens } = opportunity
  if (!depositTokens.some((token) => token.chainId === chainId && token.address === entering)) {
    const accepted = depositTokens.map(({ symbol }) => symbol).join(', ')
    throw refuse('TOKEN_NOT_ACCEPTED', `this opportunity does not take that token; it takes ${accepted || 'none'}`)
  }
  return opportunity.id
}

/** The exact approval of what is sold for the contract that takes it, where the allowance is less. */
function buildOrderApprovals(
  chain: Chain,
  block: Header,
  of: { owner: Address; relayer: Address; tokenIn: TokenRecord; amountIn: bigint; allowance: bigint },
): Promise<BuiltOrder['approvals']> {
  const { owner, relayer, tokenIn, amountIn, allowance } = of
  const steps = buildApprovals({
    ...{ token: tokenIn, tokenAddress: tokenIn.address as Address, spender: relayer, amount: amountIn, allowance },
    spenderParty: { name: 'the vault relayer of CoW Protocol', address: formatAddress(relayer) },
  })
  return prepareSteps(chain, { wallet: owner, steps, block })
}
