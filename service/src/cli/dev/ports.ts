import { createServer } from 'node:net'
import { systemClock } from '../../kernel/clock.js'
import { UsageError } from '../terminal.js'

/** Fails with one sentence when a port the devnet needs is taken. */
export async function assertPortsFree(ports: { setting: string; host: string; port: number }[]): Promise<void> {
  for (const { setting, host, port } of ports)
    if (port !== 0 && !(await isFree(host, port)))
      throw new UsageError(`port ${port} of ${host} is taken; free it or set ${setting} to another`)
}

/** Waits for a port that a process which is ending still holds, for at most ten seconds. */
export async function waitUntilFree(host: string, port: number): Promise<void> {
  for (let tries = 0; port !== 0 && tries < 100 && !(await isFree(host, port)); tries++) await systemClock.sleep(100)
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false)
      else reject(error)
    })
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** A port of loopback nobody listens on at the moment. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}
