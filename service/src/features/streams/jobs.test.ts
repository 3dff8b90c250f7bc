import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'
import { silentLog } from '../../kernel/log.js'
import { sweepUnsent } from './jobs.js'

let world: StreamWorld
beforeAll(async () => {
  world = await openStreamWorld()
})
afterAll(() => world.close())

const sweep = async (id: string) => {
  await sweepUnsent({ db: world.db, log: silentLog })
  return (await world.db`select 1 from streams where id = ${id}`).length === 0
}
const follow = (id: string, synced: boolean) => world.db`
  insert into sources (chain_id, projection, source, from_block, synced_to, synced)
  values (${world.chainId}, 'streams', ${id}, 1, 1000, ${synced})`

describe('a signed creation', () => {
  it('is forgotten once a confirmed block is past its deadline and its blocks were read, unless it was sent', async () => {
    const [unsent, unread, sent] = [
      await world.stream({ createdBlock: null }),
      await world.stream({ createdBlock: null }),
      await world.stream({ createdBlock: world.head }),
    ]
    await follow(unsent, true)
    await follow(unread, false)
    await follow(sent, true)
    // It was signed until now, and the confirmed block is 36 s old.
    expect(await sweep(unsent)).toBe(false)
    await world.advance(world.head + 4)
    expect([await sweep(unsent), await sweep(unread), await sweep(sent)]).toEqual([true, false, false])
  })
})
