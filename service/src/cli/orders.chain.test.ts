import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type OrderWorld, openOrderWorld } from '../../test/chain/orderWorld.js'
import { urlOf } from '../../test/database.js'
import { listSubmitted } from '../features/orders/index.js'
import { orders } from './orders.js'

let world: OrderWorld
let filled: string
let open: string

beforeAll(async () => {
  world = await openOrderWorld()
  vi.stubEnv('DATABASE_URL', urlOf(world.world.earn.target))
  vi.stubEnv('SUDO_USER', '')
  const first = await world.open({ amountIn: '1000000' })
  filled = first.orderId
  await world.settlement.settle(first.built, first.signature)
  await world.world.sync()
  const { clock } = world.world.earn
  clock.set(new Date(clock.now().getTime() + 1_000))
  open = (await world.open({ amountIn: '2000000' })).orderId
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await world?.world.close()
})

async function run(...words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await orders.run(words)
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}

const idsOf = (said: string) =>
  said
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(' ')[0])

describe('openearn orders', () => {
  it('lists the newest orders first, of a chain and of an organization where it is asked for one', async () => {
    const said = await run('list')
    expect(idsOf(said)).toEqual([open, filled])
    expect(said).toMatch(new RegExp(`^${open} +open +${world.world.chainId} +${world.world.distributorId} `, 'm'))
    expect(said).toMatch(new RegExp(`^${filled} +filled .* 1000000 +`, 'm'))
    expect(idsOf(await run('list', '--limit', '1'))).toEqual([open])
    expect(await run('list', '--chain', String(world.world.chainId))).toBe(said)
    expect(idsOf(await run('list', '--chain', '1'))).toEqual([])
    const [{ id = '' } = {}] = await world.world.earn.db<{ id: string }[]>`
      select organization_id as id from swap_orders where id = ${open}`
    expect(await run('list', '--organization', id)).toBe(said)
    expect(idsOf(await run('list', '--organization', open))).toEqual([])
  })

  it('shows an order as GetSwapOrderStatus does, with its transactions and the one that ends it', async () => {
    const { body } = await world.status(filled)
    const said = await run('show', filled.toUpperCase())
    const { cancellation, txHashes, attempts, ...rest } = body
    expect(attempts).toEqual([])
    for (const [name, value] of Object.entries(rest)) expect(said).toMatch(new RegExp(`^${name} +${value ?? ''}$`, 'm'))
    expect(txHashes).toHaveLength(1)
    expect(said).toMatch(new RegExp(`^txHashes +${txHashes[0]}$`, 'm'))
    expect(said).toMatch(new RegExp(`^cancellation +${cancellation.data} to ${cancellation.to}$`, 'm'))
  })

  it('stops an order: it is not looked at any more, once, and the change is kept', async () => {
    const { db } = world.world.earn
    const { orderId } = await world.open({ amountIn: '3000000' })
    expect(await run('stop', orderId.toUpperCase())).toContain(`stopped ${orderId}`)
    expect((await world.status(orderId)).body).toMatchObject({ status: 'failed', error: 'the operator stopped it' })
    const found = { chainId: world.world.chainId, settlement: world.settlement.address.toLowerCase(), timestamp: 0 }
    expect((await listSubmitted(db, found)).map(({ id }) => id)).not.toContain(orderId)
    await expect(run('stop', orderId)).rejects.toThrow(/there is no order/)
    const [kept] = await db<
      { command: string }[]
    >`select command from operator_changes order by at desc, id desc limit 1`
    expect(kept?.command).toBe(`orders stop ${orderId}`)
  })

  it('says what it wants where it is asked for nothing there is', async () => {
    const wrong: [string[], RegExp][] = [
      [[], /say list, show or stop/],
      [['drop'], /say list, show or stop/],
      [['list', '--chain', 'one'], /--chain must be the id of a chain/],
      [['list', '--limit', '0'], /--limit must be a whole number of at least 1/],
      [['list', '--organization', 'acme'], /--organization must be the id.*`openearn orgs list`/],
      [['show'], /name the order by its id/],
      [['show', 'first'], /name the order by its id/],
      [['stop'], /name the order by its id/],
      [['stop', '00000000-0000-4000-8000-000000000000'], /there is no order 00000000.*that was submitted/],
      [['show', '00000000-0000-4000-8000-000000000000'], /there is no order 00000000/],
    ]
    for (const [words, says] of wrong) await expect(run(...words), words.join(' ')).rejects.toThrow(says)
  })
})
