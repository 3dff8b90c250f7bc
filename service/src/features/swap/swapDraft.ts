import type { Address } from 'viem'
import type { Header } from '../../rpc/raw.js'
import { formatAddress, type TokenRecord, toToken } from '../catalogue/index.js'
import { type Draft, describeSwap, describeUnwrap, describeWrap, refuse, type Step } from '../plans/index.js'
import type { Quote, SwapAsk } from './provider.js'

const bps = 10_000n

/** The least a swap may give: what it was quoted, less what the caller lets it slip. */
export function computeMinimum(amountOut: bigint, slippageBps: bigint): bigint {
  return (amountOut * (bps - slippageBps)) / bps
}

/** A quote that was chosen, and what the caller asked for. */
export type Swap = {
  ask: SwapAsk
  quote: Quote
  wallet: Address
  slippageBps: bigint
  deadline: bigint
  createdAt: Date
}

/** The draft of a swap: the approvals, then the call that carries the suffix. */
export function toSwapDraft(
  { ask, quote, wallet, slippageBps, deadline, createdAt }: Swap,
  plan: { approvals: readonly Step[]; block: Header | undefined; amountUsd: string | undefined },
): Draft {
  const { chain, tokenIn, tokenOut, amountIn } = ask
  const minimumOut = quote.even ? quote.amountOut : computeMinimum(quote.amountOut, slippageBps)
  if (minimumOut === 0n)
    throw refuse('BELOW_MINIMUM', 'the amount is so small that the swap could not be held to give anything for it')
  const call = quote.build({ wallet, minimumOut, deadline })
  const step: Step = {
    type: 'swap',
    description: describe(ask, quote, { minimumOut, wallet, router: call.to }),
    call,
    gasConstant: quote.gas * 2n,
    metadata: {
      provider: quote.provider,
      providerImg: '',
      amountOut: String(quote.amountOut),
      gas: String(quote.gas),
      route: quote.route.map(({ action, from, to }) => ({ action, from: toDetails(from), to: toDetails(to) })),
    },
  }
  const { spender } = quote
  return {
    kind: 'swap',
    chain,
    steps: [...plan.approvals, step],
    tokenIn,
    amount: amountIn,
    amountUsd: plan.amountUsd,
    referralCode: '',
    tokens: [tokenIn, tokenOut],
    probe: spender === undefined ? undefined : { token: tokenIn.address as Address, to: spender, amount: amountIn },
    block: plan.block,
    errors: [],
    createdAt,
    explainRevert,
    assertUnsimulated: () => undefined,
    assertOutcome: (changeOf) => assertOutcome({ tokenIn, tokenOut, amountIn, amountOut: quote.amountOut }, changeOf),
  }
}

function describe(
  { tokenIn, tokenOut, amountIn }: SwapAsk,
  { route, target }: Quote,
  { minimumOut, wallet, router }: { minimumOut: bigint; wallet: Address; router: Address },
): string {
  const action = route[0]?.action
  if (action === 'wrap') return describeWrap(amountIn, tokenIn, tokenOut)
  if (action === 'unwrap') return describeUnwrap(amountIn, tokenIn, tokenOut)
  const words = { amount: amountIn, token: tokenIn, least: minimumOut, out: tokenOut, receiver: wallet }
  return describeSwap({ ...words, router: { name: target, address: router } })
}

function toDetails(token: TokenRecord) {
  const { decimals, logoUrl, symbol } = toToken(token)
  return { address: formatAddress(token.address), decimals, logoUrl, symbol }
}

/** What routers and pools say when a token did not let itself be moved as it was told to. */
const tokenFailures = /STF|TRANSFER_FROM_FAILED|TRANSFER_FAILED|TransferHelper|\bTF\b|\bIIA\b|UniswapV2: K\b/

/** The pools are as they were quoted, and the wallet has the amount: what reverts now is a token. */
function explainRevert(why: string, context: { transactionIndex: number }): void {
  if (tokenFailures.test(why))
    throw refuse('TOKEN_UNSUPPORTED', `a token of this swap cannot be moved: ${why}`, context)
}

/** In the block it was quoted at a swap gives what was quoted; whatever takes something of it is the token. */
function assertOutcome(
  swap: { tokenIn: TokenRecord; tokenOut: TokenRecord; amountIn: bigint; amountOut: bigint },
  changeOf: (token: string) => bigint | undefined,
): void {
  if (changeOf(swap.tokenIn.address) !== -swap.amountIn)
    throw refuse('TOKEN_UNSUPPORTED', 'the swap would take another amount than was asked for')
  const got = changeOf(swap.tokenOut.address) ?? 0n
  if (got < swap.amountOut)
    throw refuse('TOKEN_UNSUPPORTED', `of ${swap.amountOut} that were quoted only ${got} would arrive`)
}
