import type { Address } from 'viem'
import { EarnError } from '../../kernel/errors.js'
import type { Chain } from '../../rpc/chains.js'
import type { At } from '../../rpc/multicall.js'
import type { KnownError } from '../../rpc/revert.js'
import type { Call } from '../../rpc/simulateBlock.js'
import type { ChainRecord, TokenRecord } from '../catalogue/index.js'
import { refuse } from '../plans/index.js'
import { type GasValue, toOut } from './routes.js'

/** A swap to quote: tokens, amount, chain, block and wallet. */
export type SwapAsk = {
  chain: Chain
  settings: ChainRecord
  tokenIn: TokenRecord
  tokenOut: TokenRecord
  amountIn: bigint
  /** Tokens a route may pass through. */
  hubs: readonly TokenRecord[]
  at: At
  /** Of a unit of gas, in the smallest unit of the native token. */
  gasPrice: bigint
  wallet: Address
  slippageBps: bigint
  /** Whether the plan is simulated before it is returned; without it, calls that we cannot decode are not requested. */
  simulates: boolean
}

/** One step of a route, as it is answered. */
export type Hop = { action: 'swap' | 'wrap' | 'unwrap'; from: TokenRecord; to: TokenRecord }

/** Terms of a swap in addition to its quote. The output goes to the wallet. */
export type Terms = {
  wallet: Address
  /** Less than this the call itself does not take. */
  minimumOut: bigint
  /** Unix seconds after which the call reverts, where its target can tell. */
  deadline: bigint
}

/** The offer of one provider, by its best route. */
export type Quote = {
  provider: string
  amountOut: bigint
  /** The output less the cost of gas, in the output token. */
  netOut: bigint
  /** The worth of gas in the output token, if the provider knows it. */
  gasValue?: GasValue
  /** The expected gas of the swap. */
  gas: bigint
  route: readonly Hop[]
  /** Who takes the token that is given; it is approved for this contract. Undefined where nobody does. */
  spender: Address | undefined
  /** The called contract, in the words of a description. */
  target: string
  /** Each unit given is a unit got: there is nothing to slip. */
  even?: boolean
  /** The call is written by us for a router we know: in the block it was quoted at it gives what was quoted. */
  decoded: boolean
  /** Its rate moves with time alone, so that only the minimum is sure of a later block. */
  moves?: true
  /** The token that is given rounds what it moves, by a unit or two; its call is made for it. */
  rounds?: true
  /** Errors that its target may revert with. */
  errors?: readonly KnownError[]
  build(terms: Terms): Call
}

/** A way to swap. */
export type SwapProvider = {
  name: string
  /** Whether the operator set it up on a chain. */
  serves(settings: ChainRecord): boolean
  /** Whether these two tokens are its business at all. */
  takes(pair: Pick<SwapAsk, 'settings' | 'tokenIn' | 'tokenOut'>): boolean
  /** The contracts a swap may need an approval for. */
  spenders(settings: ChainRecord): Address[]
  /** The best it would give, or undefined where it has no route; throws where it cannot tell. */
  quote(ask: SwapAsk): Promise<Quote | undefined>
}

/**
 * Quotes of the providers, the best first after the cost of gas. A provider that does not respond is left out; if none responds,
 * throws the first failure, a 503.
 */
export async function listQuotes(providers: readonly SwapProvider[], ask: SwapAsk): Promise<[Quote, ...Quote[]]> {
  const able = providers.filter((provider) => provider.takes(ask))
  const asked = await Promise.allSettled(able.map((provider) => provider.quote(ask)))
  const failures = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  const bug = failures.find((failure) => !(failure instanceof EarnError && failure.code === 503))
  if (bug !== undefined) throw bug
  const answered = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  if (answered.length === 0 && failures.length > 0) throw failures[0]
  const quotes = valueGas(answered.filter((quote) => quote !== undefined))
  const [best, ...others] = quotes.sort((a, b) => (a.netOut === b.netOut ? 0 : a.netOut > b.netOut ? -1 : 1))
  if (!best) throw noRoute()
  return [best, ...others]
}

