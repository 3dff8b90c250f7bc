import type { Client } from './client.js'
import { DatabaseUnavailable } from './errors.js'

/** A limited number of clients, each lent to one user at a time. */
export type Lending = {
  /** A client of one's own until it is given back. Who waits is served in order. */
  take(): Promise<Client>
  giveBack(client: Client): void
  /** Closes the clients that nobody has, and those that are lent when they are given back. */
  renew(): void
  /** Closes the clients that nobody has taken since it was called before. */
  rest(): void
  usage(): Usage
  /** Refuses who waits, and resolves when all clients are closed. Those still lent are cut after `timeoutMs`. */
  end(timeoutMs: number | undefined): Promise<void>
}

/** How many connections are open, how many of them are lent, and how many users wait for one. */
export type Usage = { open: number; lent: number; waiting: number }

type Waiter = { resolve(client: Client): void; reject(error: unknown): void }

export function createLending(open: (onSpent: (client: Client) => void) => Promise<Client>, max: number): Lending {
  const idle: Client[] = []
  const waiting: Waiter[] = []
  /** Those that are, or will be, lent. */
  const live = new Set<Client>()
  /** Those whose connection is not closed yet. */
  const connected = new Set<Client>()
  /** Those that are not lent again. */
  const retired = new WeakSet<Client>()
  /** Those that nobody has taken since the last rest. */
  const unused = new Set<Client>()
  let opening = 0
  let isEnded = false

  const popIdle = (): Client | undefined => {
    const client = idle.pop()
    if (client) unused.delete(client)
    return client
  }
  const onSpent = (client: Client) => {
    live.delete(client)
    unused.delete(client)
    const place = idle.indexOf(client)
    if (place >= 0) idle.splice(place, 1)
    pump()
  }
  const add = (client: Client) => {
    connected.add(client)
    client.closed.then(() => connected.delete(client))
    if (client.isSpent()) return
    live.add(client)
    giveBack(client)
  }
  const giveBack = (client: Client) => {
    if (client.isSpent() || isEnded || retired.has(client)) return client.close()
    idle.push(client)
    pump()
  }
  const pump = () => {
    while (waiting.length > 0) {
      const client = popIdle()
      if (client) {
        waiting.shift()?.resolve(client)
        continue
      }
      if (opening >= waiting.length || live.size + opening >= max) return
      opening += 1
      const settle = (end: () => void) => {
        opening -= 1
        end()
        pump()
      }
      open(onSpent).then(
        (opened) => settle(() => add(opened)),
        (error) => settle(() => waiting.shift()?.reject(error)),
      )
    }
  }
  return {
    take: () =>
      new Promise((resolve, reject) => {
        if (isEnded) return reject(ended())
        const client = waiting.length === 0 ? popIdle() : undefined
        if (client) return resolve(client)
        waiting.push({ resolve, reject })
        pump()
      }),
    giveBack,
    renew: () => {
      for (const client of live) retired.add(client)
      for (const client of [...idle]) client.close()
    },
    rest: () => {
      for (const client of [...idle]) {
        if (unused.has(client)) client.close()
        else unused.add(client)
      }
    },
    usage: () => ({ open: live.size, lent: live.size - idle.length, waiting: waiting.length }),
    end: async (timeoutMs) => {
      isEnded = true
      for (const { reject } of waiting.splice(0)) reject(ended())
      for (const client of [...idle]) client.close()
      const cut = () => {
        for (const client of connected) client.destroy()
      }
      const timer = timeoutMs === undefined ? undefined : setTimeout(cut, timeoutMs)
      await Promise.all([...connected].map((client) => client.closed))
      clearTimeout(timer)
    },
  }
}

const ended = () => new DatabaseUnavailable('the connections to the database are being closed')
