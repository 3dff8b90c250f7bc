import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Dev, makeFolder, type Started, startDevnet } from '../e2e/process.js'
import { openHostile, residentMiB } from './hostile.js'

const requests = Number(process.env['HOSTILE_REQUESTS'] ?? 5_000)

let folder: string
let devnet: Started & { dev: Dev }
let hostile: ReturnType<typeof openHostile>

beforeAll(async () => {
  folder = await makeFolder('openearn-heads-')
  devnet = await startDevnet(folder)
  hostile = openHostile(devnet.dev)
}, 120_000)
afterAll(async () => {
  hostile?.close()
  await devnet?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const text = (n: number, length: number) => `${n}${'x'.repeat(length)}`

/** Each is one way of asking so that nothing about two requests is the same. */
const kinds: ((n: number) => [path: string, headers: Record<string, string>])[] = [
  (n) => ['/v2/chains/', { 'Accept-Encoding': `gzip;q=0,${text(n, 8_000)}` }],
  (n) => ['/v2/chains/', { 'Accept-Encoding': `gzip;q=0,${text(n, 60_000)}` }],
  (n) => [`/v2/opportunities/?search=${n}&limit=${n % 100}`, { 'Accept-Encoding': 'br' }],
  (n) => [`/v2/tokens/?nonsense=${text(n, 1_900)}`, {}],
  (n) => [`/v2/opportunities/?nonsense${n}=${text(n, 1_000)}`, { 'Accept-Encoding': 'gzip' }],
  (n) => [`/v2/tokens/?search=${text(n, 50_000)}`, {}],
  (n) => ['/v2/opportunities/?limit=50', { 'If-None-Match': `"${text(n, 8_000)}"` }],
  (n) => ['/v2/chains/', Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x-${n}-${i}`, text(n, 400)]))],
  (n) => [`/v2/unknown/${text(n, 3_000)}`, {}],
  (n) => ['/v2/chains/', { 'X-API-Key': text(n, 7_000) }],
]

describe(`${requests} requests with hostile heads`, () => {
  it('leave the resident memory at most 1.2 times what it was after the first 1,000', async () => {
    const statuses = new Map<number, number>()
    const send = async (n: number) => {
      const { status } = await hostile.get(...kinds[n % kinds.length]!(n))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    await hostile.each(0, 1_000, send)
    const first = residentMiB(devnet.child.pid)
    const later: number[] = []
    for (let from = 1_000; from < requests; from += 1_000) {
      await hostile.each(from, Math.min(from + 1_000, requests), send)
      later.push(residentMiB(devnet.child.pid))
    }
    const most = Math.max(...later)
    process.stdout.write(
      `resident: ${first.toFixed(0)} MiB after 1,000 requests, at most ${most.toFixed(0)}, ${later.at(-1)?.toFixed(0)} ` +
        `after ${requests} (${(most / first).toFixed(2)} times at most)\n`,
    )
    expect(Object.fromEntries(statuses)).toEqual({
      200: requests * 0.7,
      401: requests * 0.1,
      404: requests * 0.1,
      431: requests * 0.1,
    })
    // What is not collected yet is not held: of the last looks the lowest one counts.
    expect(Math.min(...later.slice(-3)) / first).toBeLessThanOrEqual(1.2)
  }, 900_000)
})

describe('a caller with one publishable key', () => {
  it('[cache-names] cannot make the process grow by naming the same answer differently 4,000 times', async () => {
    const name = (n: number) => ({ 'Accept-Encoding': `gzip;q=0,${n}${'x'.repeat(60_000)}` })
    await hostile.each(0, 1_000, () => hostile.get('/v2/chains/'))
    const before = residentMiB(devnet.child.pid)
    await hostile.each(0, 4_000, (n) => hostile.get('/v2/chains/', name(n)))
    expect(residentMiB(devnet.child.pid) - before).toBeLessThan(100)
    expect((await hostile.get('/v2/chains/')).status).toBe(200)
  }, 180_000)

  it('[long-header] gets 431 for a header value of 60 KB, in four members, for nothing', async () => {
    for (const name of ['Accept-Encoding', 'If-None-Match', 'X-Whatever', 'Cookie']) {
      const { status, headers, body } = await hostile.get('/v2/chains/', { [name]: ','.repeat(60_000) })
      expect([name, status, headers['x-request-cost']]).toEqual([name, 431, '0'])
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
      expect(JSON.parse(body)).toEqual({
        code: 431,
        status: 'INVALID_ARGUMENT',
        error: expect.any(String),
        context: {},
      })
    }
    const addresses = Array.from({ length: 1_000 }, (_, i) => `0x${String(i).padStart(40, '0')}`).join(',')
    expect((await hostile.get(`/v2/chains/?walletAddresses=${addresses}`)).status).toBe(200)
  }, 60_000)
})
