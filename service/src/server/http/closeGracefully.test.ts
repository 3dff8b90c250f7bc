import { Agent, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import Fastify from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { closeGracefully } from './connections.js'

async function listen(answer: () => Promise<string> = async () => 'served') {
  const app = Fastify({ forceCloseConnections: 'idle', return503OnClosing: false })
  closeGracefully(app)
  app.all('/', answer)
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, port: (app.server.address() as AddressInfo).port }
}

/** Sends one request over a connection kept alive. */
function ask(agent: Agent, port: number) {
  return new Promise<{ status: number; connection: string | undefined }>((resolve, reject) => {
    const sent = request({ agent, host: '127.0.0.1', port, path: '/' }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, connection: answer.headers.connection }))
      answer.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}

function open(port: number, text: string): Promise<{ socket: Socket; closed: Promise<string> }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text, () => resolve({ socket, closed })))
    let said = ''
    socket.on('data', (chunk) => {
      said += String(chunk)
    })
    socket.on('error', () => undefined)
    const closed = new Promise<string>((done) => socket.on('close', () => done(said)))
  })
}

describe('a listener that closes', () => {
  it('answers what comes over open connections meanwhile, and says that each was the last', async () => {
    const { app, port } = await listen()
    const agents = Array.from({ length: 20 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    for (const agent of agents) expect((await ask(agent, port)).connection).toBe('keep-alive')
    const closed = app.close()
    const answers = await Promise.all(agents.map((agent) => ask(agent, port)))
    expect(answers).toEqual(agents.map(() => ({ status: 200, connection: 'close' })))
    await closed
  })

  it('answers a caller who was silent for longer than half a second, while requests of others come', async () => {
    const { app, port } = await listen()
    const late = new Agent({ keepAlive: true, maxSockets: 1 })
    const others = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    for (const agent of [late, ...others]) await ask(agent, port)
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const closed = app.close()
      for (const agent of others) {
        expect(await ask(agent, port)).toEqual({ status: 200, connection: 'close' })
        vi.advanceTimersByTime(400)
      }
      expect(await ask(late, port)).toEqual({ status: 200, connection: 'close' })
      vi.advanceTimersByTime(3_000)
      await closed
    } finally {
      vi.useRealTimers()
    }
  })

  it('answers who is connected and waits to be let in', async () => {
    const { app, port } = await listen()
    const agents = Array.from({ length: 50 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    const asked = agents.map((agent) => ask(agent, port))
    // The system has connected all of them; the listener has heard of none.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const closed = app.close()
    expect(await Promise.all(asked)).toEqual(agents.map(() => ({ status: 200, connection: 'close' })))
    await closed
  })

  it('answers what was asked before, however long that takes, and closes then', async () => {
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let begun: () => void = () => undefined
    const begins = new Promise<void>((resolve) => {
      begun = resolve
    })
    const { app, port } = await listen(async () => {
      begun()
      await held
      return 'served'
    })
    const agent = new Agent({ keepAlive: true })
    const asked = ask(agent, port)
    await begins
    const slow = await open(
      port,
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\nContent-Type: text/plain\r\n\r\nx',
    )
    const closed = app.close()
    // Who is slow is cut off long before.
    await slow.closed
    release()
    expect(await asked).toEqual({ status: 200, connection: 'close' })
    await closed
  })

  it('tells callers who are not done sending that it stops, with 503 and Retry-After', async () => {
    const { app, port } = await listen()
    const head = await open(port, 'GET / HTTP/1.1\r\nHost: a\r\n')
    const body = await open(
      port,
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\nContent-Type: text/plain\r\n\r\nx',
    )
    const silent = await open(port, '')
    await app.close()
    for (const { closed } of [head, body]) {
      const said = await closed
      expect(said).toMatch(/^HTTP\/1.1 503 Service Unavailable\r\n/)
      expect(said).toMatch(/\r\nRetry-After: 1\r\n/)
    }
    expect(await silent.closed).toBe('')
  })

  it('does not wait for 500 callers who drip their heads and bodies', async () => {
    const { app, port } = await listen()
    const drips = await Promise.all(
      Array.from({ length: 500 }, (_, n) =>
        open(port, n % 2 === 0 ? 'GET / HTTP/1.1\r\nHost' : 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx'),
      ),
    )
    await app.close()
    for (const { closed } of drips) await closed
  })
})
