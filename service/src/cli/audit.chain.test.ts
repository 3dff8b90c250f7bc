import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { verifyProof } from '@openearn/sdk/proof'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../test/chain/watchWorld.js'
import { openTestDatabase, type TestDatabase, urlOf } from '../../test/database.js'
import { silentCommands } from '../../test/silentCommands.js'
import { listChanges } from '../features/audit/index.js'
import { newId } from '../kernel/ids.js'
import { recordOutgoing } from '../rpc/sender/index.js'
import { recordStop } from '../rpc/sender/storeSenders.js'
import { findCursor } from '../sync/storeCursors.js'
import type { Command } from './terminal.js'

let database: TestDatabase
let world: WatchWorld
let folder: string
const wallets = ['0x1111111111111111111111111111111111111111', '0x2222222222222222222222222222222222222222']
const [first, second] = wallets.map((wallet) => `evm:${wallet}`)
const organizationId = newId()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-'))
  database = await openTestDatabase()
  const { db, target } = database
  vi.stubEnv('DATABASE_URL', urlOf(target))
  vi.stubEnv('SUDO_USER', '')
  await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  for (const address of wallets) {
    const userId = newId()
    await db`insert into users (id, created_at) values (${userId}, now())`
    await db`insert into memberships (ecosystem, address, user_id, created_at) values ('evm', ${address}, ${userId}, now())`
  }
  world = await openWatchWorld(db, organizationId)
  await db`update chains set rpc_urls = ${[world.anvil.url]} where chain_id = ${chainId}`
  await world.fund(account(1), 1_000_000_000n)
  await world.deposit(account(1), 5_000_000n, 'Y2Zi7KWy')
  await world.sync()
}, 60_000)
afterAll(async () => {
  vi.unstubAllEnvs()
  await world?.close()
  await database?.close()
  await rm(folder, { recursive: true, force: true })
})

async function load(name: string): Promise<Command> {
  const written = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  const file = ['start', 'serve', 'watch', 'jobs', 'commit', 'solve'].includes(name) ? 'serve' : written
  const found = await import(/* @vite-ignore */ new URL(`./${file}.ts`, import.meta.url).href)
  return Object.values(found as Record<string, Command>).find((one) => typeof one.run === 'function') as Command
}

async function run(words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await (await load(words[0] ?? '')).run(words.slice(1))
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}

const changes = () => listChanges(database.db, 1_000)
const key = { text: '', id: '' }

/** Every call that changes something, in an order in which each can be made, and what is recorded of it. */
const changing: [name: string, words: () => string[] | Promise<string[]>, before: unknown, after: unknown][] = [
  ['orgs create', () => ['--name', 'Some Org'], null, { name: 'Some Org', premium: false }],
  ['distributors create', () => ['new_one', '--org', organizationId], null, { id: 'new_one', organizationId }],
  ['distributors signed-only', () => ['new_one', 'on'], [], [{ signedOnly: true }]],
  [
    'keys create',
    () => ['--org', organizationId, '--kind', 'publishable'],
    null,
    [{ kind: 'publishable', revokedAt: null }],
  ],
  ['keys set', () => [key.id, '--address-share', '0.2'], [{ addressShare: 1 }], [{ addressShare: 0.2 }]],
  [
    'keys leak-drill',
    () => [key.text],
    { leaked: [{ revokedAt: null }], successor: null },
    { leaked: [{ revokedAt: expect.any(String) }], successor: [{ addressShare: 0.2, revokedAt: null }] },
  ],
  ['keys revoke', () => [key.id], [{ revokedAt: null }], [{ revokedAt: expect.any(String) }]],
  ['members link', () => [first ?? '', second ?? ''], { wallet: first }, { wallet: first }],
  ['members unlink', () => [first ?? ''], { wallet: first }, null],
  [
    'chains add',
    () => ['77', '--name', 'C', '--rpc', 'https://node.example/v3/secret?k=1'],
    null,
    { rpcUrls: ['https://node.example/…'] },
  ],
  ['chains remove', () => ['77'], { chainId: 77 }, null],
  ['chains refetch', () => [String(chainId), '--from', '1', '--to', '2'], { chainId }, { missingLogs: 0, doneTo: 2 }],
  ['rebuild', () => ['--chain', String(chainId)], { chainId }, { chainId, state: expect.any(String) }],
  [
    'chains rewind',
    () => [String(chainId), '--to', '2'],
    { chainId, blockNumber: expect.any(Number) },
    { blockNumber: 2 },
  ],
  [
    'vaults growth',
    () => [String(chainId), world.vault, 'none'],
    { growthSources: null },
    { growthSources: [{ source: 'share-price' }] },
  ],
  ['vaults pause', () => [String(chainId), world.vault], { pauses: [] }, { pauses: [{ to: null }] }],
  [
    'vaults resume',
    () => [String(chainId), world.vault],
    { pauses: [{ to: null }] },
    { pauses: [{ to: expect.any(String) }] },
  ],
  ['prices accept', suspectPrice, [{ priceUsd: '10' }], []],
  ['sender cancel', queueTransaction, { state: 'queued' }, { state: 'cancelled' }],
  ['sender release', stopKey, { isReleased: false }, { isReleased: true }],
  ['catalogue import', writeCatalogue, { organizations: 2 }, { organizations: 3 }],
]

