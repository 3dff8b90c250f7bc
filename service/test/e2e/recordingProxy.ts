import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A proxy that a browser sends all its requests through. It hands those for `own` origins on, refuses all others, and records
 * both. Policies of pages are sent back with an address for reports, at which it records what a page was kept from.
 */
export async function openRecordingProxy(own: readonly string[]) {
  const asked = new Set<string>()
  const reports: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', home())
    if (url.origin === home()) {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        reports.push(Buffer.concat(parts).toString())
        response.writeHead(204).end()
      })
      return
    }
    asked.add(url.origin)
    if (!own.includes(url.origin)) {
      response.writeHead(502).end()
      return
    }
    const { method, headers } = request
    const onward = send(url, { method, headers }, (answer) => {
      const policy = answer.headers['content-security-policy']
      const reported = policy && { 'content-security-policy': `${policy}; report-uri ${home()}/report` }
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...reported })
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  // A tunnel is for https: no page of ours needs one.
  server.on('connect', ({ url = '' }, socket) => {
    asked.add(`https://${url}`)
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const home = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    /** Words of a browser's command that send all through it, what is for this machine too. */
    words: [`--proxy-server=${home()}`, '--proxy-bypass-list=<-loopback>'],
    /** The origins that were asked since the last call. */
    takeAsked: () => {
      const found = [...asked].sort()
      asked.clear()
      return found
    },
    reports,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
