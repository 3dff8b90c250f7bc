import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'

type Call = { id: number; method: string; params: unknown[] }
type Answer = { id: number; result?: unknown; error?: unknown }
/** What goes wrong with a call: an answer in place of the node's, or nothing (`hang`), or undefined for the truth. */
export type Fault = (
  call: Call,
  truth: Answer,
) => { status?: number; headers?: Record<string, string>; body: string } | Answer | 'hang' | undefined

/** A node in front of another that answers wrongly when told to. `calls` counts what it was asked, by method. */
export async function startBadNode(url: string) {
  const calls = new Map<string, number>()
  const state: { fault: Fault | undefined; faults: number } = { fault: undefined, faults: 0 }
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const asked = JSON.parse(text) as Call | Call[]
    const truth = (await (
      await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text })
    ).json()) as Answer | Answer[]
    const list = Array.isArray(asked) ? asked : [asked]
    const answers = Array.isArray(truth) ? truth : [truth]
    for (const { method } of list) calls.set(method, (calls.get(method) ?? 0) + 1)
    const told: Answer[] = []
    for (const call of list) {
      const own = answers.find(({ id }) => id === call.id) ?? { id: call.id }
      const wrong = state.fault?.(call, own)
      if (wrong !== undefined) state.faults += 1
      if (wrong === 'hang') return
      if (wrong !== undefined && 'body' in wrong) {
        response
          .writeHead(wrong.status ?? 200, { 'content-type': 'application/json', ...wrong.headers })
          .end(wrong.body)
        return
      }
      told.push(wrong ?? own)
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(Array.isArray(asked) ? told : told[0]))
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    state,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A line to a node that can be cut, fall silent, and be refused; WebSocket and HTTP alike. */
export async function startLine(url: string) {
  const { port } = new URL(url)
  const pairs = new Set<{ near: Socket; far: Socket }>()
  const state = { refuses: false, opened: 0, refused: 0 }
  const server = createTcpServer((near) => {
    if (state.refuses) {
      state.refused += 1
      near.destroy()
      return
    }
    state.opened += 1
    const far = connect(Number(port), '127.0.0.1')
    const pair = { near, far }
    pairs.add(pair)
    const close = () => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) socket.on('error', close).on('close', close)
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const { near } of pairs) near.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    cut,
    /** Nothing comes through any more, and nobody is told. */
    silence: () => {
      for (const { near, far } of pairs) {
        near.unpipe(far)
        far.unpipe(near)
        far.pause()
      }
    },
    stop: async () => {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
