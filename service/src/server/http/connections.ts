import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { unavailable } from '../../kernel/errors.js'
import { formatRawAnswer } from './errors.js'

/** Time for a caller to send a head, and a whole request, and the interval in which Node checks them. */
export const deadlines = { headersTimeout: 15_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 }

/**
 * Looks a stop takes while connections are idle: a request that comes meanwhile is answered, and told that it was the
 * last. Closed at once, a connection would lose the request that is on its way.
 */
const idleLooks = 10
/** Looks after which a caller that is still sending, or does not read its response, is cut off. */
const slowLooks = 12
const lookMs = 50

/** The last request of a connection, and its answer. */
type Last = { request?: IncomingMessage; response?: ServerResponse }

/**
 * Closes a listener quickly and without a reset. From the first instant every response says that its connection closes. Idle
 * connections are closed after half a second without a request. Callers who wait for a response, or to be accepted, get theirs. A caller that is still
 * sending a head or a body, or does not read its response, is cut off within a second.
 */
export function closeGracefully(app: FastifyInstance): void {
  const server: Server = app.server
  const latest = new Map<Socket, Last>()
  let isClosing = false
  /** Since the last look. */
  let hasNew = false
  server.on('connection', (socket) => {
    hasNew = true
    latest.set(socket, {})
    socket.once('close', () => latest.delete(socket))
  })
  server.on('request', (request, response) => {
    if (isClosing && !response.headersSent) response.setHeader('Connection', 'close')
    latest.set(request.socket, { request, response })
  })
  const isIdle = (socket: Socket, { response }: Last) => (response ? response.writableFinished : socket.bytesRead === 0)
  const cutSlow = () => {
    for (const [socket, last] of latest) {
      const { request, response } = last
      if (request?.complete && response && !response.writableEnded) continue
      if (isIdle(socket, last) || response?.headersSent || !socket.writable) socket.destroy()
      else socket.end(formatRawAnswer(tooSlow), () => socket.destroy())
    }
  }
  app.addHook('preClose', async () => {
    if (!server.listening) return
    isClosing = true
    for (const { response } of latest.values())
      if (response && !response.headersSent) response.setHeader('Connection', 'close')
    let looks = 0
    const hasIdle = () => [...latest].some(([socket, last]) => isIdle(socket, last))
    await new Promise<void>((resolve) => {
      const look = () => {
        looks += 1
        if (looks >= slowLooks) cutSlow()
        if (looks >= idleLooks || !(hasNew || hasIdle())) resolve()
        hasNew = false
      }
      // Who is connected and not accepted yet would be reset with the listener: a look without a new connection comes first.
      hasNew = false
      const looking = setInterval(look, lookMs)
      server.once('close', () => clearInterval(looking))
    })
  })
}

const tooSlow = unavailable('the service is stopping and the request is not whole yet; send it again', {
  retryAfterSeconds: 1,
})
