import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { committer, openOperatorWorld, operatorToken, solver } from '../../../test/operatorWorld.js'
import { streamsNow } from '../../../test/streamWorld.js'

let world: Awaited<ReturnType<typeof openOperatorWorld>>
beforeAll(async () => {
  world = await openOperatorWorld()
})
afterAll(() => world?.close())

async function read(name: string) {
  const headers = { authorization: `Bearer ${operatorToken}` }
  const answer = await world.earn.service.opsApp.inject({ url: `/ops/v1/${name}.json`, headers })
  expect([answer.statusCode, answer.json().at]).toEqual([200, new Date(streamsNow).toISOString()])
  return answer.json()
}

describe('the lists of the operator', () => {
  it('tell of a vault how many of the balances that were compared differ', async () => {
    const { data } = await read('vaults')
    expect(data).toMatchObject([{ chainId: world.chainId, samples: 20, mismatches: 3, checkedBlock: 990 }])
  })

  it('tell of a key what it has spent, or may by what it signed, in 24 hours: in the smallest unit, as text', async () => {
    const { data } = await read('senders')
    // 0.001234 of the one that was mined, and 0.0015 that the one on its way may cost.
    expect(data).toMatchObject([
      {
        chainId: 1,
        address: solver,
        stopped: 'it has a transaction that is not ours',
        open: 0,
        spentDay: '0',
        spentDayMax: '1000000000000000000',
      },
      {
        chainId: world.chainId,
        address: committer,
        stopped: null,
        open: 3,
        spentDay: '2734000000000000',
        spentDayMax: '1000000000000000000',
      },
      { chainId: world.chainId, address: solver, open: 1, spentDay: '6100000000000000' },
    ])
    expect(data[1].oldestId).toBe(world.transactions.held)
  })

  it('have the transactions that are not over, the newest first, without their bytes', async () => {
    const { data, limit } = await read('transactions')
    const { held, sent, over } = world.transactions
    const ids = data.map(({ id }: { id: string }) => id)
    expect([limit, ids[0], ids.at(-1), ids.includes(over)]).toEqual([200, sent, held, false])
    expect(data.at(-1)).toMatchObject({ state: 'queued', held: 'noFunds', costMax: '20000000000000001', nonce: null })
    expect(data[0]).toMatchObject({ state: 'sent', nonce: 4, reserved: '1500000000000000' })
    expect(Object.keys(data[0])).not.toContain('data')
  })

  it('have the settlements of orders, open ones first, with what they cost', async () => {
    const { open, reverted } = world.settlements
    expect((await read('settlements')).data).toMatchObject([
      { ...open, isOpen: true, state: 'queued', outcome: null, cost: null, costMax: '7000000000000000' },
      { ...reverted, isOpen: false, state: 'reverted', outcome: 'reverted', cost: '6100000000000000' },
    ])
  })

  it('have the streams of which a root awaits something, and say which of them can be vetoed', async () => {
    const { data } = await read('streams')
    const vetoable = data.filter((each: { isVetoable: boolean }) => each.isVetoable).map(({ id }: { id: string }) => id)
    const { fresh, due, cancelled } = world.streams
    expect(vetoable.sort()).toEqual([fresh, due, cancelled].sort())
    expect(data.find(({ id }: { id: string }) => id === fresh).total).toBe('1000000000000000001')
  })

  it('tell of an import how many entries it added, changed and removed, and of none what was not kept', async () => {
    expect(await read('imports')).toMatchObject({
      limit: 20,
      data: [
        { osUser: 'ada', added: 2, changed: 1, removed: 1, more: 7, differences: [{ change: 'changed' }, {}, {}, {}] },
        { added: 0, changed: 0, removed: 0, more: 0, differences: null },
      ],
    })
  })

  it('name keys by their hints, and no origin, permission or hash of them', async () => {
    const { data } = await read('keys')
    expect(data.length).toBeGreaterThanOrEqual(4)
    for (const key of data) expect(Object.keys(key)).not.toContain('origins')
    expect(data.find(({ name }: { name: string }) => name === 'shop')).toMatchObject({
      ...{ hourlyUnits: 12_345, monthlyUnits: 1_234_567, addressUnits: 2_469 },
    })
    expect(JSON.stringify(data)).not.toContain('hash')
  })
})
