import { rm } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFolder, runOpenEarn, startOpenEarn, waitUntilReady } from '../e2e/process.js'

const stops = Number(process.env['STOPS'] ?? 2)
/** Callers who always have one request under way. */
const callers = 500
/** Connections that drip a head or a body through the stop. */
const drips = Number(process.env['DRIPS'] ?? 500)

let folder: string
let key: string
const env = () => ({ OPENEARN_DATA_DIR: folder })

beforeAll(async () => {
  folder = await makeFolder('openearn-stop-')
  await runOpenEarn(['migrate'], env())
  const said = await runOpenEarn(['orgs', 'create', '--name', 'O'], env())
  const owner = ['--org', said.trim().split('\n').at(-1)!, '--kind', 'publishable', '--hourly', '100000000']
  key = /pk_live_\S+/.exec(await runOpenEarn(['keys', 'create', ...owner], env()))![0]
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

type Count = { answered: number; last: number; resets: string[]; other: number[] }

/** Answered; or told to wait by a database that has too much to do. */
const isServed = ({ statusCode, headers }: IncomingMessage) =>
  statusCode === 200 || (statusCode === 503 && headers['retry-after'] !== undefined)

/** Asks over one connection until told that it was the last. One request in ten writes. */
async function askUntilTold(base: URL, caller: number, count: Count, onFirst: () => void): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (n: number) =>
    new Promise<string | undefined>((resolve, reject) => {
      const writes = (n + caller) % 10 === 0
      const body = JSON.stringify({
        address: `0x${'1'.repeat(40)}`,
        walletEcosystem: 'evm',
        url: 'https://a.example',
        chainId: '1',
      })
      const sent = request(
        {
          ...{ agent, host: base.hostname, port: base.port, method: writes ? 'POST' : 'GET' },
          path: writes ? '/v2/membership/agreement' : `/v2/opportunities/?limit=${n % 50}`,
          headers: { 'X-API-Key': key, ...(writes ? { 'Content-Type': 'application/json' } : {}) },
        },
        (answer) => {
          answer.resume()
          answer.on('error', reject)
          answer.on('end', () => {
            count.answered += 1
            if (!isServed(answer)) count.other.push(answer.statusCode ?? 0)
            resolve(answer.headers.connection)
          })
        },
      )
      sent.on('error', reject)
      sent.end(writes ? body : undefined)
    })
  try {
    for (let n = 0; ; n++) {
      const connection = await ask(n)
      onFirst()
      if (connection !== 'close') continue
      count.last += 1
      return
    }
  } catch (error) {
    count.resets.push(error instanceof Error ? error.message : String(error))
  } finally {
    agent.destroy()
  }
}

function drip(base: URL, n: number): Promise<{ closed: Promise<void> }> {
  return new Promise((resolve) => {
    const text =
      n % 2 === 0
        ? 'GET /v2/chains/ HTTP/1.1\r\nHost: a\r\nX-'
        : `POST /v2/membership/agreement HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{`
    const socket = connect(Number(base.port), base.hostname, () => socket.write(text, () => resolve({ closed })))
    socket.on('error', () => undefined)
    socket.resume()
    const closed = new Promise<void>((done) => socket.once('close', () => done()))
  })
}

describe(`${stops} stops, each with ${callers} requests in flight and ${drips} connections that drip`, () => {
  it('reset nobody and lose nothing: whoever asked is answered, and told that it was the last time', async () => {
    const count: Count = { answered: 0, last: 0, resets: [], other: [] }
    for (let round = 0; round < stops; round++) {
      const service = startOpenEarn(['serve'], env())
      const base = new URL(/http\S+/.exec(await waitUntilReady(service))![0])
      let firsts = 0
      const all: Promise<void>[] = []
      await new Promise<void>((resolve) => {
        const onFirst = () => {
          firsts += 1
          if (firsts >= callers * 3) resolve()
        }
        for (let n = 0; n < callers; n++) all.push(askUntilTold(base, n, count, onFirst))
      })
      const dripping = await Promise.all(Array.from({ length: drips }, (_, n) => drip(base, n)))
      await service.stop()
      expect(await service.ended).toEqual({ code: 0, signal: null })
      await Promise.all(all)
      for (const { closed } of dripping) await closed
      expect(service.output()).not.toMatch(/did not close in time|could not close/)
    }
    process.stdout.write(
      `${stops} stops: ${count.last} requests in flight, ${count.answered} answered in all, ${count.resets.length} resets\n`,
    )
    expect(count.resets).toEqual([])
    expect(count.other).toEqual([])
    expect(count.last).toBe(stops * callers)
  }, 1_800_000)
})
