import { execFileSync } from 'node:child_process'
import { Agent, request } from 'node:http'
import type { Dev } from '../e2e/process.js'

export type HostileAnswer = { status: number; headers: Record<string, unknown>; body: string }

/** Sends GETs as fast as eight connections take them. */
export function openHostile({ baseUrl, keys }: Pick<Dev, 'baseUrl' | 'keys'>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const { hostname: host, port } = new URL(baseUrl)
  const get = (path: string, headers: Record<string, string> = {}) =>
    new Promise<HostileAnswer>((resolve, reject) => {
      const sent = request(
        { agent, host, port, path, headers: { 'X-API-Key': keys.publishable, ...headers } },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk) => chunks.push(chunk))
          answer.on('error', reject)
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              body: Buffer.concat(chunks).toString('latin1'),
            }),
          )
        },
      )
      sent.on('error', reject)
      sent.end()
    })
  /** Numbers from `from` to below `to`, eight at once. */
  const each = async (from: number, to: number, one: (n: number) => Promise<unknown>): Promise<void> => {
    let next = from
    const work = async () => {
      while (next < to) await one(next++)
    }
    await Promise.all(Array.from({ length: 8 }, work))
  }
  return { get, each, close: () => agent.destroy() }
}

/** Memory of a process that is resident, in MiB. */
export function residentMiB(pid: number | undefined): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).trim()) / 1024
}
