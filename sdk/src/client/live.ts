import type { EarnClient } from './client.js'
import { EarnError } from './error.js'
import { type CallOptions, type Request, send } from './send.js'

export type LiveOptions = Omit<CallOptions, 'idempotencyKey'> & {
  /** The cursor of the last event that was read. Absent: from now on. */
  after?: string | undefined
}

/** An event of a stream. */
export type Live = { cursor: string }

/** Longer than a stream is open. */
const openMs = 3_600_000
/** Milliseconds of silence after which a stream is taken for dead: the service shows every 15 s that it is open. */
const silentMs = 40_000

/**
 * Events as they come, each once and in order: a stream that ends is opened again after its last event. Ends with the caller's
 * signal. Throws `EarnError`: 410 where that event is not in the feed any more.
 */
export async function* follow<E extends Live>(
  client: EarnClient,
  request: Request,
  { after, signal, headers }: LiveOptions = {},
): AsyncGenerator<E, void, undefined> {
  for (let retry = 1_000; !signal?.aborted; ) {
    const ending = new AbortController()
    const end = () => ending.abort()
    signal?.addEventListener('abort', end)
    let timer: ReturnType<typeof setTimeout> | undefined
    try {
      const options = { signal: ending.signal, headers: { ...headers, ...(after && { 'last-event-id': after }) } }
      let stream: ReadableStream<Uint8Array> | null = null
      // The call ends with the head of its response; a refusal is read as every other is.
      const open: typeof globalThis.fetch = async (...given) => {
        const response = await (client.fetch ?? globalThis.fetch)(...given)
        if (!response.ok) return response
        stream = response.body
        return new Response('{}', response)
      }
      await send({ ...client, fetch: open, timeoutMs: openMs }, request, options)
      const reader = (stream as ReadableStream<Uint8Array> | null)?.getReader()
      const decoder = new TextDecoder()
      for (let text = ''; reader; ) {
        timer = setTimeout(end, silentMs)
        const { value, done } = await reader.read()
        clearTimeout(timer)
        if (done) break
        const frames = (text + decoder.decode(value, { stream: true })).split('\n\n')
        text = frames.pop() ?? ''
        for (const frame of frames) {
          const read = (name: string) => frame.match(`(?:^|\n)${name}: (.*)`)?.[1]
          retry = Number(read('retry') ?? retry)
          const data = read('data')
          if (!data) continue
          const event = JSON.parse(data)
          if (read('event') === 'gone')
            throw new EarnError(`${request.name}: ${event.error}`, { ...event, operation: request.name })
          after = event.cursor
          yield event
        }
      }
    } catch (error) {
      // A connection that broke is opened again.
      if (signal?.aborted) return
      if (error instanceof EarnError && error.code && error.code < 500) throw error
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      end()
    }
    await new Promise((resolve) => {
      setTimeout(resolve, retry)
      signal?.addEventListener('abort', resolve)
    })
  }
}
