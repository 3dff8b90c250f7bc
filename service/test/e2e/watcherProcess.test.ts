import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { distributorId, openBesideDevnet } from './besideDevnet.js'
import { type Json, openClient } from './client.js'
import { readDeposits, showEntry } from './deposits.js'

const kills = Number(process.env['WATCHER_KILLS'] ?? 4)

let beside: Awaited<ReturnType<typeof openBesideDevnet>>
beforeAll(async () => {
  beside = await openBesideDevnet('openearn-watcher-')
}, 120_000)
afterAll(() => beside?.close(), 60_000)

type Service = Awaited<ReturnType<typeof beside.startService>>

async function findWatcher({ opsUrl }: Service): Promise<number | undefined> {
  const { checks } = (await (await fetch(`${opsUrl}/readyz`)).json()) as Json
  const { detail } = checks.find(({ name }: Json) => name === 'watcher')
  return Number(/^process (\d+)$/.exec(detail)?.[1]) || undefined
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

describe('the watcher of `openearn start`', () => {
  it(`is a process of its own; killed ${kills} times it is started again, misses nothing and doubles nothing`, async () => {
    const publishable = await beside.fill()
    const service = await beside.startService()
    const client = beside.clientOf(service.baseUrl, publishable)
    const queue = await beside.planAll(client, Math.ceil(kills / 4))
    const sent: Hex[] = []
    const seen = new Set<number>()
    for (let round = 0; round < kills; round++) {
      const pid = await until('a watcher', async () => {
        const found = await findWatcher(service)
        return found !== undefined && !seen.has(found) ? found : undefined
      })
      expect(pid).not.toBe(service.child.pid)
      seen.add(pid)
      const next = queue.shift()!
      // Before the block is made in one round, after it in the next.
      if (round % 2 === 0) process.kill(pid, 'SIGKILL')
      sent.push((await client.send(next.account, next.transaction)).transactionHash)
      if (round % 2 === 1) process.kill(pid, 'SIGKILL')
      // Who asks does not notice.
      expect((await client.call('GET', '/v2/chains/')).data.length).toBeGreaterThan(0)
    }
    const expected = await readDeposits(client, sent)
    await until('the ledger to catch up', async () => (await client.listEntries(distributorId)).length >= sent.length)
    const entries = await client.listEntries(distributorId)
    expect(entries.map(showEntry).sort()).toEqual(expected.sort())
    expect(new Set(entries.map(({ id }: Json) => id)).size).toBe(sent.length)

    const text = await until('its metrics', async () => {
      const found = await (await fetch(`${service.opsUrl}/metrics`)).text()
      return /openearn_rpc_calls_total\{.*process="watcher"\} /.test(found) ? found : undefined
    })
    expect(text.match(/^# HELP openearn_rpc_calls_total /gm)).toHaveLength(1)
    expect(text).toMatch(/^openearn_process_resident_memory_bytes\{process="watcher"\} /m)
    expect(text).toMatch(/^openearn_process_resident_memory_bytes \d/m)
    expect(service.output()).toContain('the watcher process ended and is started again')

    const last = await until('the last watcher', () => findWatcher(service))
    await service.stop()
    expect(isAlive(last)).toBe(false)
    expect(service.output().match(/^ready/gm)).toHaveLength(1)
  }, 1_800_000)

  it('ends with the process it watches for, when that one is killed', async () => {
    const service = await beside.startService()
    const pid = await until('a watcher', () => findWatcher(service))
    await service.kill()
    await until('the watcher to end', () => !isAlive(pid))
    // The next start takes over what was left.
    const next = await beside.startService()
    expect(await until('a watcher', () => findWatcher(next))).not.toBe(pid)
    expect((await openClient(beside.dev).call('GET', '/v2/chains/')).data.length).toBeGreaterThan(0)
    await next.stop()
  }, 120_000)
})
