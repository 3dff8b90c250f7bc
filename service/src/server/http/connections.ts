import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { unavailable } from '../../kernel/errors.js'
import { formatRawAnswer } from './errors.js'

/** Time for a caller to send a head, and a whole request, and the interval in which Node checks them. */
export const deadlines = { headersTimeout: 15_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 }

/**
 * Looks without any request after which a stop closes the connections that are idle: a request that comes meanwhile is
 * answered, and told that it was the last. Closed at once, a connection would lose the request that is on its way.
 */
const idleLooks = 10
/** Looks after which they are closed though requests still come over others. */
const lastLook = 60
/** Looks after which a caller that is still sending, or does not read its response, is cut off. */
const slowLooks = 12
const lookMs = 50

/** The last request of a connection, and its answer. */
type Last = { request?: IncomingMessage; response?: ServerResponse }

/**
 * Closes a listener quickly and without a reset. From the first instant every response says that its connection closes. Idle
 * connections are closed once no connection sent a request for half a second, at the latest after three seconds. Callers who
 * wait for a response, or to be accepted, get theirs. A caller that is still sending a head or a body, or does not read its
 * response, is cut off within a second.
 */
export function closeGracefully(app: FastifyInstance): void {
  const server: Server = app.server
  const latest = new Map<Socket, Last>()
  let isClosing = false
  /** Whether a connection, and whether a request, came since the last look. */
  let hasNew = false
  let hasAsked = false
  server.on('connection', (socket) => {
    hasNew = true
    latest.set(socket, {})
    socket.once('close', () => latest.delete(socket))
  })
  server.on('request', (request, response) => {
    hasAsked = true
    if (isClosing && !response.headersSent) response.setHeader('Connection', 'close')
    latest.set(request.socket, { request, response })
  })
  const isIdle = (socket: Socket, { response }: Last) => (response ? response.writableFinished : socket.bytesRead === 0)
  const cutSlow = ({ andIdle }: { andIdle: boolean }) => {
    for (const [socket, last] of latest) {
      const { request, response } = last
      if (request?.complete && response && !response.writableEnded) continue
      if (isIdle(socket, last) && !andIdle) continue
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
    let quietLooks = 0
    const hasIdle = () => [...latest].some(([socket, last]) => isIdle(socket, last))
    await new Promise<void>((resolve) => {
      const look = () => {
        looks += 1
        quietLooks = hasAsked ? 0 : quietLooks + 1
        const isOver = quietLooks >= idleLooks || looks >= lastLook
        if (looks >= slowLooks) cutSlow({ andIdle: isOver })
        if (isOver || !(hasNew || hasIdle())) resolve()
        hasNew = false
        hasAsked = false
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