async function stopKey(): Promise<string[]> {
  const address = `0x${'5f'.repeat(20)}`
  await recordStop(database.db, { chainId, address }, 'the transaction of nonce 3 is not ours', new Date(0))
  expect(await run(['sender', 'list'])).toContain('the transaction of nonce 3 is not ours')
  return [address, '--chain', String(chainId)]
}

async function queueTransaction(): Promise<string[]> {
  const [id, address] = [newId(), `0x${'5e'.repeat(20)}`]
  const outgoing = { id, chainId, sender: address, to: address, data: '0x', value: 0n, costMax: 0n, purpose: 'a test' }
  await recordOutgoing(database.db, outgoing, new Date(0))
  expect(await run(['sender', 'list'])).toContain(id)
  return [id]
}

async function suspectPrice(): Promise<string[]> {
  const address = `0x${'5f'.repeat(20)}`
  await database.db`
    insert into price_observations (chain_id, address, price_usd, source, observed_at, withheld)
    values (${chainId}, ${address}, '10', 'a provider', 'epoch', 'suspect')`
  expect(await run(['prices', 'suspects'])).toContain(address)
  return [String(chainId), address]
}

async function writeCatalogue(): Promise<string[]> {
  const path = join(folder, 'catalogue.json')
  const organization = { id: newId(), slug: 'third', name: 'Third', organizationType: 'distributor' }
  await writeFile(path, JSON.stringify({ organizations: [organization] }))
  return [path]
}

describe('why-not', () => {
  it('says of a transaction who its events are credited to, and ends with 1 where there is none', async () => {
    const [entry] = await database.db<{ hash: string; index: number }[]>`
      select transaction_hash as hash, log_index as index from interactions limit 1`
    const { transactions } = await world.anvil.client.getBlock({ blockNumber: 3n })
    const exitCode = process.exitCode
    process.exitCode = undefined
    const credited = await run(['why-not', entry?.hash ?? '', '--chain', String(chainId)])
    expect([credited, process.exitCode]).toEqual([
      expect.stringMatching(new RegExp(`^log ${entry?.index}, deposit of 0x\\w+: credited to Y2Zi7KWy\n$`)),
      undefined,
    ])
    expect(await run(['why-not', transactions[0] ?? '', '--chain', String(chainId)])).toMatch(/^ok: mined in block 3 /)
    expect(process.exitCode).toBe(1)
    process.exitCode = exitCode
  })
})

describe('prove', () => {
  it('writes the proof of an entry to a file, which is verified from the block hash, and prints it without one', async () => {
    const [entry] = await database.db<{ hash: string; block: string; address: string; kind: string }[]>`
      select i.transaction_hash as hash, i.block_hash as block, v.address, v.kind
      from interactions i join vaults v on v.id = i.vault_id`
    const file = join(folder, 'proof.json')
    const said = await run(['prove', entry!.hash, '--chain', String(chainId), '--out', file])
    expect(said).toBe(`1 entry of block ${entry!.block}, in ${file}\n`)
    const proof = JSON.parse(await readFile(file, 'utf8'))
    expect(JSON.parse(await run(['prove', entry!.hash]))).toEqual(proof)
    const signers = await database.db<{ address: string }[]>`select address from attribution_signers`
    const trust = { vaults: [entry!], signers }
    const verdict = await verifyProof(proof, { chainId, blockHash: entry!.block, trust })
    expect(verdict).toMatchObject({
      problems: [],
      entries: [{ amountRaw: '5000000', rule: 'signed', kind: 'deposit' }],
    })
    await expect(run(['prove', '0x12'])).rejects.toThrow(/give a transaction hash/)
    await expect(run(['prove', entry!.block])).rejects.toThrow(/has no entry of this transaction/)
  })
})

