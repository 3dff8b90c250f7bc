import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'

let world: StreamWorld
beforeAll(async () => {
  world = await openStreamWorld()
})
afterAll(() => world.close())

const get = (id: string, key = world.secret) => world.earn.call('GetActiveAdminOperation', { params: { id }, key })
const open = async () => {
  const id = await world.stream()
  const { body } = await world.earn.call('IncreaseStreamBudget', {
    params: { id },
    body: { amount: '5' },
    key: world.secret,
  })
  return { id, body }
}

describe('200', () => {
  it('shows the same parameters, and blocks on while its execution is not confirmed', async () => {
    const { id, body } = await open()
    expect((await get(id)).body).toEqual(body)
    const { salt } = body.txParams.params
    await world.event(id, 'funds-added', { salt, amount: '5', fee: '1', at: world.confirmed + 1 })
    expect((await get(id)).body).toEqual({ ...body, executed: true, executedTxHash: `0x${'ab'.repeat(32)}` })
    await world.db`delete from stream_events where salt = hex_bytes(${salt})`
    expect((await get(id)).body).toEqual(body)
    await world.event(id, 'funds-added', { salt, amount: '5', fee: '1', at: world.confirmed })
    expect((await get(id)).status).toBe(404)
  })

  it('says a later time to come once the time it gave has passed without a confirmed block', async () => {
    const { id } = await open()
    world.earn.clock.set('2026-11-20T13:00:00Z')
    expect((await get(id)).body.blockingUntil).toBe('2026-11-20T13:00:48Z')
    world.earn.clock.set('2026-11-20T12:00:00Z')
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('wants a uuid', async () => {
    expect((await get('x')).status).toBe(400)
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses publishable keys, keys without the permission, and other organizations', async () => {
    const { id } = await open()
    expect((await get(id, world.earn.publishable)).status).toBe(403)
    expect((await get(id, world.earn.secret)).status).toBe(403)
    expect((await get(id, world.stranger)).status).toBe(403)
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no stream, and none where nothing is open or what was open has run out', async () => {
    expect((await get('01890a5d-ac96-774b-bcce-b302099a8057')).status).toBe(404)
    expect((await get(await world.stream())).status).toBe(404)
    const { id } = await open()
    await world.advance(world.head + 29)
    expect((await get(id)).status).toBe(404)
  })
})
