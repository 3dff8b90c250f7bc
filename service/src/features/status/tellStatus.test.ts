import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { flushEvents } from '../../../test/flushEvents.js'
import type { Earn } from '../../../test/harness.js'
import { openLedgerWorld, opportunities, vaults } from '../../../test/ledgerWorld.js'
import { tellStates } from '../events/index.js'
import { tellChains, tellVaults } from './tellStatus.js'

let earn: Earn
beforeAll(async () => {
  earn = await openLedgerWorld()
  await earn.db`update chains set watched = true`
  await earn.db`update chain_cursors set state = 'live', updated_at = ${earn.clock.now()}`
  await earn.ctx.catalogue.refresh()
  await look()
})
afterAll(() => earn?.close())

const look = async () => {
  await tellChains(earn.ctx, tellStates)
  await tellVaults(earn.ctx, tellStates)
}
type Told = { type: string; subject: object; chainId: number; data: Record<string, unknown> }
/** The facts told since the last call, after a look. */
let seen = 0
const toldNow = async (): Promise<Told[]> => {
  await look()
  await flushEvents(earn.db)
  const rows = await earn.db<(Told & { position: number; subjectKind: string; subjectId: string })[]>`
    select position, type, subject_kind as "subjectKind", subject_id as "subjectId", chain_id as "chainId", data
    from feed where position > ${seen} order by position`
  seen = rows.at(-1)?.position ?? seen
  return rows.map(({ position: _, subjectKind: kind, subjectId: id, ...row }) => ({ ...row, subject: { kind, id } }))
}

describe('a chain', () => {
  it('is told stalled when its watcher falls silent, and resumed when it is heard again, each once', async () => {
    expect(await toldNow()).toEqual([])
    earn.clock.advance(61_000)
    const [stalled, ...more] = await toldNow()
    expect(more).toEqual([])
    expect(stalled).toMatchObject({
      ...{ type: 'chain.stalled', chainId: 31337, subject: { kind: 'chain', id: '31337' } },
      data: { chainId: 31337, state: 'stalled' },
    })
    expect(await toldNow()).toEqual([])
    await earn.db`update chain_cursors set updated_at = ${earn.clock.now()}`
    expect(await toldNow()).toMatchObject([{ type: 'chain.resumed', data: { state: 'live' } }])
  })

  it('is told final at each step once', async () => {
    await earn.db`update chain_cursors set finalized_number = 12`
    expect(await toldNow()).toEqual([
      { type: 'chain.final', chainId: 31337, subject: { kind: 'chain', id: '31337' }, data: { blockNumber: 12 } },
    ])
    expect(await toldNow()).toEqual([])
  })
})

describe('a vault', () => {
  const [vault = ''] = vaults
  const [opportunity = ''] = opportunities

  it('is told paused, and resumed', async () => {
    await earn.db`
      insert into sources (chain_id, projection, source, from_block, synced_to, synced)
      values (31337, 'positions', ${vault}, 0, 14, true)`
    await toldNow()
    const [row] = await earn.db<{ id: number }[]>`select id from vaults where address = ${vault}`
    await earn.db`insert into vault_pauses (vault_id, paused_from) values (${row?.id ?? 0}, ${earn.clock.now()})`
    const [paused, ...more] = await toldNow()
    expect(more).toEqual([])
    expect(paused).toMatchObject({
      ...{ type: 'vault.paused', chainId: 31337, subject: { kind: 'opportunity', id: opportunity } },
      data: { opportunityId: opportunity, chainId: 31337 },
    })
    earn.clock.advance(1_000)
    await earn.db`update vault_pauses set resumed_at = ${earn.clock.now()}`
    await earn.db`update chain_cursors set updated_at = ${earn.clock.now()}`
    // Nothing was ever read of it, so its series is withheld.
    expect(await toldNow()).toMatchObject([{ type: 'vault.withheld', subject: { id: opportunity } }])
  })
})
