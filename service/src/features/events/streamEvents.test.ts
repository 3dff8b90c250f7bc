import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { flushEvents } from '../../../test/flushEvents.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import type { Fact } from '../../postgres/context.js'
import { inTransaction } from '../../postgres/pool.js'
import { tell } from './index.js'

const wallet = '0x00000000000000000000000000000000000000A1'
const other = '0x00000000000000000000000000000000000000a2'
const opportunity = '11111111-2222-4333-8444-555555555555'

let earn: Earn
let baseUrl: string
beforeAll(async () => {
  earn = await openEarn({ config: { streamsPerAddress: 5 } })
  baseUrl = await earn.service.publicApp.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => earn?.close())

const fact = (id: string, more: Partial<Fact> = {}): Fact => ({
  type: 'interaction.confirmed',
  at: new Date('2026-11-20T11:00:00Z'),
  chainId: 31337,
  subject: { kind: 'wallet', id: wallet },
  data: { id, opportunityId: opportunity },
  ...more,
})

const tellNow = async (...facts: Fact[]) => {
  await inTransaction(earn.db, (tx) => tell(tx, facts))
  await flushEvents(earn.db)
}

type Frame = { id?: string; event?: string; data?: { data: { id: string }; reason?: string } }

/** An open stream. `next` waits for the next frame that has data. */
async function open(subject: string, headers: Record<string, string> = {}) {
  const ending = new AbortController()
  const response = await fetch(`${baseUrl}/v2/events/live?subject=${subject}`, {
    headers: { 'X-API-Key': earn.publishable, ...headers },
    signal: ending.signal,
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next = async (): Promise<Frame | undefined> => {
    for (;;) {
      const at = text.indexOf('\n\n')
      if (at >= 0) {
        const lines = text.slice(0, at).split('\n')
        text = text.slice(at + 2)
        const read = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
        const data = read('data')
        if (data === undefined) continue
        const [id, event] = [read('id'), read('event')]
        return { ...(id && { id }), ...(event && { event }), data: JSON.parse(data) as NonNullable<Frame['data']> }
      }
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
      if (done) return undefined
      text += value
    }
  }
  return { response, next, idOf: async () => (await next())?.data?.data.id, close: () => ending.abort() }
}

describe('StreamEvents 200', () => {
  it('sends each event of a wallet as it is told, with its cursor as id, and nothing of others', async () => {
    const stream = await open(`wallet:${wallet.toLowerCase()}`)
    expect(stream.response.status).toBe(200)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
    expect(stream.response.headers.get('x-request-cost')).toBe('1')
    await tellNow(fact('a'), fact('b', { subject: { kind: 'wallet', id: other } }), fact('c'))
    const first = await stream.next()
    expect(first?.data?.data.id).toBe('a')
    const page = await earn.call('GetEvents', { query: { after: first?.id ?? '' }, key: earn.secret })
    expect(page.body.data.map((event: { data: { id: string } }) => event.data.id)).toEqual(['b', 'c'])
    expect(await stream.idOf()).toBe('c')
    stream.close()
  })

  it('follows an opportunity, and facts of an order for its own organization alone', async () => {
    const order = '99999999-2222-4333-8444-555555555555'
    const key = await earn.key({ kind: 'publishable', organizationId: await earn.organization() })
    const [ofVault, ofOrder, foreign] = await Promise.all([
      open(`opportunity:${opportunity.toUpperCase()}`),
      open(`order:${order}`),
      open(`order:${order}`, { 'X-API-Key': key }),
    ])
    const subject = { kind: 'order', id: order } as const
    await tellNow(fact('own', { subject, organizationId: earn.organizationId, data: { id: 'own' } }))
    await tellNow(fact('all', { subject }))
    expect([await ofOrder.idOf(), await ofOrder.idOf()]).toEqual(['own', 'all'])
    expect(await foreign.idOf()).toBe('all')
    expect(await ofVault.idOf()).toBe('all')
    for (const stream of [ofVault, ofOrder, foreign]) stream.close()
  })

  it('goes on after Last-Event-ID without a gap or a repeat, also while events come', async () => {
    const first = await open(`wallet:${wallet}`)
    await tellNow(fact('e0'))
    const id = (await first.next())?.id ?? ''
    first.close()
    await tellNow(...Array.from({ length: 40 }, (_, index) => fact(`e${index + 1}`)))
    const [again] = await Promise.all([
      open(`wallet:${wallet}`, { 'Last-Event-ID': id }),
      tellNow(...Array.from({ length: 20 }, (_, index) => fact(`e${index + 41}`))),
    ])
    for (let index = 1; index <= 60; index++) expect(await again.idOf()).toBe(`e${index}`)
    again.close()
  })

  it('says first that a cursor is lost, and goes on from now', async () => {
    const stream = await open(`wallet:${wallet}`, { 'Last-Event-ID': '77777-abcdefabcdef' })
    const lost = await stream.next()
    expect(lost?.event).toBe('gone')
    expect(lost?.data?.reason).toBe('CURSOR_GONE')
    await tellNow(fact('later'))
    expect(await stream.idOf()).toBe('later')
    stream.close()
  })
})

describe('StreamEvents 400, 401 and 429', () => {
  it.each(['wallet', 'wallet:0x12', 'vault:1', `order:${wallet}`, ''])('refuses the subject "%s"', async (subject) => {
    expect((await earn.call('StreamEvents', { query: { subject } })).status).toBe(400)
  })

  it('refuses a Last-Event-ID that is no cursor, and a call without a key', async () => {
    const input = { query: { subject: `wallet:${wallet}` }, headers: { 'last-event-id': 'x' } }
    expect((await earn.call('StreamEvents', input)).status).toBe(400)
    expect((await earn.call('StreamEvents', { ...input, key: null })).status).toBe(401)
  })

  it('refuses the sixth stream of an address, and has room again once one is closed', async () => {
    const streams = await Promise.all(Array.from({ length: 5 }, () => open(`wallet:${wallet}`)))
    const sixth = await open(`wallet:${wallet}`)
    expect(sixth.response.status).toBe(429)
    expect(sixth.response.headers.get('retry-after')).toBe('60')
    streams[0]?.close()
    const opened = async () => {
      const again = await open(`wallet:${wallet}`)
      again.close()
      return again.response.status
    }
    await expect.poll(opened).toBe(200)
    for (const stream of streams) stream.close()
  })
})
