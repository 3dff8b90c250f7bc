import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = dirname(fileURLToPath(import.meta.url))

/** Installs what package.json names into this folder alone, the first time it is asked for. */
export async function installPonder() {
  if (existsSync(join(root, 'node_modules', 'ponder'))) return
  const child = spawn('npm', ['install', '--no-package-lock', '--ignore-scripts'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  if (code !== 0) throw new Error('Ponder could not be installed')
}

/**
 * Ponder's backfill of the Transfer and Deposit events of one vault, cold, in a process of its own. `seconds` runs from
 * the beginning of its backfill to the end of its indexing; its start-up is not counted. Without `databaseUrl` it uses
 * the PGlite it brings.
 */
export async function runPonder({
  rpcUrl,
  vault,
  endBlock,
  databaseUrl,
  urls = 100,
  logsRange = 2_000,
  port = 42_069,
}) {
  const folder = mkdtempSync(join(tmpdir(), 'openearn-ponder-'))
  const words = ['start', '--root', root, '--schema', 'bench', '--port', String(port), '--hostname', '127.0.0.1']
  const child = spawn(
    process.execPath,
    [join(root, 'node_modules/ponder/dist/esm/bin/ponder.js'), ...words, '--log-format', 'json', '--log-level', 'info'],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        PONDER_TELEMETRY_DISABLED: '1',
        RPC_URL: rpcUrl,
        VAULT: vault,
        END_BLOCK: String(endBlock),
        URLS: String(urls),
        LOGS_RANGE: String(logsRange),
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      },
    },
  )
  const lines = []
  let began
  let fetched
  try {
    await new Promise((resolve, reject) => {
      const read = (line) => {
        lines.push(line)
        if (process.env.SHOW_PEER) console.log(line)
        if (began === undefined && /Started (fetching backfill JSON-RPC data|backfill indexing)/.test(line))
          began = performance.now()
        if (/Finished fetching backfill JSON-RPC data/.test(line)) fetched = performance.now()
        if (/Completed (backfill )?indexing across all chains|Completed (backfill )?indexing/.test(line)) resolve()
      }
      createInterface({ input: child.stdout }).on('line', read)
      createInterface({ input: child.stderr }).on('line', read)
      child.once('exit', (code) => reject(new Error(`Ponder ended (${code}):\n${lines.slice(-15).join('\n')}`)))
    })
    return { seconds: (performance.now() - began) / 1000, fetchSeconds: (fetched - began) / 1000 }
  } finally {
    child.removeAllListeners('exit')
    const gone = new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode === null) {
      child.kill('SIGKILL')
      await gone
    }
    rmSync(folder, { recursive: true, force: true })
  }
}
