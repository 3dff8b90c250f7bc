import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { openTestDatabase, type TestDatabase, urlOf } from '../database.js'
import { main } from './process.js'

let database: TestDatabase
const shells: ChildProcess[] = []
const services: number[] = []

beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(async () => {
  for (const pid of services) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  for (const shell of shells) shell.kill('SIGKILL')
  await database?.close()
})

/** The service in the background of a shell that waits for it, as `openearn serve &` leaves it. */
async function startInShell(
  env: Record<string, string>,
): Promise<{ pid: number; opsUrl: string; shell: ChildProcess }> {
  const shell = spawn('sh', ['-c', '"$0" "$@" & echo "pid $!"; wait', process.execPath, main, 'serve'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: urlOf(database.target), PORT: '0', OPS_PORT: '0', ...env },
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
  return { pid, opsUrl, shell }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

describe('openearn serve whose parent ends', () => {
  it('goes on when that was a shell, and stops when npm had started it', async () => {
    const plain = await startInShell({})
    plain.shell.kill('SIGKILL')
    // It ends about a second after its npm, so by then the other had its time as well.
    const ofNpm = await startInShell({ npm_lifecycle_event: 'start' })
    ofNpm.shell.kill('SIGKILL')
    await until('the service that npm started to be gone', () => !isAlive(ofNpm.pid))
    expect((await fetch(`${plain.opsUrl}/healthz`)).status).toBe(200)
  }, 120_000)
})
