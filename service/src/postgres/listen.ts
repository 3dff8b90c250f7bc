import { systemClock } from '../kernel/clock.js'
import { type Client, type ClientSettings, openClient } from './client.js'

export type Listening = { unlisten(): Promise<void> }

/** Milliseconds before a lost server is tried again. */
const backoffMs = (attempt: number) => Math.min(20 * 2 ** attempt, 500)

/**
 * Listens on a channel with a connection of its own, and opens another whenever that is lost. `onOpen` is called each
 * time: what was said meanwhile nobody heard. Rejects when the server cannot be reached the first time.
 */
export async function listen(
  settings: ClientSettings,
  channel: string,
  onMessage: (payload: string) => void,
  onOpen: () => void,
): Promise<Listening> {
  const stopping = new AbortController()
  const { signal } = stopping
  const open = async (): Promise<Client> => {
    let forget: (() => void) | undefined
    const client = await openClient(settings, () => {
      signal.removeEventListener('abort', client.destroy)
      forget?.()
    })
    signal.addEventListener('abort', client.destroy)
    forget = settings.renewal?.onRenew(client.destroy)
    if (signal.aborted) client.destroy()
    client.raw.on('notification', ({ payload }) => onMessage(payload ?? ''))
    try {
      await client.ask({ text: `listen "${channel}"`, values: [] })
    } catch (error) {
      // Nobody else knows of it, and an open connection keeps the process alive.
      client.destroy()
      throw error
    }
    return client
  }
  const stayOpen = async (first: Client) => {
    for (let client: Client | undefined = first; ; ) {
      await client?.closed
      for (let attempt = 0; client?.isSpent() ?? true; attempt++) {
        await systemClock.sleep(backoffMs(attempt), signal)
        if (signal.aborted) return client?.destroy()
        client = await open().catch(() => undefined)
      }
      onOpen()
    }
  }
  const first = await open()
  onOpen()
  void stayOpen(first)
  // Not waited for: the server may hang while it is asked for another connection.
  return { unlisten: async () => stopping.abort() }
}
