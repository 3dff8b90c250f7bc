import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { present } from '../../../../contracts/test/present.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { agree, createWallet, isOpen, join } from '../../../test/membership.js'

let earn: Earn
let other: ChildProcess
let lines: AsyncIterator<string>

/** Another process of the service on the same database: answers each line with the statuses of 100 calls at once. */
const program = (target: unknown) => `
  const load = (path) => import(${JSON.stringify(new URL('../../../dist/', import.meta.url).href)} + path)
  const [{ openService }, { openDatabase }, { createShutdown }, { silentLog }, { parseConfig }, { systemClock }] =
    await Promise.all(['server/service.js', 'postgres/pool.js', 'server/shutdown.js', 'kernel/log.js',
      'kernel/config.js', 'kernel/clock.js'].map(load))
  const base = { db: openDatabase(${JSON.stringify(target)}), clock: systemClock, log: silentLog, config: parseConfig({}, '/') }
  const { publicApp } = await openService(base, { chains: [], shutdown: createShutdown(silentLog) })
  const { createInterface } = await import('node:readline')
  console.log('ready')
  for await (const line of createInterface({ input: process.stdin })) {
    const { key, body } = JSON.parse(line)
    const call = () => publicApp.inject({ method: 'POST', url: '/v2/membership/', payload: body, headers: { 'x-api-key': key } })
    const answers = await Promise.all(Array.from({ length: 100 }, call))
    console.log(JSON.stringify(answers.map((answer) => answer.statusCode)))
  }
  process.exit(0)`

beforeAll(async () => {
  earn = await openEarn({ now: present().toISOString() })
  other = spawn(process.execPath, ['--input-type=module', '-e', program(earn.target)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (!other.stdout) throw new Error('the other process has no output')
  lines = createInterface({ input: other.stdout })[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe('ready')
})
afterAll(async () => {
  other.stdin?.end()
  await earn.close()
})

describe('CreateMembership 200', () => {
  it('is answered to exactly one of 200 calls that send one nonce at once to two processes', async () => {
    for (let round = 0; round < 3; round++) {
      const body = await agree(earn, createWallet())
      other.stdin?.write(`${JSON.stringify({ key: earn.publishable, body })}\n`)
      const here = await Promise.all(Array.from({ length: 100 }, () => join(earn, body)))
      const there: number[] = JSON.parse((await lines.next()).value)
      const statuses = [...here.map((answer) => answer.status), ...there]
      expect(statuses.filter((status) => status === 200)).toHaveLength(1)
      expect(statuses.filter((status) => status === 400 || status === 409)).toHaveLength(199)
      expect(await isOpen(earn, body.nonce)).toBe(false)
      const rows = await earn.db`select from memberships where address = ${body.address.toLowerCase()}`
      expect(rows).toHaveLength(1)
    }
  })
})
