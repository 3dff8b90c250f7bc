import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallInput } from '../../../test/harness.js'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'

const [cat, dog] = ['ca', 'd0'].map((byte) => `0x${byte.repeat(20)}`) as [string, string]
let world: StreamWorld
let id: string
beforeAll(async () => {
  world = await openStreamWorld()
  id = await world.stream()
  const claim = (at: number, wallet: string, amount: string, of = id) =>
    world.event(of, 'claimed', { at, wallet, amount, total: amount })
  await claim(910, cat, '5')
  await claim(930, dog, '7')
  await claim(930, cat, '11')
  await claim(world.confirmed, dog, '13')
  await claim(world.confirmed + 1, cat, '17')
  await claim(940, cat, '19', await world.stream())
  await world.event(id, 'root', { at: 920, root: `0x${'ee'.repeat(32)}`, rootAt: world.timeOf(920), total: '99' })
})
afterAll(() => world.close())

const call = (input: CallInput = {}) => world.earn.call('GetStreamClaims', { params: { id }, ...input })
const amounts = ({ body }: Awaited<ReturnType<typeof call>>) =>
  body.data.map(({ amount }: { amount: string }) => amount)

describe('200', () => {
  it('lists the confirmed claims of this stream alone, the newest first, within a block the later first', async () => {
    const answer = await call()
    expect(amounts(answer)).toEqual(['13', '11', '7', '5'])
    const last = { page: 1, limit: 20, total: 4, totalPages: 1, hasNext: false, hasPrevious: false }
    expect(answer.body.pagination).toEqual(last)
    expect(answer.body.data[3]).toEqual({
      ...{ userAddress: getAddress(cat), amount: '5', txHash: `0x${'ab'.repeat(32)}`, blockNumber: 910 },
      blockTimestamp: world.timeOf(910).toISOString().replace('.000', ''),
    })
  })

  it('gives pages that follow each other, and an empty one past the end', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => call({ query: { page, limit: 3 } })))
    expect(pages.map(amounts)).toEqual([['13', '11', '7'], ['5'], []])
    expect(pages.map(({ body }) => [body.pagination.hasNext, body.pagination.hasPrevious])).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ])
  })

  it('answers a publishable and a secret key of any organization alike, for 2 units', async () => {
    const [publishable, secret] = await Promise.all([call(), call({ key: world.stranger })])
    expect(secret.body).toEqual(publishable.body)
    expect([publishable, secret].map(({ headers }) => headers['x-request-cost'])).toEqual(['2', '2'])
  })

  it('is empty where nothing was claimed, and of a stream of points', async () => {
    const points = await world.stream({ pointId: await world.point() })
    for (const other of [await world.stream(), points]) {
      const { status, body } = await call({ params: { id: other } })
      expect([status, body.data, body.pagination.total]).toEqual([200, [], 0])
    }
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each([{ page: 'x' }, { limit: '1.5' }, { pageSize: 'all' }])('wants integers: %o', async (query) => {
    expect((await call({ query })).status).toBe(400)
  })

  it('wants a uuid', async () => {
    expect((await call({ params: { id: 'x' } })).status).toBe(400)
  })
})

describe('401 UNAUTHORIZED', () => {
  it('wants a key', async () => {
    expect((await call({ key: null })).status).toBe(401)
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no stream that is not there, and none whose creation is not confirmed', async () => {
    const unsent = await world.stream({ createdBlock: null })
    for (const other of ['01890a5d-ac96-774b-bcce-b302099a8057', unsent])
      expect((await call({ params: { id: other } })).status).toBe(404)
  })
})
