import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that a receiver of webhooks got. */
export type Received = {
  path: string
  headers: IncomingMessage['headers']
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every type
  body: any
}

/** Answers a request; it may leave it unanswered. */
export type Respond = (received: Received, response: ServerResponse) => void

export type Receiver = {
  url: string
  place: string
  received: Received[]
  /** How requests are answered from now on; 204 unless set. */
  respond(how: Respond): void
  close(): Promise<void>
}

/** A real receiver of webhooks on loopback. */
export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const takes: Respond = (_received, response) => response.writeHead(204).end()
  let how = takes
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const one = { path: request.url ?? '', headers: request.headers, text, body: text ? JSON.parse(text) : undefined }
    received.push(one)
    how(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    place,
    url: `http://${place}`,
    received,
    respond: (next) => {
      how = next
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
