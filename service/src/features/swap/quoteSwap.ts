import type { Header } from '../../rpc/raw.js'
import { simulatePlan } from '../plans/index.js'
import { listQuotes, type Quote, type SwapAsk, type SwapProvider, useBestQuote } from './provider.js'
import { assertDecoded, assertSwapped, buildSwapSteps } from './swapSteps.js'
import type { Funds } from './swapTokens.js'

/** Seconds for which the call of a quote is valid if it is only simulated. */
const simulatedSeconds = 600

/**
 * The best quote of a swap that somebody else may send later. Where the wallet holds what it gives, the quote says no more
 * than a simulation was seen to give; else it is one of a router we know.
 */
export async function quoteSwap(
  providers: readonly SwapProvider[],
  ask: SwapAsk,
  { head, allowanceOf }: { head: Header; allowanceOf: Funds['allowanceOf'] },
): Promise<Quote> {
  const { chain, wallet, tokenIn, tokenOut } = ask
  const deadline = BigInt(head.timestamp + simulatedSeconds)
  return useBestQuote(await listQuotes(providers, ask), async (quote, see) => {
    const steps = buildSwapSteps(ask, quote, { deadline, allowance: allowanceOf(quote.spender) })
    const { body, changeOf } = ask.simulates
      ? await simulatePlan(chain, {
          ...{ wallet, steps: [...steps.approvals, steps.swap], tokens: [tokenIn, tokenOut] },
          ...{ probe: steps.probe, block: head, errors: quote.errors ?? [] },
        })
      : { body: { status: 'skipped' }, changeOf: () => undefined }
    if (body.status !== 'ok') {
      assertDecoded(quote)
      return quote
    }
    const got = changeOf(tokenOut.address) ?? 0n
    assertSwapped({ given: changeOf(tokenIn.address), got }, ask, steps)
    see(got)
    return got < quote.amountOut ? { ...quote, amountOut: got } : quote
  })
}
