import type { Address } from 'viem'
import { unavailable } from '../../kernel/errors.js'
import { combine, combineAll, mapRead, multicallWriting, type Read } from '../../rpc/multicall.js'
import { nativeToken } from '../../rpc/native.js'
import type { SwapSettings } from '../../rpc/storeChains.js'
import type { ChainRecord, TokenRecord } from '../catalogue/index.js'
import type { Hop, Quote, SwapAsk, SwapProvider } from './provider.js'
import { findBestRoute, type GasValue, listRoutes, type Quoted, type Ranked, type Route, usualFees } from './routes.js'
import { buildRouteCall, checkV2, checkV3, quoteRoute } from './uniswapCalls.js'
import { isWrap } from './wrapping.js'

/**
 * Uniswap V2 and V3, and what was deployed as they were, straight from the chain: no third party is asked. All routes of
 * a pair are quoted in one call at one block.
 */
export const uniswap: SwapProvider = {
  name: 'uniswap',
  // Pools hold the wrapped native token, and gas is paid for in it.
  serves: ({ swap, wrappedNative }) =>
    wrappedNative !== null && (swap?.uniswapV2 !== undefined || swap?.uniswapV3 !== undefined),
  takes: (pair) => !isWrap(pair),
  spenders: ({ swap }) =>
    [swap?.uniswapV2?.router, swap?.uniswapV3?.router].flatMap((each) => (each ? [each] : [])) as Address[],
  quote,
}

/** The gas whose worth in the token that is got is asked for with the routes. */
const gasAsked = 200_000n

async function quote(ask: SwapAsk): Promise<Quote | undefined> {
  const { chain, gasPrice } = ask
  const routes = readRoutes(ask)
  if (!routes) return undefined
  const { swap, wrappedNative, to } = routes
  const gasRoutes = gasPrice === 0n ? [] : listBetween(ask, swap, wrappedNative, to)
  const read = combine({
    deployed: readDeployed(swap, wrappedNative),
    routes: routes.read,
    gas: combineAll(gasRoutes.map((route) => quoteRoute(swap, route, gasAsked * gasPrice))),
  })
  const { answer } = await multicallWriting(chain, read, ask.at)
  const { deployed } = answer
  if (!routes.exchanges.some((exchange) => deployed[exchange]))
    throw unavailable(`the exchanges set up for ${chain.name} are not what is on the chain`)
  const gasValue = valueGas(listUsable(answer.gas, deployed), to === wrappedNative, gasPrice)
  const best = findBestRoute(listUsable(answer.routes, deployed), gasValue)
  return best && { ...toQuote(ask, swap, best), gasValue }
}

export type Deployed = Readonly<Record<Route['exchange'], boolean>>

/** Which of the exchanges set up are what is on the chain. */
function readDeployed({ uniswapV2, uniswapV3 }: SwapSettings, wrappedNative: string): Read<Deployed> {
  return combine({
    v2: uniswapV2 ? checkV2(uniswapV2, wrappedNative) : absent,
    v3: uniswapV3 ? checkV3(uniswapV3, wrappedNative) : absent,
  })
}

const listUsable = (quoted: readonly (Quoted | undefined)[], deployed: Deployed) =>
  quoted.filter((each) => each !== undefined).filter(({ route }) => deployed[route.exchange])

/** All routes of a pair, quoted; undefined where there can be none. */
function readRoutes(ask: Pick<SwapAsk, 'settings' | 'tokenIn' | 'tokenOut' | 'amountIn' | 'hubs'>) {
  const { swap, wrappedNative } = ask.settings
  if (!swap || wrappedNative === null) return undefined
  const pooled = ({ address }: TokenRecord) => (address === nativeToken.toLowerCase() ? wrappedNative : address)
  const to = pooled(ask.tokenOut)
  const routes = listBetween(ask, swap, pooled(ask.tokenIn), to)
  if (routes.length === 0) return undefined
  const read = combineAll(routes.map((route) => quoteRoute(swap, route, ask.amountIn)))
  return { swap, wrappedNative, to, read, exchanges: [...new Set(routes.map(({ exchange }) => exchange))] }
}

/** A pair to quote, in one call with others. */
export type RouteAsk = Pick<SwapAsk, 'settings' | 'tokenIn' | 'tokenOut' | 'amountIn' | 'hubs'>

/**
 * Reads the route with the greatest output before gas: for swaps whose gas somebody else pays. `readExchanges` verifies the
 * exchanges once. Undefined if no route can exist.
 */
export function readLargest(ask: RouteAsk): Read<(deployed: Deployed) => Quote | undefined> | undefined {
  const routes = readRoutes(ask)
  return (
    routes &&
    mapRead(routes.read, (quoted) => (deployed: Deployed) => {
      const best = findBestRoute(listUsable(quoted, deployed), { gas: 1n, out: 0n })
      return best && toQuote(ask, routes.swap, best)
    })
  )
}

/** Which exchanges of a chain are the expected contracts; empty for a chain without exchanges. */
export function readExchanges({ swap, wrappedNative }: ChainRecord): Read<Deployed> {
  if (!swap || wrappedNative === null) return { reads: [], answer: () => ({ v2: false, v3: false }) }
  return readDeployed(swap, wrappedNative)
}

function listBetween({ hubs }: Pick<SwapAsk, 'hubs'>, swap: SwapSettings, from: string, to: string): Route[] {
  return listRoutes({
    from,
    to,
    hubs: hubs.map(({ address }) => address),
    v2: swap.uniswapV2 !== undefined,
    fees: swap.uniswapV3 && (swap.uniswapV3.fees ?? usualFees),
  })
}

/** An exchange that is not set up. */
const absent: Read<boolean> = { reads: [], answer: () => false }

/** The worth of gas in the output token; 0 if no route shows it. */
function valueGas(quoted: readonly Quoted[], isWrapped: boolean, gasPrice: bigint): GasValue {
  if (isWrapped) return { gas: 1n, out: gasPrice }
  let most = 0n
  for (const { amountOut } of quoted) if (amountOut > most) most = amountOut
  return { gas: gasAsked, out: most }
}

function toQuote(ask: RouteAsk, swap: SwapSettings, { route, amountOut, netOut, gas }: Ranked): Quote {
  const { tokenIn, tokenOut, amountIn } = ask
  const native = nativeToken.toLowerCase()
  const nativeIn = tokenIn.address === native
  const nativeOut = tokenOut.address === native
  const router = (route.exchange === 'v2' ? swap.uniswapV2 : swap.uniswapV3)?.router as Address
  return {
    provider: uniswap.name,
    amountOut,
    netOut,
    gas,
    route: toHops(ask, route),
    spender: nativeIn ? undefined : router,
    target: `the Uniswap ${route.exchange.toUpperCase()} router`,
    decoded: true,
    build: (terms) => buildRouteCall(swap, route, { ...terms, amountIn, nativeIn, nativeOut }),
  }
}

/** The tokens as the caller named them at both ends, the hub between them. */
function toHops({ tokenIn, tokenOut, hubs }: RouteAsk, { tokens }: Route): Hop[] {
  const through = tokens.slice(1, -1).flatMap((address) => hubs.filter((hub) => hub.address === address).slice(0, 1))
  const stops: TokenRecord[] = [tokenIn, ...through, tokenOut]
  return stops.slice(1).map((to, i) => ({ action: 'swap', from: stops[i] ?? tokenIn, to }))
}