/** Quotes whose provider could not tell what gas is worth are charged what another says, so that all are compared alike. */
function valueGas(quotes: readonly Quote[]): Quote[] {
  const value = quotes.find(({ gasValue }) => gasValue !== undefined)?.gasValue
  if (!value) return [...quotes]
  return quotes.map((quote) =>
    quote.gasValue || quote.even ? quote : { ...quote, netOut: quote.amountOut - toOut(quote.gas, value) },
  )
}

/** A failure of this quote alone: another quote may succeed. */
export class UnfitQuote extends Error {
  override readonly name = 'UnfitQuote'
  constructor(readonly refusal: EarnError) {
    super(refusal.message)
  }
}

/** Builds the result for a quote, and reports the simulated output of its swap by `see`. */
export type UseQuote<T> = (quote: Quote, see: (got: bigint) => void) => Promise<T>

/** The result for a quote, and the output of its swap: as simulated, else as quoted. */
type Tried<T> = { quote: Quote; made: T; got: bigint }

/**
 * Returns the result of the best quote, by simulated output. A third party's quote is used only if its simulation returns at
 * least the quote of a known router. If no quote is usable, throws the first refusal of a known router; failures of third
 * parties are not reported.
 */
export async function useBestQuote<T>(quotes: readonly Quote[], use: UseQuote<T>): Promise<T> {
  const refusals: EarnError[] = []
  const known = quotes.filter(({ decoded }) => decoded)
  const claimed = quotes.filter(({ decoded }) => !decoded)
  const [first] = known
  const promising = claimed.filter((quote) => !first || beats({ quote, got: quote.amountOut }, first))
  const [seen] = await tryAll(promising, use, refusals)
  for (const quote of known) {
    if (seen && beats(seen, quote)) return seen.made
    const [tried] = await tryAll([quote], use, refusals)
    if (tried) return tried.made
  }
  if (seen) return seen.made
  const left = claimed.filter((quote) => !promising.includes(quote))
  const [last] = await tryAll(left, use, refusals)
  if (last) return last.made
  throw refusals[0] ?? noRoute()
}

/** Results of the usable quotes, the greatest simulated net output first; of equals the first one stays. */
async function tryAll<T>(quotes: readonly Quote[], use: UseQuote<T>, refusals: EarnError[]): Promise<Tried<T>[]> {
  const tried = await Promise.all(quotes.map((quote) => tryQuote(quote, use, refusals)))
  const fit = tried.filter((each) => each !== undefined)
  return fit.sort((a, b) => (netOf(a) === netOf(b) ? 0 : netOf(a) > netOf(b) ? -1 : 1))
}

/** The result of a quote; undefined if it is not usable. */
async function tryQuote<T>(quote: Quote, use: UseQuote<T>, refusals: EarnError[]): Promise<Tried<T> | undefined> {
  let got = quote.amountOut
  try {
    const made = await use(quote, (seen) => {
      got = seen
    })
    return { quote, made, got }
  } catch (error) {
    if (!(error instanceof UnfitQuote)) throw error
    if (quote.decoded) refusals.push(error.refusal)
    return undefined
  }
}

/** The simulated output less the cost of gas. */
const netOf = ({ quote, got }: Pick<Tried<unknown>, 'quote' | 'got'>): bigint => got - (quote.amountOut - quote.netOut)

/** A third party states its own gas: so its output before gas must also be at least that of a known router. */
const beats = (tried: Pick<Tried<unknown>, 'quote' | 'got'>, known: Quote): boolean =>
  tried.got >= known.amountOut && netOf(tried) >= known.netOut

function noRoute(): EarnError {
  return refuse('NO_ROUTE', 'no exchange of this chain has a route for this amount between these tokens')
}
