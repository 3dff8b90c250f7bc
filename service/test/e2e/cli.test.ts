import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFolder, runOpenEarn, type Started, startOpenEarn, waitUntilReady } from './process.js'

let folder: string
let env: Record<string, string>
let organizationId: string
let keyId: string

beforeAll(async () => {
  folder = await makeFolder('openearn-cli-')
  env = { OPENEARN_DATA_DIR: join(folder, 'data') }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const refusal = async (words: string[], extra: Record<string, string> = {}) => {
  const started = startOpenEarn(words, { ...env, ...extra })
  const { code } = await started.ended
  return { code, said: started.output() }
}

describe('the openearn command', () => {
  it('sets up organizations, distributors and keys without a running service', async () => {
    expect(await runOpenEarn(['migrate'], env)).toMatch(/up to date/)
    organizationId = (await runOpenEarn(['orgs', 'create', '--name', 'First'], env)).trim()
    expect(organizationId).toMatch(/^[0-9a-f-]{36}$/)
    await runOpenEarn(['distributors', 'create', 'first-app', '--org', organizationId], env)
    expect(await runOpenEarn(['distributors', 'list'], env)).toMatch(/^first-app/m)
    const created = await runOpenEarn(['keys', 'create', '--org', organizationId, '--kind', 'secret'], env)
    const text = /sk_live_[0-9A-Za-z]{38}/.exec(created)?.[0] ?? ''
    const listed = await runOpenEarn(['keys', 'list', '--org', organizationId], env)
    expect(listed).toMatch(new RegExp(`secret\\s+${text.slice(0, 12)}…${text.slice(-4)}\\s+active`))
    expect(listed).not.toContain(text)
    keyId = /^[0-9a-f-]{36}/m.exec(listed)?.[0] ?? ''
  }, 120_000)

  it('makes no database where there is none, but for migrate and the service itself', async () => {
    const elsewhere = join(folder, 'elsewhere')
    const commands = [['doctor'], ['distributors', 'list'], ['orgs', 'create', '--name', 'Lost'], ['rebuild']]
    for (const { code, said } of await Promise.all(
      commands.map((words) => refusal(words, { OPENEARN_DATA_DIR: elsewhere })),
    )) {
      expect(said).toContain(`there is no database in ${elsewhere}: run the command where the service runs`)
      expect(code).toBe(2)
    }
    expect(existsSync(elsewhere)).toBe(false)
  }, 60_000)

  it('tells what it migrated, and does it once', async () => {
    const fresh = { OPENEARN_DATA_DIR: join(folder, 'fresh') }
    expect(await runOpenEarn(['migrate'], fresh)).toMatch(
      /^applied 0001_.*\n(applied .*\n)+the database is up to date\n$/,
    )
    expect(await runOpenEarn(['migrate'], fresh)).toBe('the database is up to date\n')
  }, 60_000)

  it('shows how a command is called, however it is asked', async () => {
    const ask = (...words: string[]) => runOpenEarn(words, env)
    const usages = await Promise.all([ask('export', '--help'), ask('help', 'export'), ask('export', '-h')])
    expect(new Set(usages).size).toBe(1)
    const helps = await Promise.all([ask('-h'), ask('help')])
    expect(helps[0]).toBe(helps[1])
    expect(helps[0]).not.toBe(usages[0])
  }, 60_000)

  it('refuses a bad environment, all mistakes at once', async () => {
    const { code, said } = await refusal(['serve'], { PORT: 'x', ATTRIBUTION_KEY: '0x12', LOG_LEVEL: 'loud' })
    expect(code).toBe(2)
    expect(said).toMatch(/PORT must be .*LOG_LEVEL must be .*ATTRIBUTION_KEY must be/)
    expect(said).not.toContain('0x12')
  })

  it('refuses the public test keys on every chain but the devnet', async () => {
    await runOpenEarn(['chains', 'add', '1', '--name', 'Ethereum', '--rpc', 'http://127.0.0.1:9/secret-path'], env)
    const key = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
    const { code, said } = await refusal(['serve'], { ATTRIBUTION_KEY: key })
    expect(code).toBe(2)
    expect(said).toMatch(/ATTRIBUTION_KEY is a public test key and Ethereum \(1\) is not the devnet/)
    const listed = await runOpenEarn(['chains', 'list'], env)
    expect(listed).toMatch(/http:\/\/127\.0\.0\.1:9/)
    expect(listed).not.toContain('secret-path')
  }, 60_000)

  it('says which port is taken', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address ? String(address.port) : ''
    const starts = [
      ['serve', 'PORT'],
      ['serve', 'OPS_PORT'],
      ['dev', 'ANVIL_PORT'],
    ] as const
    const ends = starts.map(async ([word, setting]) => {
      const own = { OPENEARN_DATA_DIR: join(folder, `taken-${setting}`), [setting]: port }
      return { setting, ...(await refusal([word], own)) }
    })
    for (const { setting, code, said } of await Promise.all(ends)) {
      expect(said).toContain(`port ${port} of 127.0.0.1 is taken; free it or set ${setting} to another`)
      expect(code).toBe(2)
    }
    server.close()
  }, 90_000)

  it('shows the metrics of a watching process, and watches without them where their port is taken', async () => {
    const taken = createServer()
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done))
    const address = taken.address()
    const port = typeof address === 'object' && address ? String(address.port) : ''
    const watching = startOpenEarn(['watch'], env)
    try {
      const opsUrl = /operator (\S+)/.exec(await waitUntilReady(watching))?.[1]
      expect(await (await fetch(`${opsUrl}/metrics`)).text()).toContain('openearn_chain_retries_total')
    } finally {
      await watching.stop()
    }
    const blind = startOpenEarn(['watch'], { ...env, OPS_PORT: port })
    try {
      expect(await waitUntilReady(blind)).toBe('ready')
      expect(blind.output()).toContain(`port ${port} of 127.0.0.1 is taken: no metrics; set OPS_PORT to another`)
    } finally {
      await blind.stop()
      await new Promise((done) => taken.close(done))
    }
  }, 60_000)

  it('stops at SIGTERM and leaves no process behind', async () => {
    const service = startOpenEarn(['serve'], { OPENEARN_DATA_DIR: join(folder, 'stop') })
    await waitUntilReady(service)
    await service.stop()
    expect((await service.ended).code).toBe(0)
    const again = startOpenEarn(['serve'], { OPENEARN_DATA_DIR: join(folder, 'stop') })
    await waitUntilReady(again)
    await again.stop()
  }, 60_000)
})

