/** The routes to quote at the exchanges of a chain, and the choice of the best. Pure. */

/** A way from one token to another, through pools of one exchange: the tokens in order, and the fee of each V3 pool. */
export type Route =
  | { exchange: 'v2'; tokens: readonly string[] }
  | { exchange: 'v3'; tokens: readonly string[]; fees: readonly number[] }

/** Fee tiers every V3 factory begins with, and the one that was added to all of them. */
export const usualFees: readonly number[] = [100, 500, 3_000, 10_000]

/** Every route straight to the token and over one hub, of each exchange there is. */
export function listRoutes(input: {
  from: string
  to: string
  hubs: readonly string[]
  v2: boolean
  /** Undefined: there is no V3. */
  fees: readonly number[] | undefined
}): Route[] {
  const { from, to, fees } = input
  if (from === to) return []
  const hubs = [...new Set(input.hubs)].filter((hub) => hub !== from && hub !== to)
  const paths = [[from, to], ...hubs.map((hub) => [from, hub, to])]
  const v2: Route[] = input.v2 ? paths.map((tokens) => ({ exchange: 'v2', tokens })) : []
  const v3: Route[] = paths.flatMap((tokens) =>
    combineFees(fees ?? [], tokens.length - 1).map((of): Route => ({ exchange: 'v3', tokens, fees: of })),
  )
  return [...v2, ...v3]
}

/** Each way to give every hop a fee. */
function combineFees(fees: readonly number[], hops: number): number[][] {
  if (hops === 0) return fees.length === 0 ? [] : [[]]
  return combineFees(fees, hops - 1).flatMap((before) => fees.map((fee) => [...before, fee]))
}

/** A route with what it was quoted to give. `ticks`: initialised ticks it crosses in V3 pools. */
export type Quoted = { route: Route; amountOut: bigint; ticks: number }

const transactionGas = 80_000n
const v2HopGas = 60_000n
const v3HopGas = 85_000n
const tickGas = 31_000n

/**
 * The expected gas of a swap by a route: by its hops and the ticks it crosses, so that it does not depend on which route was
 * quoted first and warmed a pool for the others.
 */
export function estimateRouteGas({ route, ticks }: Pick<Quoted, 'route' | 'ticks'>): bigint {
  const hops = BigInt(route.tokens.length - 1)
  return transactionGas + hops * (route.exchange === 'v2' ? v2HopGas : v3HopGas) + BigInt(ticks) * tickGas
}

/** The cost of gas in the output token: `out` of it for `gas`. */
export type GasValue = { gas: bigint; out: bigint }

export const toOut = (gas: bigint, value: GasValue): bigint => (gas * value.out) / value.gas

export type Ranked = Quoted & { gas: bigint; netOut: bigint }

/** The route with the greatest output after gas; the first of equals. Undefined if no route has any output. */
export function findBestRoute(quoted: readonly Quoted[], value: GasValue): Ranked | undefined {
  let best: Ranked | undefined
  for (const each of quoted) {
    if (each.amountOut === 0n) continue
    const gas = estimateRouteGas(each)
    const netOut = each.amountOut - toOut(gas, value)
    if (!best || netOut > best.netOut) best = { ...each, gas, netOut }
  }
  return best
}
