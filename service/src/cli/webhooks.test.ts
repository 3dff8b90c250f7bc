import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestDatabase, type TestDatabase, urlOf } from '../../test/database.js'
import { openReceiver, type Receiver } from '../../test/receiver.js'
import { listChanges } from '../features/audit/index.js'
import { newId } from '../kernel/ids.js'
import { webhooks } from './webhooks.js'

const organizationId = newId()
let database: TestDatabase
let receiver: Receiver

beforeAll(async () => {
  database = await openTestDatabase()
  receiver = await openReceiver()
  vi.stubEnv('DATABASE_URL', urlOf(database.target))
  vi.stubEnv('SECRETS_KEY', 'a key of the operator for tests only')
  vi.stubEnv('WEBHOOKS_ALLOWED', receiver.place)
  await database.db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await receiver?.close()
  await database?.close()
})

async function run(...words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await webhooks.run(words)
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}

const add = async (): Promise<string> =>
  /id {6}(\S+)/.exec(await run('add', `${receiver.url}/hook`, '--org', organizationId))?.[1] ?? ''

describe('openearn webhooks', () => {
  it('adds one with its secret, lists it without, and removes it; each change is recorded, without the secret', async () => {
    const said = await run('add', `${receiver.url}/hook`, '--org', organizationId, '--type', 'interaction.confirmed')
    const [, id = '', secret = ''] = /id {6}(\S+)\nsecret {2}(whsec_\S+)\n/.exec(said) ?? []
    const listed = await run('list', '--org', organizationId)
    expect(listed).toMatch(new RegExp(`${id} +${receiver.url}/hook +interaction.confirmed +enabled`))
    expect(listed).not.toContain('whsec_')
    expect(await run('remove', id)).toContain(`removed ${id}`)
    expect(await run('list', '--org', organizationId)).not.toContain(id)
    const changes = await listChanges(database.db, 10)
    expect(changes.map(({ command }) => command.split(' ').slice(0, 2).join(' '))).toEqual([
      'webhooks remove',
      'webhooks add',
    ])
    expect(JSON.stringify(changes)).not.toContain(secret.slice(6))
  })

  it('sends a test event, and says whether it was taken', async () => {
    const id = await add()
    expect(await run('test', id)).toMatch(/taken with 204 in \d+ ms/)
    expect(receiver.received.at(-1)?.body.type).toBe('webhook.test')
    receiver.respond((_received, response) => response.writeHead(500).end())
    const code = process.exitCode
    expect(await run('test', id)).toMatch(/not taken: the receiver answered 500/)
    expect(process.exitCode).toBe(1)
    process.exitCode = code
  })

  it('puts events after a cursor into the queue again', async () => {
    const id = await add()
    expect(await run('replay', id, '--after', 'latest')).toContain(`to ${receiver.url}/hook again`)
    await expect(run('replay', id, '--after', 'x')).rejects.toThrow(/cursor/)
  })

  it.each([
    [['add', '--org', organizationId], /name the url/],
    [['add', 'https://example.com'], /--org/],
    [['add', 'https://example.com', '--org', newId()], /no organization/],
    [['test', newId()], /no webhook/],
    [['remove', 'x'], /no webhook/],
    [['send'], /say add, list, test, replay or remove/],
  ])('says what is wrong with %j', async (words, message) => {
    await expect(run(...words)).rejects.toThrow(message)
  })

  it('refuses a private place, and says so where no key for secrets is set', async () => {
    await expect(run('add', 'https://10.0.0.1/', '--org', organizationId)).rejects.toThrow(/public address/)
    vi.stubEnv('SECRETS_KEY', '')
    await expect(run('add', `${receiver.url}/hook`, '--org', organizationId)).rejects.toThrow(/SECRETS_KEY/)
    vi.stubEnv('SECRETS_KEY', 'a key of the operator for tests only')
  })
})
