import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { incentivize, openStreamWorld, type StreamWorld, streamsNow } from '../../../test/streamWorld.js'

let world: StreamWorld
beforeAll(async () => {
  world = await openStreamWorld()
})
afterAll(() => world.close())

const create = (body: Record<string, unknown>, key = world.secret) =>
  world.earn.call('CreateStreamPoint', { body, key })

describe('200', () => {
  it('creates points with 18 decimals unless told otherwise, the symbol trimmed and in capitals', async () => {
    const { body } = await create({ symbol: ' glow ', name: 'Glow', decimals: null })
    expect(body.point).toEqual({
      ...{ id: body.point.id, orgId: world.earn.organizationId, symbol: 'GLOW', name: 'Glow', decimals: 18 },
      ...{ logoUrl: null, createdAt: streamsNow, updatedAt: streamsNow },
    })
    const found = await world.earn.call('GetStreamPoints', { query: { id: body.point.id } })
    expect(found.body.points).toEqual([body.point])
  })

  it('takes the permission to create alone', async () => {
    const key = await world.earn.key({ kind: 'secret', permissions: [`${incentivize}:create`] })
    expect((await create({ symbol: 'ONLY', name: 'x', decimals: 0 }, key)).body.point.decimals).toBe(0)
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each([
    { symbol: '  ', name: 'x' },
    { symbol: 'X'.repeat(33), name: 'x' },
    { symbol: 'X', name: ' ' },
    { symbol: 'X', name: 'x', decimals: 37 },
    { symbol: 'X', name: 'x', logoUrl: 'javascript:x' },
    { name: 'x' },
  ])('refuses %o', async (body) => {
    expect((await create(body)).status).toBe(400)
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses a publishable key and one without a permission', async () => {
    expect((await create({ symbol: 'NO', name: 'x' }, world.earn.publishable)).status).toBe(403)
    expect((await create({ symbol: 'NO', name: 'x' }, world.earn.secret)).status).toBe(403)
  })
})

describe('an answer that is kept', () => {
  it('is given to no key without the permission', async () => {
    const ask = (key: string) => {
      const headers = { 'idempotency-key': 'kept-once' }
      return world.earn.call('CreateStreamPoint', { body: { symbol: 'KEPT', name: 'x' }, key, headers })
    }
    expect((await ask(world.secret)).status).toBe(200)
    expect((await ask(world.secret)).headers['idempotency-replayed']).toBe('true')
    expect((await ask(world.earn.secret)).status).toBe(403)
  })
})

describe('409 CONFLICT', () => {
  it('refuses a symbol twice, in one organization', async () => {
    expect((await create({ symbol: 'dup', name: 'x' })).status).toBe(200)
    expect((await create({ symbol: 'DUP', name: 'y' })).status).toBe(409)
    expect((await create({ symbol: 'dup', name: 'x' }, world.stranger)).status).toBe(200)
  })
})
