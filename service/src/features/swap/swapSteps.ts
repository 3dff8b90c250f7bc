import type { Address } from 'viem'
import type { Probe } from '../../rpc/simulateBlock.js'
import { formatAddress } from '../../wallets/format.js'
import { type TokenRecord, toToken } from '../catalogue/index.js'
import { buildApprovals, describeSwap, describeWrapping, refuse, type Step } from '../plans/index.js'
import { type Quote, type SwapAsk, UnfitQuote } from './provider.js'

const bps = 10_000n

/** The minimum output of a swap: the quote less the slippage. */
export function computeMinimum(amountOut: bigint, slippageBps: bigint): bigint {
  return (amountOut * (bps - slippageBps)) / bps
}

/** The transactions of a swap, and what has to come of them. */
export type SwapSteps = {
  approvals: readonly Step[]
  swap: Step
  /** Less than this the call itself does not take. */
  minimumOut: bigint
  /** Less than this in a simulation is a reason to refuse. */
  leastGot: bigint
  probe: Probe | undefined
  /** The token that is given rounds what it moves. */
  givenRounds: boolean
}

/** The approvals of a swap and its call, which carries a suffix. `rest`: the token of which a surplus may stay in the wallet. */
export function buildSwapSteps(
  ask: SwapAsk,
  quote: Quote,
  terms: { deadline: bigint; allowance: bigint; rest?: TokenRecord },
): SwapSteps {
  const { tokenIn, amountIn, wallet, slippageBps } = ask
  const { spender, decoded, moves, rounds, amountOut } = quote
  const minimumOut = quote.even ? amountOut : computeMinimum(amountOut, slippageBps)
  if (minimumOut === 0n) throw refuse('BELOW_MINIMUM', 'the amount is too small: the minimum output would be 0')
  const call = quote.build({ wallet, minimumOut, deadline: terms.deadline })
  const tokenAddress = tokenIn.address as Address
  const approvals =
    spender === undefined
      ? []
      : buildApprovals({
          ...{ token: tokenIn, tokenAddress, spender, amount: amountIn, allowance: terms.allowance },
          spenderParty: { name: quote.target, address: formatAddress(spender) },
        })
  return {
    approvals,
    swap: {
      type: 'swap',
      description: describe(ask, quote, { minimumOut, router: call.to, rest: terms.rest }),
      call,
      gasConstant: quote.gas * 2n,
      suffix: 'plain',
      explainRevert: (why, context) => explainRevert(quote, why, context),
      metadata: {
        provider: quote.provider,
        providerImg: '',
        amountOut: String(amountOut),
        gas: String(quote.gas),
        route: quote.route.map(({ action, from, to }) => ({ action, from: toDetails(from), to: toDetails(to) })),
      },
    },
    minimumOut,
    leastGot: decoded && !moves ? amountOut : minimumOut,
    probe: spender === undefined || rounds ? undefined : { token: tokenAddress, to: spender, amount: amountIn },
    givenRounds: rounds === true,
  }
}

function describe(
  { tokenIn, tokenOut, amountIn, wallet }: SwapAsk,
  { route, target, even }: Quote,
  { minimumOut, router, rest }: { minimumOut: bigint; router: Address; rest: TokenRecord | undefined },
): string {
  const action = route[0]?.action
  if (even && action === 'wrap') return describeWrapping('Wrap', amountIn, { token: tokenIn, out: tokenOut })
  if (even && action === 'unwrap') return describeWrapping('Unwrap', amountIn, { token: tokenIn, out: tokenOut })
  const words = { amount: amountIn, token: tokenIn, least: minimumOut, out: tokenOut, receiver: wallet, rest }
  return describeSwap({ ...words, router: { name: target, address: router } })
}

function toDetails(token: TokenRecord) {
  const { decimals, logoUrl, symbol } = toToken(token)
  return { address: formatAddress(token.address), decimals, logoUrl, symbol }
}

/** Errors of routers and pools when the transfer of a token failed or moved another amount. */
const tokenFailures = /STF|TRANSFER_FROM_FAILED|TRANSFER_FAILED|TransferHelper|\bTF\b|\bIIA\b|UniswapV2: K\b/

/** The pools are as quoted and the wallet has the amount, so a revert at a known router is caused by a token. */
function explainRevert({ decoded }: Quote, why: string, context: { transactionIndex: number }): void {
  const isToken = decoded && tokenFailures.test(why)
  throw new UnfitQuote(
    isToken
      ? refuse('TOKEN_UNSUPPORTED', `a token of this swap cannot be moved: ${why}`, context)
      : refuse('SIMULATION_REVERTED', why, context),
  )
}

/** How many units the balance of a token that rounds (shares times a rate) may differ from the moved amount. */
const roundedMax = 2n

/** In the block of its quote a swap returns the quote. If it takes another amount, the token or the provider is at fault. */
export function assertSwapped(found: { given: bigint | undefined; got: bigint }, ask: SwapAsk, steps: SwapSteps): void {
  const off = -(found.given ?? 0n) - ask.amountIn
  const rounded = steps.givenRounds ? roundedMax : 0n
  if (off > rounded || -off > rounded)
    throw new UnfitQuote(refuse('TOKEN_UNSUPPORTED', 'the swap would take a different amount than requested'))
  assertGot(found.got, steps)
}

export function assertGot(got: bigint, { leastGot }: SwapSteps): void {
  if (got < leastGot)
    throw new UnfitQuote(
      refuse('TOKEN_UNSUPPORTED', `the swap would return ${got}, less than the expected ${leastGot}`),
    )
}

/** Without a simulation, only calls of routers that we decode are built. */
export function assertDecoded({ decoded }: Quote): void {
  if (!decoded) throw new UnfitQuote(refuse('NO_ROUTE', 'the route cannot be checked without a simulation'))
}
