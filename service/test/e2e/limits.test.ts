import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { letOthersRun, until } from '../../../contracts/test/until.js'
import { createKey } from '../../src/features/auth/index.js'
import { createIdempotencyRecords } from '../../src/features/limits/idempotencyRecords.js'
import { systemClock } from '../../src/kernel/clock.js'
import { newId } from '../../src/kernel/ids.js'
import { silentLog } from '../../src/kernel/log.js'
import { openTestDatabase, type TestDatabase } from '../database.js'

const script = fileURLToPath(new URL('probeServer.mjs', import.meta.url))

type Process = { url: string; said(): string; end(signal: NodeJS.Signals): Promise<void> }

let test: TestDatabase
let organizationId: string
const running: Process[] = []

beforeAll(async () => {
  test = await openTestDatabase()
  await test.db`create table notes (id uuid primary key, text text not null)`
  organizationId = newId()
  await test.db`
    insert into organizations (id, name, organization_type) values (${organizationId}, 'Limits', 'distributor')`
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.end('SIGTERM')))
})
afterAll(() => test.close())

/** A process of the built service on the test's database. */
async function startProcess(): Promise<Process> {
  const child = spawn(process.execPath, [script, JSON.stringify(test.target)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)))
    child.stdout.on('data', (chunk) => {
      said += String(chunk)
      const ready = /^ready (\S+)$/m.exec(said)?.[1]
      if (ready) resolve(ready)
    })
  })
  const one: Process = {
    url,
    said: () => said,
    end: async (signal) => {
      child.kill(signal)
      await ended
    },
  }
  running.push(one)
  return one
}

const newKey = async (hourlyUnits: number) =>
  (await createKey({ db: test.db }, { organizationId, kind: 'publishable', hourlyUnits })).text

const budget = 100
const calls = 500
const mixed = [1, 3, 10]

describe(`${calls} concurrent calls against ${budget} units from two processes`, () => {
  it.each([
    ['1', (_i: number) => 1],
    ['1, 3 and 10', (i: number) => mixed[(i * 7) % 3]!],
    ['1, 3 and 10, where every fourth call does not fit its schema and pays 1', (i: number) => mixed[(i * 7) % 3]!, 4],
  ] as [string, (i: number) => number, number?][])(
    'serve exactly the budget at costs of %s, in 10 of 10 runs, with exact headers',
    async (_name, unitsOf, failing = calls + 1) => {
      const processes = await Promise.all([startProcess(), startProcess()])
      for (let run = 0; run < 10; run++) {
        const key = await newKey(budget)
        const answers = await Promise.all(
          Array.from({ length: calls }, async (_, i) => {
            const units = unitsOf(i + run)
            const { url } = processes[i % 2]!
            const fails = i % failing === failing - 1
            const response = await fetch(`${url}/v2/spend?units=${units}${fails ? '&times=never' : ''}`, {
              headers: { 'x-api-key': key },
            })
            await response.arrayBuffer()
            const [cost, used, remaining] = ['x-request-cost', 'x-ratelimit-used', 'x-ratelimit-remaining'].map(
              (name) => Number(response.headers.get(name)),
            )
            return { paid: fails ? 1 : units, status: response.status, cost: cost!, used: used!, remaining: remaining! }
          }),
        )
        const served = answers.filter(({ status }) => status === 200 || status === 400)
        const refused = answers.filter(({ status }) => status === 429)
        expect(served.length + refused.length).toBe(calls)
        expect(served.reduce((sum, { cost }) => sum + cost, 0)).toBe(budget)
        for (const { cost, used, remaining } of refused) {
          expect(cost).toBe(0)
          expect(used + remaining).toBe(budget)
        }
        // The answers, put in the order of what they say was used, add up to each other without a gap.
        let used = 0
        for (const answer of served.sort((a, b) => a.used - b.used)) {
          expect([answer.cost, answer.used]).toEqual([answer.paid, used + answer.paid])
          used = answer.used
        }
      }
    },
    120_000,
  )
})

describe('a process killed between write and commit', () => {
  it('leaves neither row nor kept answer, and its Idempotency-Key free after the lease and not before', async () => {
    const dying = await startProcess()
    const key = await newKey(100)
    const headers = { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': 'once' }
    const send = (url: string, body: object) =>
      fetch(`${url}/v2/write`, { method: 'POST', headers, body: JSON.stringify(body) })
    const lost = send(dying.url, { text: 'lost', hang: true }).catch((error: unknown) => error)
    await until('the write', () => dying.said().includes('written'))
    await dying.end('SIGKILL')
    expect(await lost).toBeInstanceOf(Error)
    const other = await startProcess()
    const early = await send(other.url, { text: 'lost', hang: true })
    expect([early.status, early.headers.get('retry-after')]).toEqual([409, '1'])
    expect(await test.db`select from notes where text = 'lost'`).toHaveLength(0)
    const later = { ...systemClock, now: () => new Date(systemClock.now().getTime() + 60_000) }
    const records = createIdempotencyRecords({ db: test.db, clock: later, log: silentLog })
    const named = { organizationId, keyKind: 'publishable', key: 'once' } as const
    expect(await test.db`select from idempotency_keys where status is not null`).toHaveLength(0)
    expect(await records.find({ ...named, fingerprint: Buffer.from('another request') })).toBeUndefined()
  })

  it('leaves no row of a request without an Idempotency-Key either', async () => {
    const dying = await startProcess()
    const headers = { 'x-api-key': await newKey(100), 'content-type': 'application/json' }
    const body = JSON.stringify({ text: 'unnamed', hang: true })
    const lost = fetch(`${dying.url}/v2/write`, { method: 'POST', headers, body }).catch((error: unknown) => error)
    await until('the write', () => dying.said().includes('written'))
    await dying.end('SIGKILL')
    expect(await lost).toBeInstanceOf(Error)
    expect(await test.db`select from notes where text = 'unnamed'`).toHaveLength(0)
  })
})

describe('a process killed in the middle of requests with an Idempotency-Key', () => {
  it('never leaves an answer without its writes, or writes without their answer, wherever it is killed', async () => {
    const key = await newKey(100_000)
    const rounds = 12
    for (let round = 0; round < rounds; round++) {
      const dying = await startProcess()
      const requests = Array.from({ length: 40 }, (_, i) =>
        fetch(`${dying.url}/v2/write`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': `${round}-${i}` },
          body: JSON.stringify({ text: `${round}-${i}` }),
        }).catch(() => undefined),
      )
      // Each round dies later by some turns of the event loop, the last ones once some requests have ended.
      if (round >= rounds - 2) await Promise.race(requests)
      for (let turn = 0; turn < 2 * round; turn++) await letOthersRun()
      await dying.end('SIGKILL')
      await Promise.all(requests)
    }
    // Whatever was still being committed when the last process died has ended.
    await test.db`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
        and application_name = 'openearn' and state <> 'idle'`
    const answered = await test.db<{ key: string }[]>`
      select key from idempotency_keys where key like '%-%' and status is not null order by key`
    const written = await test.db<{ text: string }[]>`select text from notes where text like '%-%' order by text`
    expect(written.length).toBeGreaterThan(0)
    expect(written.map(({ text }) => text)).toEqual(answered.map((row) => row.key))
  }, 120_000)
})
