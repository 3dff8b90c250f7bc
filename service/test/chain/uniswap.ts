import { type Address, erc20Abi, maxUint256 } from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import type { World } from '../actionWorld.js'
import { readPublished } from '../published.js'

/** ABI and bytecode as published in the npm packages of Uniswap. */
const published = (path: string) => readPublished(`@uniswap/${path}`)

const v2Factory = published('v2-core/build/UniswapV2Factory.json')
const v2Router = published('v2-periphery/build/UniswapV2Router02.json')
const v3Factory = published('v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json')
const v3Router = published('v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json')
const v3Router02 = published('swap-router-contracts/artifacts/contracts/SwapRouter02.sol/SwapRouter02.json')
const v3Quoter = published('v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json')
const positions = published(
  'v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
)

const farAway = 4_000_000_000n
const lowestTick = -887_272
const spacings: Readonly<Record<number, number>> = { 500: 10, 3000: 60, 10000: 200 }

/** Uniswap V2 and V3 as published, on the chain of a world that has its wrapped native token, set up for it. */
export async function openUniswap(world: World, wrapped: Address, hubTokens: readonly Address[] = []) {
  const { deploy } = world.anvil
  const owner = account(0)
  const v2 = { factory: await deploy({ ...v2Factory, args: [owner.address] }), router: '0x' as Address }
  v2.router = await deploy({ ...v2Router, args: [v2.factory, wrapped] })
  const factory = await deploy({ ...v3Factory, args: [] })
  const v3 = {
    factory,
    router: await deploy({ ...v3Router, args: [factory, wrapped] }),
    quoter: await deploy({ ...v3Quoter, args: [factory, wrapped] }),
    fees: [500, 3_000, 10_000],
  }
  const manager = await deploy({ ...positions, args: [factory, wrapped, wrapped] })
  type Change = { hubTokens?: readonly Address[]; v2?: Address; v3?: Address; routerKind?: 'swap-router-02' }
  const configure = async (change: Change = {}) => {
    const settings = {
      hubTokens: (change.hubTokens ?? hubTokens).map(lower),
      uniswapV2: { factory: lower(v2.factory), router: lower(change.v2 ?? v2.router) },
      uniswapV3: {
        fees: v3.fees,
        factory: lower(factory),
        router: lower(change.v3 ?? v3.router),
        quoter: lower(v3.quoter),
        ...(change.routerKind ? { routerKind: change.routerKind } : {}),
      },
    }
    await world.earn.db`
      update chains set swap = ${JSON.stringify(settings)}::text::jsonb where chain_id = ${world.chainId}`
    await world.refresh()
  }
  await configure()
  const fund = async (token: Address, spender: Address, amount: bigint) => {
    if (lower(token) === lower(wrapped)) {
      const { client, done } = world.anvil
      await done(client.sendTransaction({ to: wrapped, data: '0xd0e30db0', value: amount, account: owner }))
    } else await world.mint(token, owner.address, amount)
    await world.write(token, erc20Abi, 'approve', [spender, maxUint256])
  }
  return {
    v2,
    v3,
    /** Sets up what was deployed again, with other hubs or with a router that is something else. */
    configure,
    /** Sets up SwapRouter02 in place of SwapRouter. */
    useRouter02: async () => {
      const v3Of02 = await deploy({ ...v3Router02, args: [v2.factory, factory, manager, wrapped] })
      await configure({ v3: v3Of02, routerKind: 'swap-router-02' })
      return v3Of02
    },
    /** A V2 pool of two tokens with these reserves. */
    v2Pool: async (a: Address, b: Address, reserveA: bigint, reserveB: bigint) => {
      await fund(a, v2.router, reserveA)
      await fund(b, v2.router, reserveB)
      const args = [a, b, reserveA, reserveB, 0n, 0n, owner.address, farAway]
      await world.write(v2.router, v2Router.abi, 'addLiquidity', args)
    },
    /** A V3 pool at the price the amounts have, its liquidity from end to end, or `width` ticks around the price. */
    v3Pool: async (a: Address, b: Address, fee: number, amountA: bigint, amountB: bigint, width?: number) => {
      await fund(a, manager, amountA)
      await fund(b, manager, amountB)
      const inOrder = lower(a) < lower(b)
      const [token0, token1] = inOrder ? [a, b] : [b, a]
      const [amount0, amount1] = inOrder ? [amountA, amountB] : [amountB, amountA]
      const price = squareRoot((amount1 << 192n) / amount0)
      await world.write(manager, positions.abi, 'createAndInitializePoolIfNecessary', [token0, token1, fee, price])
      const spacing = spacings[fee] ?? 1
      const round = (tick: number) => Math.trunc(tick / spacing) * spacing
      const tick = Math.round(Math.log(Number(amount1) / Number(amount0)) / Math.log(1.0001))
      const [tickLower, tickUpper] =
        width === undefined ? [round(lowestTick), -round(lowestTick)] : [round(tick - width), round(tick + width)]
      const range = { token0, token1, fee, tickLower, tickUpper, amount0Desired: amount0, amount1Desired: amount1 }
      const rest = { amount0Min: 0n, amount1Min: 0n, recipient: owner.address, deadline: farAway }
      await world.write(manager, positions.abi, 'mint', [{ ...range, ...rest }])
    },
  }
}

const lower = (address: Address) => address.toLowerCase()

/** The largest integer whose square is not above. */
function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (let next = (root + value / root) >> 1n; next < root; next = (root + value / root) >> 1n) root = next
  return root
}
