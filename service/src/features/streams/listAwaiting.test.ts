import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openOperatorWorld } from '../../../test/operatorWorld.js'
import { streamsNow } from '../../../test/streamWorld.js'
import { listAwaiting } from './listAwaiting.js'

let world: Awaited<ReturnType<typeof openOperatorWorld>>
beforeAll(async () => {
  world = await openOperatorWorld()
})
afterAll(() => world?.close())

const now = new Date(streamsNow)
const list = (vetoSeconds = 3_600) => listAwaiting(world.db, { vetoSeconds, now })
const find = async (name: keyof typeof world.streams, vetoSeconds?: number) =>
  (await list(vetoSeconds)).find(({ id }) => id === world.streams[name])

describe('streams that await something', () => {
  it('are those whose root is not on the chain, and those that an operator has to look at', async () => {
    const { done, new: young, ...wanted } = world.streams
    expect((await list()).map(({ id }) => id).sort()).toEqual(Object.values(wanted).sort())
  })

  it('say until when a root may be vetoed, and what is allocated by it', async () => {
    expect(await find('fresh')).toMatchObject({
      ...{ standing: 'may be vetoed', isVetoable: true, total: 1_000_000_000_000_000_001n, commit: null },
      ...{ snapshotAt: new Date(now.getTime() - 1_800_000), vetoUntil: new Date(now.getTime() + 1_800_000) },
    })
    expect(await find('fresh', 1_801)).toMatchObject({ standing: 'may be vetoed' })
    expect(await find('fresh', 1_800)).toMatchObject({ standing: 'awaits its commit', isVetoable: true })
  })

  it('can be vetoed unless a transaction may bring the root', async () => {
    expect(await find('due')).toMatchObject({ standing: 'awaits its commit', isVetoable: true, commit: null })
    expect(await find('queued')).toMatchObject({
      ...{ standing: 'is being committed', isVetoable: false, commit: { state: 'queued', held: null } },
    })
    expect(await find('cancelled')).toMatchObject({
      ...{ standing: 'awaits its commit', isVetoable: true, commit: { state: 'cancelled' } },
    })
  })

  it('are listed for an alarm or a pause, with a snapshot or without', async () => {
    expect(await find('alarmed')).toMatchObject({
      ...{ standing: null, snapshotAt: null, root: null, total: null, vetoUntil: null, isVetoable: false },
      ...{ alarm: 'a root that is none of ours', hashCommitmentPaused: true, doubted: null },
    })
  })

  it('are listed for a root that somebody counted again to something else, though it is on the chain', async () => {
    const found = await find('doubted')
    expect(found).toMatchObject({ standing: 'committed', isVetoable: false, alarm: null })
    const at = new Date(now.getTime() - 7_200_000)
    expect(found?.doubted).toEqual({ root: found?.root, at, sources: ['node.example'] })
  })
})
