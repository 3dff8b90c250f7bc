import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** What a caller has for sending a head, and a whole request. Node looks this often. */
export const deadlines = { headersTimeout: 15_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 }

/** What callers who are still sending get when the listener closes. */
const graceMs = 1_000

/**
 * Lets a listener close within a moment: whoever waits for an answer gets it, whoever is still sending a head or a body
 * is cut off. Node stops looking for slow callers once it closes.
 */
export function cutSlowCallers(app: FastifyInstance): void {
  const server: Server = app.server
  const latest = new Map<Socket, { request?: IncomingMessage; response?: ServerResponse }>()
  server.on('connection', (socket) => {
    latest.set(socket, {})
    socket.once('close', () => latest.delete(socket))
  })
  server.on('request', (request, response) => {
    const last = latest.get(request.socket)
    if (!last) return
    last.request = request
    last.response = response
  })
  const cut = () => {
    for (const [socket, { request, response }] of latest) {
      const waits = request?.complete && response && !response.writableFinished
      if (!waits) socket.destroy()
    }
  }
  app.addHook('preClose', async () => {
    if (!server.listening) return
    const cutting = setInterval(cut, graceMs)
    server.once('close', () => clearInterval(cutting))
  })
}
