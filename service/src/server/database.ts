import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findEmbeddedPostgres, findHome, startEmbeddedPostgres } from '@openearn/embedded-postgres'
import { type Config, ConfigError } from '../kernel/config.js'
import { type Log, silentLog } from '../kernel/log.js'
import { migrate, readMigrations } from '../postgres/migrate.js'
import { type Database, type DatabaseTarget, openDatabase } from '../postgres/pool.js'
import type { Shutdown } from './shutdown.js'

/** Folder of the embedded server inside the data folder. */
export function postgresFolder(config: Config): string {
  return join(config.dataDir, 'postgres')
}

/**
 * The database of a long-running service: the external one of DATABASE_URL, else the embedded server, which this
 * process starts and owns. Inspected first, then migrated, unless it is wanted as it is, and closed by the shutdown.
 */
export async function openServiceDatabase(
  config: Config,
  log: Log,
  shutdown: Shutdown,
  options: { asItIs?: boolean; isJoined?: boolean; inspect?: ((db: Database) => Promise<void>) | undefined } = {},
): Promise<Database> {
  const target = options.isJoined ? await joinedTarget(config) : await serviceTarget(config, log, shutdown)
  const connectMs = 10_000 * config.patience
  const db = openDatabase(target, { max: config.databasePoolSize, name: 'openearn', connectMs })
  shutdown.add('database', () => db.end({ timeout: 5 }))
  await options.inspect?.(db)
  if (options.asItIs) return db
  const applied = await migrate(db, await readMigrations())
  if (applied.length > 0) log.info(`database: applied ${applied.length} migrations`)
  return db
}

/** The database of the process this one belongs to. */
async function joinedTarget(config: Config): Promise<DatabaseTarget> {
  if (config.databaseUrl) return { url: config.databaseUrl }
  const running = await findEmbeddedPostgres(postgresFolder(config))
  if (!running) throw new ConfigError('the embedded PostgreSQL of the service does not run')
  return running
}

async function serviceTarget(config: Config, log: Log, shutdown: Shutdown): Promise<DatabaseTarget> {
  if (config.databaseUrl) return { url: config.databaseUrl }
  const server = await startEmbeddedPostgres({ dataDir: postgresFolder(config), log: log.child({ part: 'postgres' }) })
  shutdown.add('embedded PostgreSQL', () => server.stop())
  return server.target
}

/**
 * The database for one command: the external one, the embedded server of a running service, or the embedded server
 * started for as long as the command takes. An embedded one is migrated only when no service is running, and made only
 * where `mayMake`: elsewhere the command was started in the wrong folder.
 */
export async function openCommandDatabase(
  config: Config,
  log: Log,
  shutdown: Shutdown,
  options: { asItIs?: boolean; mayMake?: boolean } = {},
): Promise<Database> {
  if (config.databaseUrl) return openServiceDatabase(config, log, shutdown, options)
  const running = await findEmbeddedPostgres(postgresFolder(config))
  if (!running) {
    if (!options.mayMake && !(await isEmbeddedDatabase(config))) throw noDatabase(config)
    return openServiceDatabase(config, log, shutdown, options)
  }
  const db = openDatabase(running, { max: 2, name: 'openearn command' })
  shutdown.add('database', () => db.end({ timeout: 5 }))
  return db
}

async function isEmbeddedDatabase(config: Config): Promise<boolean> {
  const home = await findHome(postgresFolder(config))
  return home !== undefined && existsSync(join(home, 'data', 'PG_VERSION'))
}

function noDatabase({ dataDir }: Config): ConfigError {
  return new ConfigError(
    `there is no database in ${dataDir}: run the command where the service runs, or set OPENEARN_DATA_DIR or DATABASE_URL; ` +
      '`openearn migrate` makes a new one here',
  )
}

/** A server in a folder of its own, gone afterwards: nothing that is tried there can reach the installation. */
export async function withScratchDatabase<T>(work: (scratch: Database) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'openearn-plan-'))
  try {
    // As root the server runs as another user, who must be able to enter.
    await chmod(folder, 0o755)
    const server = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: silentLog, durable: false })
    const scratch = openDatabase(server.target, { max: 2, name: 'openearn plan' })
    try {
      return await work(scratch)
    } finally {
      await scratch.end({ timeout: 5 })
      await server.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
