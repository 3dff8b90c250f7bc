import { webSocket } from 'viem'
import { within } from '../kernel/async/within.js'
import type { Clock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'

/** How long to wait before a lost connection is opened again. */
const reconnectMs = 2_000
/** How long the end of a connection may take before it is left to itself. */
const closeMs = 1_000
/** A connection without announcements for this time is closed: it may be dead. */
const silentMsMax = 60_000

/**
 * Calls `onHead` whenever a node announces a new block over WebSocket, until `signal` aborts, and once at the start of
 * every connection, since blocks may have come while it was closed. A connection that is lost or falls silent is opened
 * again, on the next url. It is only a hint to look sooner: polling continues, so no result depends on it.
 */
export async function followHeads(input: {
  urls: readonly string[]
  clock: Clock
  log: Log
  signal: AbortSignal
  onHead: () => void
  silentMs?: number
}): Promise<void> {
  const { urls, clock, log, signal } = input
  for (let turn = 0; !signal.aborted && urls.length > 0; turn++) {
    const url = urls[turn % urls.length]
    if (url === undefined) return
    try {
      await follow(url, input)
    } catch (error) {
      log.warn({ err: error }, 'the connection for new heads was lost; polling goes on')
    }
    await clock.sleep(reconnectMs, signal)
  }
}

async function follow(
  url: string,
  { clock, signal, onHead, silentMs = silentMsMax }: Parameters<typeof followHeads>[0],
): Promise<void> {
  const transport = webSocket(url, { reconnect: false, retryCount: 0, timeout: 10_000 })({})
  const ending = new AbortController()
  let heard = clock.monotonicMs()
  const hear = () => {
    heard = clock.monotonicMs()
    onHead()
  }
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(), { once: true, signal: ending.signal })
      const subscribed = transport.value?.subscribe({ params: ['newHeads'], onData: hear, onError: reject })
      subscribed?.then(hear, reject)
      const watchSilence = async () => {
        for (let leftMs = silentMs; leftMs > 0; leftMs = heard + silentMs - clock.monotonicMs()) {
          await clock.sleep(leftMs, ending.signal)
          if (ending.signal.aborted) return
        }
        reject(new Error(`the node announced nothing for ${silentMs} ms`))
      }
      watchSilence().catch(reject)
    })
  } finally {
    ending.abort()
    // A connection that never opened cannot be waited for.
    await within(closeSocket(transport), { clock, ms: closeMs }, () => undefined)
  }
}

/** Closes what was opened, if it ever was; a connection that failed has nothing to close. */
async function closeSocket(transport: ReturnType<ReturnType<typeof webSocket>>): Promise<void> {
  const client = await transport.value?.getRpcClient().catch(() => undefined)
  client?.close()
}