describe('a command that changes something', () => {
  it.each(changing)('%s has its row, with who, when, before and after', async (name, words, before, after) => {
    const known = new Set((await changes()).map(({ id }) => id))
    const given = await words()
    const said = await run([...name.split(' '), ...given])
    key.text = /[ps]k_live_\S{38}/.exec(said)?.[0] ?? key.text
    key.id = /^id {3}(\S+)$/m.exec(said)?.[1] ?? /^successor +(\S+)/m.exec(said)?.[1] ?? key.id
    const made = (await changes()).filter(({ id }) => !known.has(id))
    expect(made).toMatchObject([{ osUser: userInfo().username, at: expect.any(Date) }])
    const [row] = made
    expect(row?.command.startsWith(name)).toBe(true)
    if (before === null) expect(row?.before).toBeNull()
    else expect(row?.before).toMatchObject(before as object)
    if (after === null) expect(row?.after).toBeNull()
    else expect(row?.after).toMatchObject(after as object)
    expect(row?.before).not.toEqual(row?.after)
    expect(JSON.stringify(row)).not.toMatch(/[ps]k_live_[0-9A-Za-z]{38}|secret\?/)
  })

  it('that changes nothing leaves no row, nor does one that fails', async () => {
    const count = (await changes()).length
    await run(['keys', 'list'])
    await expect(run(['distributors', 'create', 'new_one', '--org', organizationId])).rejects.toThrow('exists already')
    await expect(run(['keys', 'revoke', key.id])).rejects.toThrow('no active key')
    await expect(run(['keys', 'leak-drill', key.id])).rejects.toThrow('no active key')
    await expect(run(['members', 'unlink', first ?? ''])).rejects.toThrow('is no member')
    await expect(run(['chains', 'rewind', '5', '--to', '1'])).rejects.toThrow('never watched')
    expect((await changes()).length).toBe(count)
  })

  it('is undone with its row, and its row with it', async () => {
    const { db } = database
    await db`alter table operator_changes add constraint none_of_these check (command not like 'orgs create%Undone%')`
    await expect(run(['orgs', 'create', '--name', 'Undone'])).rejects.toThrow('none_of_these')
    expect(await db`select from organizations where name = 'Undone'`).toHaveLength(0)
  })

  it('is among those walked here: a new command or verb is one of them, or says why it has no row', async () => {
    const table = await readFile(new URL('./commands.ts', import.meta.url), 'utf8')
    const names = [...table.matchAll(/^ {2}'?([a-z-]+)'?: \{$/gm)].map(([, name]) => name ?? '')
    expect(names.length).toBeGreaterThan(15)
    const calls = new Set<string>()
    for (const name of names.filter((each) => each !== 'dev')) {
      const { usage } = await load(name)
      const verbs = [...usage.matchAll(new RegExp(`^openearn ${name} ([a-z][a-z-]+)`, 'gm'))].map(([, verb]) => verb)
      for (const call of verbs.length > 0 ? verbs.map((verb) => `${name} ${verb}`) : [name]) calls.add(call)
    }
    const known = new Set([...changing.map(([name]) => name), ...Object.keys(silentCommands)])
    expect([...calls].filter((call) => !known.has(call))).toEqual([])
    expect([...known].filter((call) => call !== 'dev' && !calls.has(call))).toEqual([])
  })

  it('migrate: tells what was applied, where there was something', async () => {
    const { db } = database
    await db`delete from migrations where name = '0015_audit.sql'`
    await db`alter table operator_changes rename to operator_changes_before`
    await db`alter index operator_changes_at_idx rename to operator_changes_before_at_idx`
    await db`alter index operator_changes_pkey rename to operator_changes_before_pkey`
    await run(['migrate'])
    expect(await changes()).toMatchObject([
      { command: 'migrate', before: null, after: { applied: ['0015_audit.sql'] } },
    ])
    await run(['migrate'])
    expect(await changes()).toHaveLength(1)
    await db`drop table operator_changes`
    await db`alter table operator_changes_before rename to operator_changes`
  })

  it('is told by `openearn audit`, newest first', async () => {
    const said = await run(['audit', '--limit', '2'])
    expect(said).toMatch(
      /^\S+Z {2}\S+ {2}openearn catalogue import \S+ sha256:[0-9a-f]{64}\n {2}before {2}\{.*\n {2}after {3}\{/,
    )
    expect(said.match(/openearn /g)).toHaveLength(2)
    expect((await findCursor(database.db, chainId))?.blockNumber).toBe(2)
  })
})

describe('a table of a command', () => {
  it.each<[string, string[], string[]]>([
    ['doctor', ['doctor'], ['', 'WHAT', 'FOUND', 'DO']],
    ['chains list', ['chains', 'list'], ['CHAIN', 'NAME', 'WATCHED', 'ACTIVE', 'CONFIRMATIONS', 'RPC']],
  ])('%s has its cells below the names of their columns', async (_name, words, names) => {
    const exitCode = process.exitCode
    const [header = '', ...rows] = (await run(words)).trimEnd().split('\n')
    process.exitCode = exitCode
    expect(header.trim().split(/ {2,}/)).toEqual(names.filter((name) => name !== ''))
    expect(rows.length).toBeGreaterThan(0)
    for (const name of names.slice(1)) {
      const start = header.indexOf(name)
      for (const row of rows.filter(({ length }) => length > start))
        expect([row.slice(start - 2, start), row.charAt(start)]).toEqual(['  ', expect.stringMatching(/\S/)])
    }
  })
})

describe('attribution check', () => {
  it('says step by step why a transaction was credited to nobody, and ends with 1', async () => {
    const { client } = world.anvil
    const { transactions } = await client.getBlock({ blockNumber: 3n })
    const exitCode = process.exitCode
    process.exitCode = undefined
    const said = await run(['attribution', 'check', transactions[0] ?? '', '--chain', String(chainId)])
    expect(process.exitCode).toBe(1)
    process.exitCode = exitCode
    expect(said).toMatch(/^ok: mined in block 3 of .*\nno: it holds no deposit/)
  })
})

describe('keys leak-drill', () => {
  it('revokes the key, makes a successor with its settings, and prints both prefixes and times', async () => {
    const owner = [
      '--org',
      organizationId,
      '--kind',
      'secret',
      '--hourly',
      '77',
      '--permission',
      'organization:incentivize:streams',
      '--name',
      'Backend',
    ]
    const made = await run(['keys', 'create', ...owner])
    const leaked = /sk_live_\S{38}/.exec(made)?.[0] ?? ''
    const said = await run(['keys', 'leak-drill', leaked])
    const hint = `${leaked.slice(0, 12)}…${leaked.slice(-4)}`
    expect(said).toMatch(new RegExp(`^revoked +\\S+ +${hint} +\\S+Z, refused everywhere by \\S+Z$`, 'm'))
    const text = /^key {2}(sk_live_\S{38})$/m.exec(said)?.[1] ?? ''
    expect(said).toMatch(
      new RegExp(`^successor +\\S+ +${text.slice(0, 12)}…${text.slice(-4)} +\\S+Z, good from now on$`, 'm'),
    )
    const rows = await database.db<{ hourly: number; permissions: string[]; name: string; revoked: boolean }[]>`
      select hourly_units as hourly, permissions, name, revoked_at is not null as revoked from api_keys
      where name = 'Backend' order by created_at`
    const settings = { hourly: 77, permissions: ['organization:incentivize:streams'], name: 'Backend' }
    expect(rows).toEqual([
      { ...settings, revoked: true },
      { ...settings, revoked: false },
    ])
  })

  it('makes no successor of a key that has expired, which would be refused everywhere as well', async () => {
    const words = ['keys', 'create', '--org', organizationId, '--kind', 'secret', '--expires', '2020-01-01T00:00:00Z']
    const expired = /sk_live_\S{38}/.exec(await run(words))?.[0] ?? ''
    await expect(run(['keys', 'leak-drill', expired])).rejects.toThrow('no active key')
  })
})

describe('chains add', () => {
  it('tells what following the chain costs its node a day, by job, where a url answers', async () => {
    const add = ['chains', 'add', String(chainId), '--name', 'Devnet', '--rpc', world.anvil.url]
    expect(await run(add)).toMatch(
      /^31337: watched from the next start on\na block every \d+\.\d s: .* calls a day \(watch [\d,]+, capability and TVL /,
    )
    expect(await run(['chains', 'add', '79', '--name', 'Away', '--rpc', 'http://127.0.0.1:1'])).not.toContain('a day')
  })
})
