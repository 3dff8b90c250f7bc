import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Dev, makeFolder, type Started, startDevnet } from '../e2e/process.js'
import { openHostile, residentMiB } from './hostile.js'

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
