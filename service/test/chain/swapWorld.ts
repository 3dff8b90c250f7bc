import type { Address } from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import { openWorld, type World } from '../actionWorld.js'
import { openUniswap } from './uniswap.js'

export type Wanted = NonNullable<Parameters<World['token']>[0]> & { hub?: true }

export type SwapWorld<W extends readonly Wanted[] = readonly Wanted[]> = Awaited<
  ReturnType<typeof openSwapWorldWith<W>>
>

/** A world with Uniswap and the tokens that are wanted; routes may pass the wrapped native token, and those that are hubs. */
export async function openSwapWorld<const W extends readonly Wanted[]>(...wanted: W) {
  return openSwapWorldWith({}, ...wanted)
}

/** The same with options of the world. */
export async function openSwapWorldWith<const W extends readonly Wanted[]>(
  options: NonNullable<Parameters<typeof openWorld>[0]>,
  ...wanted: W
) {
  const world = await openWorld(options)
  const weth = await world.wrappedNative()
  const tokens: Address[] = []
  for (const options of wanted) tokens.push(await world.token(options))
  const hubs = tokens.filter((_, at) => wanted[at]?.hub)
  return {
    world,
    weth,
    tokens: tokens as { [at in keyof W]: Address },
    exchange: await openUniswap(world, weth, [weth, ...hubs]),
    /** Asks for a swap of the first account. */
    swap: (query: Record<string, string | number | boolean>) =>
      world.earn.call('GetSwap', {
        query: {
          ...{ user: account(1).address, chainId: world.chainId, distributorId: world.distributorId, slippageBps: 50 },
          ...query,
        },
      }),
  }
}
