import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'
import { derivedId } from '../../kernel/ids.js'

let world: StreamWorld
beforeAll(async () => {
  world = await openStreamWorld()
})
afterAll(() => world.close())

describe('200', () => {
  it('lists active tokens by chain and address, each with the id of its place and whether streams may pay it', async () => {
    const { body } = await world.earn.call('GetStreamTokens', { query: { chainId: world.chainId } })
    const shown = body.tokens.map(({ symbol, isAllowedRewardToken }: Record<string, unknown>) => [
      symbol,
      isAllowedRewardToken,
    ])
    expect(shown).toEqual([
      ['RWD', true],
      ['yTUSD', false],
      ['PLAIN', false],
    ])
    expect(body.tokens[0].id).toBe(derivedId(`token:31337:${world.token.reward}`))
    expect((await world.earn.call('GetStreamTokens')).body.tokens).toHaveLength(3)
    expect((await world.earn.call('GetStreamTokens', { query: { chainId: 5 } })).body).toEqual({ tokens: [] })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('wants a chain id', async () => {
    expect((await world.earn.call('GetStreamTokens', { query: { chainId: 0 } })).status).toBe(400)
  })
})
