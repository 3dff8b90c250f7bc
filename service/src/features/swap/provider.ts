import type { Address } from 'viem'
import { EarnError } from '../../kernel/errors.js'
import type { Chain } from '../../rpc/chains.js'
import type { At } from '../../rpc/multicall.js'
import type { KnownError } from '../../rpc/revert.js'
import type { Call } from '../../rpc/simulateBlock.js'
import type { ChainRecord, TokenRecord } from '../catalogue/index.js'
import { refuse } from '../plans/index.js'
import { type GasValue, toOut } from './routes.js'

/** What is to be swapped, on which chain, at which block and for whom. */
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
  /** The plan is simulated before it is answered; what we cannot decode ourselves is not asked for otherwise. */
  simulates: boolean
}

/** One step of a route, as it is answered. */
export type Hop = { action: 'swap' | 'wrap' | 'unwrap'; from: TokenRecord; to: TokenRecord }

/** What a swap has to hold beside its quote. What is got goes to the wallet. */
export type Terms = {
  wallet: Address
  /** Less than this the call itself does not take. */
  minimumOut: bigint
  /** Unix seconds after which the call reverts, where its target can tell. */
  deadline: bigint
}

/** What one provider would give, by its best route. */
export type Quote = {
  provider: string
  amountOut: bigint
  /** What is left of it once the gas is paid for, in the token that is got. */
  netOut: bigint
  /** What gas is worth in the token that is got, where the provider could tell. */
  gasValue?: GasValue
  /** What the swap is expected to use. */
  gas: bigint
  route: readonly Hop[]
  /** Who takes the token that is given; it is approved for this contract. Undefined where nobody does. */
  spender: Address | undefined
  /** What is called, in the words of a description. */
  target: string
  /** Each unit given is a unit got: there is nothing to slip. */
  even?: boolean
  /** The call is written by us for a router we know: in the block it was quoted at it gives what was quoted. */
  decoded: boolean
  /** Its rate moves with time alone, so that only the minimum is sure of a later block. */
  moves?: true
  /** The token that is given rounds what it moves, by a unit or two; its call is made for it. */
  rounds?: true
  /** What its target may revert with. */
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
 * What the providers offer, the best first once gas is paid for. One that does not answer is left out; where none answers
 * the failure is the first one's, a 503.
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

/** What is wrong is the quote's own: another may do. */
export class UnfitQuote extends Error {
  override readonly name = 'UnfitQuote'
  constructor(readonly refusal: EarnError) {
    super(refusal.message)
  }
}

/** Makes what is asked for by a quote, and tells what the swap was seen to give where it was simulated. */
export type UseQuote<T> = (quote: Quote, see: (got: bigint) => void) => Promise<T>

/** What was made by a quote, and what its swap gives: as it was seen, else as it was quoted. */
type Tried<T> = { quote: Quote; made: T; got: bigint }

/**
 * What the best of the quotes makes, by what each was seen to give. A third party's claim only earns it a look: it is used
 * where its simulation gives no less than the router we know was quoted beside it. Where no quote is fit, the first refusal
 * of a router we know says why; what a third party's quote failed by is its own affair.
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

/** What those quotes make that are fit, the one seen to leave most first; of equals the first one stays. */
async function tryAll<T>(quotes: readonly Quote[], use: UseQuote<T>, refusals: EarnError[]): Promise<Tried<T>[]> {
  const tried = await Promise.all(quotes.map((quote) => tryQuote(quote, use, refusals)))
  const fit = tried.filter((each) => each !== undefined)
  return fit.sort((a, b) => (netOf(a) === netOf(b) ? 0 : netOf(a) > netOf(b) ? -1 : 1))
}

/** What a quote makes; undefined where it is unfit. */
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

/** What is left of what was seen, once the gas is paid for. */
const netOf = ({ quote, got }: Pick<Tried<unknown>, 'quote' | 'got'>): bigint => got - (quote.amountOut - quote.netOut)

/** A third party tells its own gas: by that alone it gives nothing less than a router we know. */
const beats = (tried: Pick<Tried<unknown>, 'quote' | 'got'>, known: Quote): boolean =>
  tried.got >= known.amountOut && netOf(tried) >= known.netOut

function noRoute(): EarnError {
  return refuse('NO_ROUTE', 'no exchange of this chain has a route for this amount between these tokens')
}
