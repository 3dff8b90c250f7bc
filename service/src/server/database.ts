import { join } from 'node:path'
import type { Config } from '../kernel/config.js'
import { type Database, type DatabaseTarget, openDatabase } from '../kernel/database.js'
import { findEmbeddedPostgres, startEmbeddedPostgres } from '../kernel/embedded.js'
import type { Log } from '../kernel/log.js'
import { migrate, readMigrations } from '../kernel/migrate.js'
import type { Shutdown } from '../kernel/shutdown.js'

/** Folder of the embedded server inside the data folder. */
export function postgresFolder(config: Config): string {
  return join(config.dataDir, 'postgres')
}

/**
 * The database of a long-running service: the external one of DATABASE_URL, else the embedded server, which this
 * process starts and owns. Migrated, unless it is wanted as it is, and closed by the shutdown.
 */
export async function openServiceDatabase(
  config: Config,
  log: Log,
  shutdown: Shutdown,
  options: { asItIs?: boolean } = {},
): Promise<Database> {
  const target = await serviceTarget(config, log, shutdown)
  const db = openDatabase(target, { max: config.databasePoolSize, name: 'openearn' })
  shutdown.add('database', () => db.end({ timeout: 5 }))
  if (options.asItIs) return db
  const applied = await migrate(db, await readMigrations())
  if (applied.length > 0) log.info(`database: applied ${applied.length} migrations`)
  return db
}

async function serviceTarget(config: Config, log: Log, shutdown: Shutdown): Promise<DatabaseTarget> {
  if (config.databaseUrl) return { url: config.databaseUrl }
  const server = await startEmbeddedPostgres({ dataDir: postgresFolder(config), log: log.child({ part: 'postgres' }) })
  shutdown.add('embedded PostgreSQL', () => server.stop())
  return server.target
}

/**
 * The database for one command: the external one, the embedded server of a running service, or the embedded server
 * started for as long as the command takes. An embedded one is migrated only when no service is running.
 */
export async function openCommandDatabase(
  config: Config,
  log: Log,
  shutdown: Shutdown,
  options: { asItIs?: boolean } = {},
): Promise<Database> {
  const running = config.databaseUrl ? undefined : await findEmbeddedPostgres(postgresFolder(config))
  if (!running) return openServiceDatabase(config, log, shutdown, options)
  const db = openDatabase(running, { max: 2, name: 'openearn command' })
  shutdown.add('database', () => db.end({ timeout: 5 }))
  return db
}
