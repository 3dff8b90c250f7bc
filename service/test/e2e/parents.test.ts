import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { openTestDatabase, type TestDatabase, urlOf } from '../database.js'
import { main, makeFolder } from './process.js'

let database: TestDatabase
let folder: string
const shells: ChildProcess[] = []
const services: number[] = []
/** Of the service that was started first: where it listens and what it said; and what the second one said. */
let first: { opsUrl: string; said: string; again: string }

beforeAll(async () => {
  database = await openTestDatabase()
  folder = await makeFolder('openearn-parents-')
})
afterAll(async () => {
  for (const pid of services) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  for (const shell of shells) shell.kill('SIGKILL')
  await database?.close()
  await rm(folder, { recursive: true, force: true })
})

/** The service in the background of a shell that waits for it, as `openearn serve &` leaves it. */
async function startInShell(
  env: Record<string, string>,
): Promise<{ pid: number; opsUrl: string; shell: ChildProcess; said: () => string }> {
  const shell = spawn('sh', ['-c', '"$0" "$@" & echo "pid $!"; wait', process.execPath, main, 'serve'], {
    env: {
      ...{ PATH: process.env['PATH'], DATABASE_URL: urlOf(database.target), OPENEARN_DATA_DIR: folder },
      ...{ PORT: '0', OPS_PORT: '0', ...env },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  shells.push(shell)
  let said = ''
  for (const stream of [shell.stdout, shell.stderr])
    stream?.on('data', (chunk) => {
      said += String(chunk)
    })
  const pid = await until('the pid of the service', () => Number(/^pid (\d+)$/m.exec(said)?.[1]) || undefined)
  services.push(pid)
  const opsUrl = await until('the service to be ready', () => /^ready .*?operator (\S+)/m.exec(said)?.[1])
  return { pid, opsUrl, shell, said: () => said }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

describe('openearn serve in the background of a shell', () => {
  it('goes on when the shell ends, and stops when npm had started it', async () => {
    const plain = await startInShell({})
    plain.shell.kill('SIGKILL')
    // It ends about a second after its npm, so by then the other had its time as well.
    const ofNpm = await startInShell({ npm_lifecycle_event: 'start' })
    ofNpm.shell.kill('SIGKILL')
    await until('the service that npm started to be gone', () => !isAlive(ofNpm.pid))
    expect((await fetch(`${plain.opsUrl}/healthz`)).status).toBe(200)
    first = { opsUrl: plain.opsUrl, said: plain.said(), again: ofNpm.said() }
  }, 120_000)

  it('tells the operator token that it made at its first start alone, and keeps it for its owner', async () => {
    const [, token = ''] = /^operator token, told this once: (\S+)$/m.exec(first.said) ?? []
    const file = join(folder, 'operator-token')
    expect([token, await readFile(file, 'utf8')]).toEqual([expect.stringMatching(/^[\w-]{43}$/), `${token}\n`])
    expect((await stat(file)).mode & 0o077).toBe(0)
    expect(first.again).not.toContain('operator token')
    const read = async (text: string) =>
      (await fetch(`${first.opsUrl}/ops/v1/keys.json`, { headers: { authorization: `Bearer ${text}` } })).status
    expect([await read(token), await read('x'.repeat(43))]).toEqual([200, 401])
  }, 60_000)
})