describe('the openearn command beside a running service', () => {
  let service: Started
  beforeAll(async () => {
    service = startOpenEarn(['serve'], env)
    await waitUntilReady(service)
  }, 60_000)
  afterAll(() => service?.stop())

  it('shares, narrows and revokes keys', async () => {
    expect((await refusal(['keys', 'set', keyId, '--address-share', '0.5'])).said).toMatch(/no active publishable key/)
    const site = ['keys', 'create', '--org', organizationId, '--kind', 'publishable', '--address-share', '0.2']
    const hint = /pk_live_[0-9A-Za-z]{38}/.exec(await runOpenEarn(site, env))?.[0].replace(/^(.{12}).*(.{4})$/, '$1…$2')
    expect(await runOpenEarn(['keys', 'list'], env)).toMatch(new RegExp(`${hint}.* 0\\.2\\b`))
    await runOpenEarn(['keys', 'set', `${hint}`, '--address-share', '1'], env)
    expect(await runOpenEarn(['keys', 'list'], env)).not.toMatch(/0\.2/)
    expect(await runOpenEarn(['keys', 'revoke', keyId], env)).toMatch(/revoked/)
    expect(await runOpenEarn(['keys', 'list'], env)).toMatch(/revoked/)
  }, 120_000)

  it('binds a key only to a distributor of its own organization', async () => {
    const other = (await runOpenEarn(['orgs', 'create', '--name', 'Second'], env)).trim()
    const create = (org: string) => [
      'keys',
      'create',
      '--org',
      org,
      '--kind',
      'publishable',
      '--distributor',
      'first-app',
    ]
    const refused = await refusal(create(other))
    expect([refused.code, refused.said]).toEqual([2, 'openearn: the organization has no distributor first-app\n'])
    expect(await runOpenEarn(['keys', 'list', '--org', other], env)).not.toMatch(/pk_live_/)
    expect(await runOpenEarn(create(organizationId), env)).toMatch(/pk_live_/)
  }, 60_000)

  it('keeps the confirmations of a chain whose urls are replaced', async () => {
    const add = ['chains', 'add', '77', '--name', 'Seven', '--rpc', 'http://127.0.0.1:1']
    await runOpenEarn([...add, '--confirmations', '64'], env)
    await runOpenEarn([...add.slice(0, -1), 'http://127.0.0.1:2'], env)
    expect(await runOpenEarn(['chains', 'list'], env)).toMatch(/^77 +Seven +yes +yes +64 +http:\/\/127\.0\.0\.1:2/m)
    await runOpenEarn(['chains', 'add', '78', '--name', 'Eight', '--metadata-only'], env)
    expect(await runOpenEarn(['chains', 'list'], env)).toMatch(/^78 +Eight +no +yes +12/m)
  }, 60_000)

  it('takes for a key the origins of pages alone, exactly as browsers send them', async () => {
    const texts = ['*', 'https://app.example/', 'https://App.example', 'https://app.example; script-src *', 'file:///x']
    const create = (origin: string) => ['keys', 'create', '--org', 'x', '--kind', 'publishable', '--origin', origin]
    for (const { code, said } of await Promise.all(texts.map((text) => refusal(create(text)))))
      expect([code, said]).toEqual([2, expect.stringContaining('is no origin, such as https://app.example')])
  }, 60_000)

  it('says in one sentence what is wrong, and ends with 2', async () => {
    const refusals = [
      ['nonsense'],
      ['keys', 'create'],
      ['keys', 'create', '--org', 'x', '--kind', 'other'],
      ['keys', 'create', '--unknown'],
      ['keys', 'create', '--org', 'x', '--kind', 'secret', '--address-share', '0.5'],
      ['keys', 'create', '--org', 'x', '--kind', 'publishable', '--address-share', '0'],
      ['keys', 'set', 'x', '--address-share', '1.1'],
      ['keys', 'set', 'x'],
      ['distributors', 'create', 'bad id', '--org', 'x'],
      ['chains', 'add', 'x', '--name', 'X', '--rpc', 'http://127.0.0.1:1'],
      ['chains', 'rewind', '1', '--to', '1e2'],
      ['chains', 'rewind', '1', '--to', '2'],
      ['doctor', '--all'],
      ['members', 'unlink', 'evm:0x1', 'evm:0x2'],
      ['keys', 'list', '--org', 'x'],
      ['report', 'distributor', 'nobody', '--from', '2026-01-01T00:00:00Z', '--to', '2026-02-01T00:00:00Z'],
      ['report', 'organization', 'first-app', '--from', '2026-01-01T00:00:00Z', '--to', '2026-02-01T00:00:00Z'],
      ['catalogue', 'import', join(folder, 'missing.json')],
    ].map(async (words) => ({ words, ...(await refusal(words)) }))
    for (const { words, code, said } of await Promise.all(refusals)) {
      expect({ words, code }).toEqual({ words, code: 2 })
      expect(said).toMatch(/^openearn: /)
      expect(said).not.toMatch(/\n\s+at /)
    }
  }, 60_000)

  it('names the line of a mistake in a catalogue file', async () => {
    const file = join(folder, 'catalogue.json')
    await writeFile(file, '{\n  "chains": [\n    { "chainId": "one", "name": "One", "slug": "one" }\n  ]\n}\n')
    const { code, said } = await refusal(['catalogue', 'import', file])
    expect(code).toBe(2)
    expect(said).toMatch(/catalogue\.json:3: chains\[0\]\.chainId/)
  }, 60_000)
})
