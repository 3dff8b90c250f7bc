import { type Address, getAddress, zeroAddress } from 'viem'
import { computeUsd } from '../../kernel/amount.js'
import { invalidInput } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { readGasPrice } from '../../rpc/estimate.js'
import { combine, multicall } from '../../rpc/multicall.js'
import type { Header } from '../../rpc/raw.js'
import {
  type ActionContext,
  type Draft,
  finishAction,
  getDeadline,
  getOwnDistributor,
  type Interaction,
  insufficientBalance,
  parseAmount,
} from '../plans/index.js'
import { readFreshHead } from './freshHead.js'
import { listQuotes, type Quote, type SwapAsk, useBestQuote } from './provider.js'
import { getSwapChain, listHubs } from './providers.js'
import type { SwapInput } from './schema.js'
import { assertDecoded, assertSwapped, buildSwapSteps } from './swapSteps.js'
import { assertDifferent, findSwapPrices, parseToken, readFunds, readSwapToken } from './swapTokens.js'

/** Builds the transactions of a swap, ready to sign; sends nothing. The output goes to the wallet that pays. */
export async function getSwap(ctx: ActionContext, input: SwapInput, caller: Caller): Promise<Written<Interaction>> {
  const amountIn = parseAmount(input.amountIn, 'amountIn')
  const wallet = parseUser(input.user)
  const [addressIn, addressOut] = [parseToken(input.tokenIn), parseToken(input.tokenOut)]
  assertDifferent(addressIn, addressOut)
  const { chain, settings, providers } = getSwapChain(ctx, input.chainId)
  const snapshot = ctx.catalogue.current()
  const distributor = getOwnDistributor(snapshot, input.distributorId, caller)

  const spenders = providers.flatMap((provider) => provider.spenders(settings))
  const [head, gasPrice, { answer }] = await Promise.all([
    readFreshHead(ctx, chain),
    readGasPrice(chain),
    multicall(
      chain,
      combine({
        tokenIn: readSwapToken(snapshot, input.chainId, addressIn),
        tokenOut: readSwapToken(snapshot, input.chainId, addressOut),
        funds: readFunds(wallet, addressIn, spenders),
      }),
    ),
  ])
  const { tokenIn, tokenOut, funds } = answer
  const simulates = input.simulate !== false
  if (simulates && funds.balance < amountIn) throw insufficientBalance(funds.balance, amountIn)

  const hubs = listHubs(snapshot, settings)
  const at = { blockHash: head.hash }
  const slippageBps = BigInt(input.slippageBps)
  const ask: SwapAsk = {
    ...{ chain, settings, tokenIn, tokenOut, amountIn, hubs, at, gasPrice, wallet, slippageBps, simulates },
  }
  const quotes = await listQuotes(providers, ask)
  const createdAt = ctx.clock.now()
  const priceUsd = (await findSwapPrices(ctx, settings, [tokenIn]))(tokenIn)
  const common = {
    block: simulates ? head : undefined,
    amountUsd: priceUsd === undefined ? undefined : computeUsd(amountIn, tokenIn.decimals, priceUsd),
    createdAt,
  }
  const { organizationId } = caller
  return useBestQuote(quotes, (quote, see) => {
    const allowance = funds.allowanceOf(quote.spender)
    const draft = toSwapDraft(ask, quote, allowance, { ...common, head, see })
    return finishAction(ctx, { wallet, distributor, organizationId, opportunity: undefined }, draft)
  })
}

type SwapDraft = Pick<Draft, 'block' | 'amountUsd'> & { createdAt: Date; head: Header; see: (got: bigint) => void }

/** The draft of a swap: the approvals, then the call. */
function toSwapDraft(ask: SwapAsk, quote: Quote, allowance: bigint, { see, head, ...common }: SwapDraft): Draft {
  const { chain, tokenIn, tokenOut, amountIn } = ask
  const steps = buildSwapSteps(ask, quote, { deadline: getDeadline(common.createdAt, head), allowance })
  return {
    ...common,
    kind: 'swap',
    chain,
    steps: [...steps.approvals, steps.swap],
    main: steps.swap,
    tokenIn,
    amount: amountIn,
    referralCode: '',
    tokens: [tokenIn, tokenOut],
    probe: steps.probe,
    errors: quote.errors ?? [],
    assertUnsimulated: () => assertDecoded(quote),
    assertOutcome: (changeOf) => {
      const got = changeOf(tokenOut.address) ?? 0n
      assertSwapped({ given: changeOf(tokenIn.address), got }, ask, steps)
      see(got)
    },
  }
}

/** Nobody signs for the zero address, and a router takes it for itself. */
function parseUser(text: string): Address {
  const wallet = getAddress(text.toLowerCase())
  if (wallet === zeroAddress) throw invalidInput([{ path: 'user', message: 'must be the address of a wallet' }])
  return wallet
}
