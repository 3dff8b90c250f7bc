import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFolder, runOpenEarn, startOpenEarn, waitUntilReady } from './process.js'

let folder: string
let env: Record<string, string>

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
    const organizationId = (await runOpenEarn(['orgs', 'create', '--name', 'First'], env)).trim()
    expect(organizationId).toMatch(/^[0-9a-f-]{36}$/)
    await runOpenEarn(['distributors', 'create', 'first-app', '--org', organizationId], env)
    expect(await runOpenEarn(['distributors', 'list'], env)).toMatch(/^first-app/m)
    const created = await runOpenEarn(['keys', 'create', '--org', organizationId, '--kind', 'secret'], env)
    const text = /sk_live_[0-9A-Za-z]{38}/.exec(created)?.[0] ?? ''
    const listed = await runOpenEarn(['keys', 'list', '--org', organizationId], env)
    expect(listed).toMatch(new RegExp(`secret\\s+${text.slice(0, 12)}…${text.slice(-4)}\\s+active`))
    expect(listed).not.toContain(text)
    const id = /^[0-9a-f-]{36}/m.exec(listed)?.[0] ?? ''
    expect(await runOpenEarn(['keys', 'revoke', id], env)).toMatch(/revoked/)
    expect(await runOpenEarn(['keys', 'list'], env)).toMatch(/revoked/)
  }, 120_000)

  it('says in one sentence what is wrong, and ends with 2', async () => {
    for (const words of [
      ['nonsense'],
      ['keys', 'create'],
      ['keys', 'create', '--org', 'x', '--kind', 'other'],
      ['keys', 'create', '--unknown'],
      ['distributors', 'create', 'bad id', '--org', 'x'],
      ['chains', 'add', 'x', '--name', 'X', '--rpc', 'http://127.0.0.1:1'],
      ['catalogue', 'import', join(folder, 'missing.json')],
    ]) {
      const { code, said } = await refusal(words)
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

  it('refuses a bad environment, all mistakes at once', async () => {
    const { code, said } = await refusal(['serve'], { PORT: 'x', ATTRIBUTION_KEY: '0x12', LOG_LEVEL: 'loud' })
    expect(code).toBe(2)
    expect(said).toMatch(/PORT must be .*ATTRIBUTION_KEY must be .*LOG_LEVEL must be/)
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
    for (const [words, setting] of [
      [['serve'], 'PORT'],
      [['serve'], 'OPS_PORT'],
      [['dev'], 'ANVIL_PORT'],
    ] as const) {
      const own = { OPENEARN_DATA_DIR: join(folder, `taken-${setting}`), [setting]: port }
      const { code, said } = await refusal([...words], own)
      expect(said).toContain(`port ${port} of 127.0.0.1 is taken; free it or set ${setting} to another`)
      expect(code).toBe(2)
    }
    server.close()
  }, 90_000)

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
