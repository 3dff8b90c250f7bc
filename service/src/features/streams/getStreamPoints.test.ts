import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'

let world: StreamWorld
beforeAll(async () => {
  world = await openStreamWorld()
})
afterAll(() => world.close())

describe('200', () => {
  it('lists points of all organizations; a symbol compares without case, a name exactly', async () => {
    const own = await world.point('ABC')
    const foreign = await world.point('ABC', await world.earn.organization())
    const get = async (query: Record<string, string>) => {
      const { body } = await world.earn.call('GetStreamPoints', { query })
      return body.points.map(({ id }: { id: string }) => id).sort()
    }
    expect(await get({ symbol: 'abc' })).toEqual([own, foreign].sort())
    expect(await get({ orgId: world.earn.organizationId })).toEqual([own])
    expect(await get({ id: foreign })).toEqual([foreign])
    expect(await get({ name: 'points' })).toEqual([])
    expect(await get({ name: 'Points' })).toHaveLength(2)
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('wants a uuid', async () => {
    expect((await world.earn.call('GetStreamPoints', { query: { id: 'x' } })).status).toBe(400)
  })
})
