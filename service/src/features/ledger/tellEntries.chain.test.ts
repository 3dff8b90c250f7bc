import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWatchWorld, type WatchWorld } from '../../../test/chain/watchWorld.js'
import { flushEvents } from '../../../test/flushEvents.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { systemClock } from '../../kernel/clock.js'
import { tell } from '../events/index.js'
import { tellEntries } from './tellEntries.js'

let earn: Earn
let world: WatchWorld
const alice = account(1)

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  await earn.ctx.catalogue.refresh()
  await world.fund(alice, 1_000_000_000n)
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

it('an entry from before a chain was followed is told as late, and one from afterwards as news, however young the chain is', async () => {
  const before = await world.deposit(alice, 5_000_000n, 'Y2Zi7KWy')
  const watcher = world.watcher({ reactions: [tellEntries(tell, systemClock)] })
  await world.sync(watcher)
  const after = await world.deposit(alice, 6_000_000n, 'Y2Zi7KWy')
  await world.sync(watcher)
  await flushEvents(earn.db)
  const { body } = await earn.call('GetEvents', { key: earn.secret })
  expect(
    body.data.map(({ type, late, data }: Record<string, { txHash: string }>) => [type, data?.txHash, late]),
  ).toEqual([
    ['interaction.confirmed', before, true],
    ['interaction.confirmed', after, false],
  ])
})
