import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../../../test/actionWorld.js'
import { openUniswap } from '../../../test/chain/uniswap.js'
import { recordPeg } from '../../prices/index.js'

let world: World
let weth: Address
let hub: Address

beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const details = (query: Record<string, string | number> = {}) => world.earn.call('GetSwapDetails', { query })

describe('200', () => {
  it('lists no chain where nothing is set up', async () => {
    await world.refresh()
    expect((await details({ chainId: world.chainId })).body).toEqual({ chains: [], popularTokens: [] })
  })

  it('lists the chains that can be swapped on, and the tokens of the one that is named', async () => {
    weth = await world.wrappedNative()
    hub = await world.token({ pegUsd: '1' })
    await openUniswap(world, weth, [hub])
    await recordPeg(world.earn.ctx, { chainId: world.chainId, address: weth.toLowerCase() }, '2500.5')
    const { body } = await details()
    const ofChain = { ecosystem: 'evm', logoUrl: '', explorerUrl: '', nativePriceUsd: 2500.5 }
    expect(body).toEqual({
      chains: [{ chainId: '31337', name: 'Devnet', slug: 'devnet', ...ofChain }],
      popularTokens: [],
    })
    const shown = await details({ chainId: world.chainId })
    const [native, wrapped, stable] = shown.body.popularTokens
    expect(native).toMatchObject({ isNative: true, symbol: 'ETH', decimals: 18, priceUsd: 2500.5, chainId: '31337' })
    expect(wrapped).toMatchObject({ isNative: false, address: weth, priceUsd: 2500.5 })
    expect(stable).toMatchObject({ isNative: false, address: hub, priceUsd: 1 })
    expect((await details({ chainId: 4242 })).body).toEqual({ ...body, popularTokens: [] })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses a chain id that is no number', async () => {
    expect((await details({ chainId: 'devnet' })).status).toBe(400)
  })
})
