import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpServer } from './server.js'
import type { Tools } from './tools.js'

export type HttpOptions = {
  /** 0: any that is free. */
  port: number
  /** Origins of pages that may call; none unless given. */
  origins: readonly string[]
  version: string
  /** Told of an answer that failed by a fault of ours; the caller gets 500. */
  onError(error: unknown): void
}

/** The longest request, in bytes. */
const bodyMax = 262_144

/**
 * Serves the tools on loopback by Streamable HTTP: POST with JSON and one answer in JSON, no stream and no session. A page of
 * another site gets nothing: the `Host` has to be this address, an `Origin` one of those given, the body JSON by its type, and
 * the token, which is made anew at each start, has to be known. No header of CORS is ever sent to others.
 */
export async function serveMcp(context: Tools, { port, origins, version, onError }: HttpOptions) {
  const token = randomBytes(32).toString('base64url')
  const hosts = new Set<string>()
  const server = createServer({ requireHostHeader: true }, (request, response) => {
    const refusal = findRefusal(request, { hosts, origins, token })
    if (refusal !== undefined) return refuse(response, refusal)
    answer(request, response).catch((error: unknown) => {
      // Who hangs up in the middle of a request makes no fault of ours.
      if (!request.errored) onError(error)
      refuse(response, 500)
    })
  })
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request)
    if (body === undefined) return refuse(response, 413)
    const parsed = parse(body)
    if (parsed === undefined) return refuse(response, 400)
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    const mcp = createMcpServer(context, version)
    response.once('close', () => void mcp.close())
    await mcp.connect(transport as never)
    await transport.handleRequest(request, response, parsed)
  }
  server.on('upgrade', (_, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: own } = server.address() as AddressInfo
  for (const name of ['127.0.0.1', 'localhost']) hosts.add(`${name}:${own}`)
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${own}/mcp`, token, close }
}

type Rules = { hosts: ReadonlySet<string>; origins: readonly string[]; token: string }

/** The status that a request is refused with; undefined where it may be answered. */
function findRefusal({ headers, rawHeaders, method, url }: IncomingMessage, { hosts, origins, token }: Rules) {
  const named = (name: string) => rawHeaders.filter((each, at) => at % 2 === 0 && each.toLowerCase() === name).length
  if (named('host') !== 1 || !hosts.has(headers.host ?? '')) return 403
  if (named('origin') > 1 || (headers.origin !== undefined && !origins.includes(headers.origin))) return 403
  if (url !== '/mcp') return 404
  if (method !== 'POST') return 405
  if (!isSecret(headers.authorization, `Bearer ${token}`)) return 401
  if (!/^application\/json(; ?charset=utf-8)?$/i.test(headers['content-type'] ?? '')) return 415
  return undefined
}

/** Compares in a time that tells nothing of the token. */
function isSecret(given: string | undefined, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return given !== undefined && timingSafeEqual(digest(given), digest(wanted))
}

function refuse(response: ServerResponse, status: number): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end('{"error":"refused"}')
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request) {
    length += (part as Buffer).length
    if (length > bodyMax) return undefined
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) ?? undefined
  } catch {
    // The caller is told with 400.
    return undefined
  }
}
