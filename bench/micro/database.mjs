import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../packages/embedded-postgres/dist/embedded.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { migrate, readMigrations } from '../../service/dist/postgres/migrate.js'
import { openDatabase } from '../../service/dist/postgres/pool.js'

/** Processor seconds the processes of a database server have used so far (Linux). */
export async function serverCpuSeconds(db) {
  const [{ pid: backend }] = await db`select pg_backend_pid() as pid`
  const postmaster = Number(/\) \S ([0-9]+)/.exec(readFileSync(`/proc/${backend}/stat`, 'utf8'))[1])
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (Number(pid) === postmaster || Number(fields[1]) === postmaster)
        ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // The process ended between the listing and the look.
    }
  }
  return ticks / 100
}

/** A migrated database of one's own, durable as in production unless said otherwise. */
export async function openBenchDatabase({ durable = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'openearn-bench-'))
  chmodSync(folder, 0o755)
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: silentLog, durable })
  const db = openDatabase(server.target, { max: 6 })
  await migrate(db, await readMigrations())
  return {
    db,
    target: server.target,
    serverCpuSeconds: () => serverCpuSeconds(db),
    close: async () => {
      await db.end({ timeout: 5 })
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const organizationId = '11111111-1111-4111-8111-111111111111'

/** A chain with one vault and one distributor in the catalogue. */
export async function fillCatalogue(db, { chainId, vault, token, distributorId, startBlock = 0 }) {
  await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  await db`insert into chains (chain_id, name, slug, watched) values (${chainId}, 'Bench', 'bench', true)`
  await db`insert into tokens (chain_id, address, decimals, symbol, name) values (${chainId}, ${token}, 6, 'USD', 'Dollar')`
  await db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from, start_block)
    values (${chainId}, ${vault}, 'erc4626', ${token}, 6, ${vault}, 6, '1970-01-01', ${startBlock})`
  await db`insert into opportunities (id, slug, name, type, chain_id, vault_address)
    values ('22222222-2222-4222-8222-222222222222', 'v', 'V', 'vault', ${chainId}, ${vault})`
  await db`insert into distributors (id, organization_id, active_from) values (${distributorId}, ${organizationId}, '1970-01-01')`
}
