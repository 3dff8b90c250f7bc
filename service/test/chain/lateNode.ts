import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Call = { id: number; method: string; params?: unknown[] }

/** A node in front of another that knows its blocks only up to `state.head`, as one that lags does. */
export async function startLateNode(url: string) {
  const state: { head: number } = { head: Number.POSITIVE_INFINITY }
  const ask = async (call: Call): Promise<{ result?: { number?: string } }> => {
    const body = JSON.stringify(call)
    return (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json() as never
  }
  const answer = async (call: Call): Promise<unknown> => {
    const [at, ...rest] = call.params ?? []
    const told = await ask(call)
    if (call.method !== 'eth_getBlockByNumber' || Number(told.result?.number ?? 0) <= state.head) return told
    // A tag means the newest block that it has; a number above that, none.
    if (/^0x/.test(String(at))) return { ...told, result: null }
    return ask({ ...call, params: [`0x${state.head.toString(16)}`, ...rest] })
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[]
    const told = Array.isArray(asked) ? await Promise.all(asked.map(answer)) : await answer(asked)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(told))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
