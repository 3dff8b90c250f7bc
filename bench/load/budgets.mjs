// What a budget costs: the same 82 KB page without a charge, with charges coalesced as the service does it, and with
// one statement a request. Usage: node bench/load/budgets.mjs [seconds per run] [rounds]   (needs `npm run build`, wrk)
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '../../packages/embedded-postgres/dist/embedded.js'
import { createKey } from '../../service/dist/features/auth/index.js'
import { newId } from '../../service/dist/kernel/ids.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { migrate, readMigrations } from '../../service/dist/postgres/migrate.js'
import { openDatabase } from '../../service/dist/postgres/pool.js'
import { drive, requireWrk } from './wrk.mjs'

await requireWrk()

const seconds = Number(process.argv[2] ?? 10)
const rounds = Number(process.argv[3] ?? 3)
const script = fileURLToPath(new URL('./budgetServer.mjs', import.meta.url))
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const say = (line) => process.stdout.write(`${line}\n`)

const folder = await mkdtemp(join(tmpdir(), 'openearn-budgets-'))
await chmod(folder, 0o755)
const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: silentLog })
const db = openDatabase(postgres.target, { max: 2 })
const children = []
try {
  await migrate(db, await readMigrations())
  const organizationId = newId()
  await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'Bench', 'distributor')`
  const { text } = await createKey({ db }, { organizationId, kind: 'publishable', hourlyUnits: 1_000_000_000 })
  const headers = { 'X-API-Key': text }
  const modes = ['none', 'coalesced', 'single']
  const servers = await Promise.all(
    modes.map(async (mode) => {
      const child = spawn(process.execPath, [script, JSON.stringify(postgres.target), mode], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.push(child)
      const baseUrl = await new Promise((resolve) =>
        child.stdout.on('data', (chunk) => resolve(/ready (\S+)/.exec(String(chunk))[1])),
      )
      return { mode, baseUrl, runs: [] }
    }),
  )
  for (let round = 0; round < rounds; round++)
    for (const server of servers)
      server.runs.push(await drive({ baseUrl: server.baseUrl, paths: ['/v2/page'], headers, seconds }))
  say(
    `machine: ${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  )
  say(`wrk, 1 thread, 32 connections, ${seconds} s a run, median of ${rounds} interleaved runs\n`)
  say('| budget | requests/s | of none | p50 ms | p99 ms | failed |\n|---|---|---|---|---|---|')
  const bare = median(servers[0].runs.map(({ perSecond }) => perSecond))
  for (const { mode, runs } of servers) {
    const of = (name) => median(runs.map((run) => run[name]))
    const failed = runs.reduce((sum, run) => sum + run.failed, 0)
    say(
      `| ${mode} | ${Math.round(of('perSecond'))} | ${(of('perSecond') / bare).toFixed(2)} | ${of('p50').toFixed(2)} | ${of('p99').toFixed(2)} | ${failed} |`,
    )
  }
} finally {
  for (const child of children) child.kill('SIGTERM')
  await db.end()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
