import { join } from 'node:path'
import { toUnixSeconds } from '../../kernel/clock.js'
import type { Context } from '../../postgres/context.js'
import { migrate, readMigrations } from '../../postgres/migrate.js'
import type { Shutdown } from '../../server/shutdown.js'
import { UsageError } from '../terminal.js'
import { type DevChain, removeDevChain, startDevChain, syncChainTime } from './anvil.js'
import { writeState } from './anvilState.js'
import { type Deployment, deployDevnet } from './deploy.js'
import { playPast } from './history.js'
import { dropLostBlocks, isOurChain, readMarker, recordMarker } from './marker.js'
import { dropDevnet } from './store.js'

type World = { chain: DevChain; deployment: Deployment }

/**
 * Opens the chain that belongs to the database, or begins a new one in an empty database: at the first start, on
 * `reset`, and when the chain's state is gone. A chain that lost its newest blocks is used: the database
 * takes them back.
 */
export async function openWorld(ctx: Context, shutdown: Shutdown, reset: boolean): Promise<World> {
  const { log, clock, config } = ctx
  const onRestart = async (chain: DevChain) => {
    const lost = await dropLostBlocks(ctx, chain)
    if (lost > 0) log.warn(`the local chain lost its newest blocks; ${lost} blocks were taken back`)
  }
  const options = { folder: join(config.dataDir, 'anvil'), port: config.anvilPort, clock, log, shutdown, onRestart }
  const marker = reset ? undefined : await readMarker(ctx)
  if (marker) {
    const chain = await startKept(options)
    if (await isOurChain(chain, marker)) {
      await syncChainTime(chain, clock)
      await onRestart(chain)
      return { chain, deployment: marker }
    }
    log.warn('the local chain is not the one of the database, or its state is gone; starting both over')
    await chain.stop()
  }
  await beginAnew(ctx)
  await removeDevChain(options.folder, log)
  const chain = await startDevChain(options)
  log.info('deploying tokens, vaults and exchanges on a new local chain')
  const deployment = await deployDevnet(chain)
  log.info('playing sixty days on it')
  await playPast(chain, deployment, toUnixSeconds(clock.now()))
  await syncChainTime(chain, clock)
  await writeState(options.folder, chain)
  await recordMarker(ctx, deployment)
  return { chain, deployment }
}

/** The chain as it was left. One that does not start is no reason to throw away what the database holds. */
async function startKept(options: Parameters<typeof startDevChain>[0]) {
  try {
    return await startDevChain(options)
  } catch (error) {
    if (error instanceof UsageError) throw error
    const said = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${said}; start again, or forget the chain and the database with --reset`)
  }
}

async function beginAnew({ db }: Context): Promise<void> {
  await dropDevnet(db)
  await migrate(db, await readMigrations())
}
