import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeCatalogue } from './catalogueFile.mjs'

const ownMain = fileURLToPath(new URL('../../service/dist/cli/main.js', import.meta.url))
const loopDelay = new URL('./loopDelay.mjs', import.meta.url).href
const run = promisify(execFile)

/**
 * A built service of its own with a catalogue and a key, on free loopback ports; stop it when done. `settings` are added to
 * its environment; `main` is the program of another checkout.
 */
export async function startService(opportunities, { settings = {}, main = ownMain } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'openearn-bench-'))
  await run('chmod', ['755', folder])
  const env = {
    ...process.env,
    OPENEARN_DATA_DIR: join(folder, 'data'),
    PORT: '0',
    OPS_PORT: '0',
    LOG_LEVEL: 'warn',
    ...settings,
  }
  delete env.DATABASE_URL
  const child = spawn(process.execPath, ['--import', loopDelay, main, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const openearn = async (...words) => (await run(process.execPath, [main, ...words], { env })).stdout
  const baseUrl = await new Promise((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (chunk) => {
      said += String(chunk)
      const url = /ready (http:\S+)/.exec(said)?.[1]
      if (url) resolve(url)
    })
    child.on('exit', (code) => reject(new Error(`the service ended with ${code}: ${said}`)))
  })
  const file = join(folder, 'catalogue.json')
  await writeFile(file, JSON.stringify(makeCatalogue(opportunities)))
  await openearn('catalogue', 'import', file)
  const org = /[0-9a-f-]{36}/.exec(await openearn('orgs', 'create', '--name', 'Bench', '--type', 'distributor'))?.[0]
  const makeKey = async () => {
    const made = await openearn('keys', 'create', '--org', org, '--kind', 'publishable', '--hourly', '1000000000')
    return /pk_live_\S+/.exec(made)?.[0]
  }
  const key = await makeKey()
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch(`${baseUrl}/v2/opportunities/`, { headers: { 'X-API-Key': key } })
    if ((await answer.json()).pagination?.total === opportunities) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    baseUrl,
    pid: child.pid,
    key,
    makeKey,
    dataDir: join(folder, 'data'),
    loopDelay: () => askLoopDelay(child),
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await gone
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** How late the event loop of a process with `loopDelay.mjs` was since it was last asked: p99 and most, in milliseconds. */
export async function askLoopDelay(child) {
  const answer = new Promise((resolve) => child.once('message', resolve))
  child.send('loop delay')
  return answer
}
