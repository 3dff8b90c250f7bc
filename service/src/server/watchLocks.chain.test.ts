import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { type FaultWorld, openFaultWorld } from '../../test/chain/faultWorld.js'
import { chainId } from '../../test/chain/watchWorld.js'
import { silentLog } from '../kernel/log.js'
import { openWatcherLocks } from '../sync/storeLocks.js'

let faults: FaultWorld
beforeAll(async () => {
  faults = await openFaultWorld()
})
afterAll(() => faults?.close())

describe('a watcher that lost the lock of its chain', () => {
  it('writes nothing from the moment another process has it, before it looks whether the lock is still its own', async () => {
    const { earn, world, alice } = faults
    const said: string[] = []
    const log = { ...silentLog, child: () => log, info: (_: unknown, text?: string) => said.push(text ?? '') } as never
    const other = openWatcherLocks(earn.db, [chainId])
    try {
      await faults.watching(
        faults.chainOver([world.anvil.url]),
        async () => {
          await world.deposit(alice, 1_000n, 'Y2Zi7KWy')
          await faults.caughtUp()
          const { watchers, own } = await other.look()
          const follower = watchers.find(({ pid, held }) => pid !== own && held.includes(chainId))
          await earn.db`select pg_terminate_backend(${follower?.pid ?? 0}, 10000)`
          const lock = await until('the other process to have the lock', () => other.take(chainId))
          const { blockNumber } = await faults.cursor()
          await world.deposit(alice, 1_001n, 'Y2Zi7KWy')
          await until('the first to leave the chain', () => said.includes('the chain is followed by another process'))
          expect((await faults.cursor()).blockNumber).toBe(blockNumber)
          await lock.release()
          await faults.caughtUp()
        },
        { log },
      )
      await faults.expectRebuilt()
    } finally {
      await other.close()
    }
  }, 60_000)
})
