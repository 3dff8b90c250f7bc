import { expect, it } from 'vitest'
import { openEarn } from '../../test/harness.js'
import { parseConfig } from '../kernel/config.js'
import {
  examineBackups,
  examineConnections,
  examineListeners,
  examineNodes,
  examineProduction,
  examineSettings,
} from './doctorProduction.js'

const now = new Date('2026-11-20T12:00:00Z')
const config = (env: Record<string, string>) => parseConfig(env, '/nonexistent')
const proxied = { PUBLIC_URL: 'https://earn.example', TRUSTED_PROXIES: '10.0.0.0/8', HOST: '0.0.0.0' }

it('calls open listeners what they are, and none behind a proxy', () => {
  expect(examineListeners(config(proxied)).well).toBe(true)
  for (const [env, said] of [
    [{ ...proxied, OPS_HOST: '0.0.0.0', OPS_PROBES_OPEN: 'true' }, 'need no token'],
    [{ ...proxied, TRUSTED_PROXIES: '' }, 'no proxy'],
    [{ ...proxied, PUBLIC_URL: 'http://earn.example' }, 'not https'],
  ] as const)
    expect(examineListeners(config(env))).toMatchObject({ well: false, detail: expect.stringContaining(said) })
  expect(examineListeners(config({ ...proxied, OPS_HOST: '0.0.0.0', OPS_PROBES_OPEN: 'false' })).well).toBe(true)
})

it.each([
  [{ ATTRIBUTION_UNSIGNED_FALLBACK: 'true' }],
  [{ EVENT_LOOP_DELAY_MAX_MS: '0' }],
  [{ IP_LIMIT_PER_MINUTE: '0' }],
  [{ CONNECTIONS_PER_ADDRESS: '0' }],
  [{ TON_TESTNET: 'true' }],
  [{ LOG_LEVEL: 'silent' }],
  [{ DATABASE_URL: 'postgres://db.example/earn?sslmode=require' }],
  [{ DATABASE_READ_URLS: 'postgres://db.example/earn?sslmode=require', DATABASE_URL: 'postgres://127.0.0.1/earn' }],
] as Record<string, string>[][])('calls the setting %j weak', (env) => {
  const { well, detail } = examineSettings(config(env ?? {}))
  expect([well, detail]).toEqual([false, expect.stringContaining(Object.keys(env ?? {})[0] ?? '')])
})

it('calls the settings of a new installation well, and a database on this machine or by verify-full', () => {
  for (const url of [
    'postgres://127.0.0.1/earn',
    'postgres://u@/earn?host=/run/postgresql',
    'postgres://db.example/earn?sslmode=verify-full',
  ])
    expect(examineSettings(config({ DATABASE_URL: url })).well, url).toBe(true)
  expect(examineSettings(config({})).well).toBe(true)
})

it('wants a log that is archived, was archived within a day and did not fail since', () => {
  const fine = { isArchiving: true, archivedAt: new Date(now.getTime() - 3_600_000), failedAt: null, isDurable: true }
  expect(examineBackups(fine, true, now).well).toBe(true)
  expect(examineBackups(fine, false, now).detail).toContain('embedded')
  for (const change of [
    { isArchiving: false },
    { archivedAt: null },
    { archivedAt: new Date(now.getTime() - 86_400_001) },
    { failedAt: now },
    { isDurable: false },
  ])
    expect(examineBackups({ ...fine, ...change }, true, now).well, JSON.stringify(change)).toBe(false)
})

it('wants two confirmations and nodes of two hosts, those of the environment first', () => {
  const chain = { chainId: 1, name: 'One', confirmations: 2, rpcUrls: ['https://a.example/x', 'https://b.example/y'] }
  const wells = (change: object, own = new Map<number, string[]>()) =>
    examineNodes([{ ...chain, ...change }], own).map(({ well }) => well)
  expect(wells({})).toEqual([true, true])
  expect(wells({ confirmations: 1 })).toEqual([false, true])
  expect(wells({ rpcUrls: ['https://a.example/x', 'wss://a.example/y'] })).toEqual([true, false])
  expect(wells({}, new Map([[1, ['https://a.example']]]))).toEqual([true, false])
})

it('sums the connections of one serve and one watch, as the runbook does', () => {
  const facts = { connectionsMax: 100, connectionsReserved: 3, others: 39 }
  expect(examineConnections(facts, 10, 1)).toMatchObject({ well: true, detail: expect.stringContaining('open 54, ') })
  expect(examineConnections({ ...facts, others: 40 }, 10, 1).well).toBe(false)
  expect(examineConnections(facts, 10, 2).well).toBe(false)
  expect(examineConnections(facts, 4, 1).detail).toContain('open 30, ')
})

it('tells public test keys, a devnet and a clock that differs, each with what to do', async () => {
  const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
  const earn = await openEarn({ config: { attributionKey: key } })
  const read = async () => new Map((await examineProduction(earn.ctx)).map((each) => [each.what, each]))
  const [first] = [await read()]
  expect(first.get('production: keys')).toMatchObject({ well: false, detail: 'ATTRIBUTION_KEY is a public test key' })
  expect(first.get('production: clock')?.well).toBe(false)
  for (const { advice } of first.values()) expect(advice).not.toBe('')
  const [row] = await earn.db<{ now: Date }[]>`select clock_timestamp() as now`
  earn.clock.set(row?.now ?? now)
  await earn.db`insert into chains (chain_id, name, slug, watched) values (31337, 'Devnet', 'devnet', true)`
  const second = await read()
  expect(second.get('production: clock')?.well).toBe(true)
  expect(second.get('production: keys')?.detail).toContain('a devnet is watched')
  await earn.close()
})
