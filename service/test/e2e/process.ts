import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { access, chmod, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { patience } from '../../../contracts/test/patience.js'
import { until } from '../../../contracts/test/until.js'
import { copyDevnet } from './copyDevnet.js'
import type { Dev, Started } from './started.js'

export type { Dev, Started } from './started.js'

/** The checkout whose built program is started: this one, unless OPENEARN_BUILD names another. */
const checkout = process.env['OPENEARN_BUILD'] ?? fileURLToPath(new URL('../../..', import.meta.url))
/** The built program: in one piece, as users start it; as the compiler leaves it where what it runs is counted. */
export const main = [
  ...(process.env['NODE_V8_COVERAGE'] === undefined ? ['service/dist/program/main.js'] : []),
  'service/dist/cli/main.js',
]
  .map((path) => join(checkout, path))
  .find((path) => existsSync(path))!

/** A new folder for data, which the unprivileged user a database server started by root runs as can enter. */
export async function makeFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  await chmod(folder, 0o755)
  return folder
}

/** Where programs tell what they ran, when that is asked for; see scripts/coverage.mjs. */
const programs = process.env['NODE_V8_COVERAGE']
const coverage = programs === undefined ? {} : { NODE_V8_COVERAGE: programs }

/** A busy machine decides no test: the program refuses nothing because it is late, and waits as long as this run may. */
const unhurried = { EVENT_LOOP_DELAY_MAX_MS: '0', PATIENCE: String(Math.min(100, Math.ceil(patience))) }

/** Starts the built `openearn` with free ports of loopback unless `env` says otherwise. */
export function startOpenEarn(words: string[], env: Record<string, string>): Started {
  // Without a folder of its own it would make a token in that of the checkout.
  const token = env['OPENEARN_DATA_DIR'] === undefined ? { OPERATOR_TOKEN: 't'.repeat(32) } : {}
  const child = spawn(process.execPath, [main, ...words], {
    env: {
      ...{ PATH: process.env['PATH'], ...coverage, ...unhurried, PORT: '0', OPS_PORT: '0', ANVIL_PORT: '0' },
      ...{ ...token, ...env },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      said += String(chunk)
    })
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
  }
  return { child, output: () => said, ended, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') }
}

/** Runs one command to its end; fails with what it said when it fails. */
export async function runOpenEarn(words: string[], env: Record<string, string>): Promise<string> {
  const started = startOpenEarn(words, env)
  const { code } = await started.ended
  if (code !== 0) throw new Error(`openearn ${words.join(' ')} ended with ${code}: ${started.output()}`)
  return started.output()
}

/** Looks at a process before it is given up: two minutes, as the hooks that start one wait. */
const looksMax = 6_000 * patience

/** Waits until the process says `ready …` and gives that line. */
export async function waitUntilReady(started: Started): Promise<string> {
  return until(
    'the process to be ready',
    () => {
      if (started.child.exitCode !== null) throw new Error(`it ended instead: ${started.output()}`)
      return /^ready.*$/m.exec(started.output())?.[0]
    },
    looksMax,
  )
}

/** Starts a new devnet in a folder, or the one that is in it, and waits until it is ready. */
export async function startNewDevnet(dataDir: string): Promise<Started & { dev: Dev }> {
  const started = startOpenEarn(['dev'], { OPENEARN_DATA_DIR: dataDir, LOG_LEVEL: 'info' })
  await waitUntilReady(started)
  const dev: Dev = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'))
  return { ...started, dev }
}

/** The same on a copy of the devnet that the files of a run share; see there for what it lacks. */
export async function startDevnet(dataDir: string): Promise<Started & { dev: Dev }> {
  const isNew = await access(join(dataDir, 'anvil')).then(
    () => false,
    () => true,
  )
  if (isNew) await copyDevnet(dataDir, startNewDevnet)
  return startNewDevnet(dataDir)
}
