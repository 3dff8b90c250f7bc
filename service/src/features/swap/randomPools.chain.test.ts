import { type Address, concat, type Hex, numberToHex, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSwapWorld, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'
import { seed, seededRandom, times } from '../../../test/seed.js'

/** 2 in CI; `TEST_TIMES=100` is the long form. */
const graphs = 2 * times

const quoterAbi = parseAbi([
  'function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amountOut, uint160[] prices, uint32[] ticks, uint256 gas)',
])
const routerAbi = parseAbi(['function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[])'])

let opened: SwapWorld<readonly [Wanted, Wanted, Wanted]>
beforeAll(async () => {
  opened = await openSwapWorld({ pegUsd: '1' }, { decimals: 18 }, { hub: true, decimals: 8 })
})
afterAll(() => opened.world.close())

const fees = [500, 3_000, 10_000]
/** Where the quoter stops a pool that has nothing left to give. */
const [priceMin, priceMax] = [4_295_128_740n, 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n]
type Net = { out: bigint; gas: bigint }

/** What a route gives, asked for alone, and the gas it is reckoned with; undefined where it cannot take the amount. */
async function quoteV2(path: Address[], amountIn: bigint): Promise<Net | undefined> {
  const { world, exchange } = opened
  const asked = { address: exchange.v2.router, abi: routerAbi, functionName: 'getAmountsOut' } as const
  const amounts = await world.anvil.client.readContract({ ...asked, args: [amountIn, path] }).catch(() => undefined)
  return amounts && { out: amounts.at(-1) ?? 0n, gas: 80_000n + 60_000n * BigInt(path.length - 1) }
}

async function quoteV3(path: Address[], by: number[], amountIn: bigint): Promise<Net | undefined> {
  const { world, exchange } = opened
  const bytes = concat([
    path[0] as Hex,
    ...by.flatMap((fee, at): Hex[] => [numberToHex(fee, { size: 3 }), path[at + 1] as Hex]),
  ])
  const asked = { address: exchange.v3.quoter, abi: quoterAbi, functionName: 'quoteExactInput' } as const
  const found = await world.anvil.client
    .simulateContract({ ...asked, args: [bytes, amountIn] })
    .then(({ result }) => result)
    .catch(() => undefined)
  if (!found) return undefined
  const [out, prices, ticks] = found
  // A pool that stands at the end of its prices did not take the whole amount.
  if (prices.some((price) => price <= priceMin || price >= priceMax)) return undefined
  const crossed = ticks.reduce((sum, each) => sum + BigInt(each), 0n)
  return { out, gas: 80_000n + 85_000n * BigInt(by.length) + 31_000n * crossed }
}

/** Each direct and one-hop route there is, asked for one by one. */
async function quoteAll(from: Address, to: Address, hubs: Address[], amountIn: bigint): Promise<Net[]> {
  const paths = [[from, to], ...hubs.filter((each) => each !== from && each !== to).map((hub) => [from, hub, to])]
  const found = await Promise.all(
    paths.flatMap((path) => [
      quoteV2(path, amountIn),
      ...fees.flatMap((first) =>
        path.length === 2
          ? [quoteV3(path, [first], amountIn)]
          : fees.map((second) => quoteV3(path, [first, second], amountIn)),
      ),
    ]),
  )
  return found.filter((each) => each !== undefined)
}

const greatest = (values: readonly bigint[]) => values.toSorted((a, b) => (a < b ? 1 : -1))[0] ?? 0n

it(`is the best of all direct and one-hop routes after gas, by brute force, over ${graphs} random graphs of V2 and V3 pools (seed ${seed})`, async () => {
  const { world, exchange, weth, tokens } = opened
  const [from, to, hub] = tokens
  const { client } = world.anvil
  const random = seededRandom()
  const units = new Map<Address, bigint>([
    [from, 10n ** 6n],
    [to, 10n ** 18n],
    [hub, 10n ** 8n],
    [weth, 10n ** 15n],
  ])
  const pairs: [Address, Address][] = [
    [from, to],
    [from, hub],
    [hub, to],
    [from, weth],
    [weth, to],
  ]
  let routed = 0
  let overHub = 0
  for (let graph = 0; graph < graphs; graph++) {
    const before = await client.snapshot()
    for (const [a, b] of pairs)
      for (const fee of [0, ...fees]) {
        if (random.int(0, 99) >= 40) continue
        const [x, y] = [a, b].map((token) => units.get(token)! * BigInt(random.int(1_000, 9_000)))
        if (fee === 0) await exchange.v2Pool(a, b, x!, y!)
        else await exchange.v3Pool(a, b, fee, x!, y!, random.int(0, 2) === 0 ? 6_000 : undefined)
      }
    const amountIn = units.get(from)! * BigInt(random.int(1, 900))
    const answer = await opened.swap({ tokenIn: from, tokenOut: to, amountIn: String(amountIn), simulate: false })
    const gasPrice = await client.getGasPrice()
    const worth = await quoteAll(weth, to, [hub], 200_000n * gasPrice)
    const most = greatest(worth.map(({ out }) => out))
    const netOf = ({ out, gas }: Net) => out - (gas * most) / (200_000n * gasPrice)
    const nets = (await quoteAll(from, to, [hub, weth], amountIn)).filter(({ out }) => out > 0n).map(netOf)
    if (nets.length === 0) expect(answer.body.reason, answer.text).toBe('NO_ROUTE')
    else {
      expect(answer.status, answer.text).toBe(200)
      const { amountOut, gas, route } = answer.body.transactions.at(-1).metadata
      expect(netOf({ out: BigInt(amountOut), gas: BigInt(gas) }), `graph ${graph}`).toBe(greatest(nets))
      routed += 1
      if (route.length > 1) overHub += 1
    }
    await client.revert({ id: before })
  }
  console.info(
    `${graphs} random graphs of pools, seed ${seed}: ${routed} routed, ${overHub} of them over a hub, 0 not the best`,
  )
}, 3_600_000)
