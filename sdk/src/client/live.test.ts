import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createEarnClient, EarnError, streamEvents } from './index.js'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

let server: Server
let baseUrl: string
const answers: Answer[] = []
const seen: IncomingMessage['headers'][] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(request.headers)
    answers.shift()?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  answers.length = 0
  seen.length = 0
})

const frame = (position: number) =>
  `id: ${position}-abcdefabcdef\ndata: ${JSON.stringify({ cursor: `${position}-abcdefabcdef`, data: { text: 'ü' } })}\n\n`
/** A stream that begins with `retry`, sends parts of text one by one, and then ends, breaks, or stays open. */
const stream =
  (parts: readonly (string | Buffer)[], last: 'end' | 'break' | 'stay' = 'end'): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const rest = ['retry: 1\n\n', ...parts]
    const next = () => {
      const part = rest.shift()
      if (part !== undefined) response.write(part, () => setImmediate(next))
      else if (last === 'end') response.end()
      else if (last === 'break') response.destroy()
    }
    next()
  }
const refuse =
  (code: number, status: string): Answer =>
  (_request, response) =>
    response
      .writeHead(code, { 'content-type': 'application/json' })
      .end(JSON.stringify({ code, status, error: 'no', context: {} }))

const follow = (options = {}) =>
  streamEvents(createEarnClient({ baseUrl, apiKey: 'pk_live_x', retries: 0 }), { subject: 'wallet:0x1' }, options)

async function take(count: number, events: AsyncGenerator<{ cursor: string }, void, undefined>): Promise<number[]> {
  const taken: number[] = []
  for await (const { cursor } of events) {
    taken.push(Number(cursor.split('-')[0]))
    if (taken.length === count) break
  }
  return taken
}

describe('live events', () => {
  it('are read whole, wherever the stream cuts them, and comments are passed over', async () => {
    const bytes = Buffer.from(`${frame(1)}:\n\n${frame(2)}`)
    answers.push(
      stream(
        [...bytes].map((byte) => Buffer.from([byte])),
        'stay',
      ),
    )
    expect(await take(2, follow())).toEqual([1, 2])
    expect(seen[0]).toMatchObject({ 'x-api-key': 'pk_live_x' })
    expect(seen[0]).not.toHaveProperty('last-event-id')
  })

  it('go on after the last one where a stream ends, breaks, or cannot be opened for a while', async () => {
    answers.push(stream([frame(1), frame(2).slice(0, 20)]), stream([frame(2)], 'break'))
    answers.push(refuse(503, 'UNAVAILABLE'), (request) => request.socket.destroy(), stream([frame(3)], 'stay'))
    expect(await take(3, follow({ after: '0-abcdefabcdef' }))).toEqual([1, 2, 3])
    const asked = seen.map((headers) => headers['last-event-id'])
    const [none, one, two] = [0, 1, 2].map((position) => `${position}-abcdefabcdef`)
    expect(asked).toEqual([none, one, two, two, two])
  })

  it.each([
    [401, 'UNAUTHORIZED'],
    [429, 'RESOURCE_EXHAUSTED'],
    [400, 'INVALID_ARGUMENT'],
  ])('throw a refusal that another try would meet again: %i', async (code, status) => {
    answers.push(refuse(code, status))
    await expect(take(1, follow())).rejects.toMatchObject({ code, status, operation: 'StreamEvents' })
    expect(seen).toHaveLength(1)
  })

  it('throw where the last event is lost: what came meanwhile has to be read again', async () => {
    const body = {
      code: 410,
      status: 'GONE',
      error: 'lost',
      context: { oldest: '5-abcdefabcdef' },
      reason: 'CURSOR_GONE',
    }
    answers.push(stream([`event: gone\ndata: ${JSON.stringify(body)}\n\n`], 'stay'))
    const error: unknown = await take(1, follow({ after: '1-abcdefabcdef' })).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(EarnError)
    expect(error).toMatchObject({ code: 410, reason: 'CURSOR_GONE', context: { oldest: '5-abcdefabcdef' } })
  })

  it('end with the signal of their caller, and leave no connection open', async () => {
    const ending = new AbortController()
    let closed: Promise<unknown> = Promise.resolve()
    answers.push((request, response) => {
      closed = new Promise((resolve) => request.socket.once('close', resolve))
      stream([frame(1)], 'stay')(request, response)
    })
    const taken: string[] = []
    for await (const { cursor } of follow({ signal: ending.signal })) {
      taken.push(cursor)
      ending.abort()
    }
    expect(taken).toHaveLength(1)
    await closed
  })
})
