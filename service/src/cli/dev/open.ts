import { join } from 'node:path'
import { devnetChainId } from '../../chain/devnet.js'
import { findCursor } from '../../chain/storeCursor.js'
import type { Context } from '../../kernel/context.js'
import { dropEverything, migrate, readMigrations } from '../../kernel/migrate.js'
import type { Shutdown } from '../../kernel/shutdown.js'
import { UsageError } from '../command.js'
import { type DevChain, removeDevChain, startDevChain, syncChainTime } from './anvil.js'
import { type Deployment, deployDevnet } from './deploy.js'
import { isOurChain, readMarker, recordMarker } from './marker.js'

type World = { chain: DevChain; deployment: Deployment }

/**
 * Opens the chain that belongs to the database, or begins a new one in an empty database: at the first start, on
 * `reset`, and when the two do not fit any more.
 */
export async function openWorld(ctx: Context, shutdown: Shutdown, reset: boolean): Promise<World> {
  const { log, clock, config } = ctx
  const options = { folder: join(config.dataDir, 'anvil'), port: config.anvilPort, clock, log, shutdown }
  const marker = reset ? undefined : await readMarker(ctx)
  if (marker) {
    const chain = await startKept(options)
    if (chain && (await isOurChain(chain, marker, await findCursor(ctx.db, devnetChainId)))) {
      await syncChainTime(chain, clock)
      return { chain, deployment: marker }
    }
    log.warn('the local chain does not match the database (it lost blocks or was replaced); starting both over')
    await chain?.stop()
  }
  await beginAnew(ctx)
  await removeDevChain(options.folder, log)
  const chain = await startDevChain(options)
  log.info('deploying tokens and vaults on a new local chain')
  const deployment = await deployDevnet(chain)
  await syncChainTime(chain, clock)
  await recordMarker(ctx, deployment)
  return { chain, deployment }
}

/** The chain as it was left; undefined when its state cannot be read any more. */
async function startKept(options: Parameters<typeof startDevChain>[0]) {
  try {
    return await startDevChain(options)
  } catch (error) {
    if (error instanceof UsageError) throw error
    options.log.warn({ err: error }, "the local chain's state cannot be read")
    return undefined
  }
}

async function beginAnew({ db }: Context): Promise<void> {
  await dropEverything(db)
  await migrate(db, await readMigrations())
}
