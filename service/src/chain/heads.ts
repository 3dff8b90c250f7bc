import { webSocket } from 'viem'
import type { Clock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'

/** How long to wait before a lost connection is opened again. */
const reconnectMs = 2_000

/**
 * Calls `onHead` whenever a node announces a new block over WebSocket, until `signal` aborts. A lost connection is opened
 * again, on the next url. It is only a hint to look sooner: polling goes on beside it, so nothing rests on it.
 */
export async function followHeads(input: {
  urls: readonly string[]
  clock: Clock
  log: Log
  signal: AbortSignal
  onHead: () => void
}): Promise<void> {
  const { urls, clock, log, signal, onHead } = input
  for (let turn = 0; !signal.aborted && urls.length > 0; turn++) {
    const url = urls[turn % urls.length]
    if (url === undefined) return
    try {
      await follow(url, signal, onHead)
    } catch (error) {
      log.warn({ err: error }, 'the connection for new heads was lost; polling goes on')
    }
    await clock.sleep(reconnectMs, signal)
  }
}

async function follow(url: string, signal: AbortSignal, onHead: () => void): Promise<void> {
  const transport = webSocket(url, { reconnect: false, retryCount: 0, timeout: 10_000 })({})
  await new Promise<void>((resolve, reject) => {
    const stop = async () => {
      const client = await transport.value?.getRpcClient()
      client?.close()
      resolve()
    }
    signal.addEventListener('abort', () => void stop().catch(() => resolve()), { once: true })
    transport.value
      ?.subscribe({ params: ['newHeads'], onData: () => onHead(), onError: (error: unknown) => reject(error) })
      .catch(reject)
  })
}
