import { afterAll, beforeAll, expect, it } from 'vitest'
import { flushEvents } from '../../../test/flushEvents.js'
import type { Earn } from '../../../test/harness.js'
import { openLedgerWorld, opportunities } from '../../../test/ledgerWorld.js'
import { tellStates } from '../events/index.js'
import { tellCapabilities } from './tellCapabilities.js'

let earn: Earn
beforeAll(async () => {
  earn = await openLedgerWorld()
  await earn.ctx.catalogue.refresh()
  await tellCapabilities(earn.ctx, tellStates)
})
afterAll(() => earn?.close())

it('an opportunity is told with what it takes where that changes, once', async () => {
  const [opportunity = ''] = opportunities
  const told = async () => {
    await tellCapabilities(earn.ctx, tellStates)
    await flushEvents(earn.db)
    return earn.db<object[]>`select type, subject_id as "subjectId", data from feed order by position`
  }
  expect(await told()).toEqual([])
  await earn.db`
    insert into opportunity_capabilities (opportunity_id, deposit_open, withdraw_open, deposit_closed_reason,
      withdraw_closed_reason, deposit_at_once, withdraw_at_once, capability_at)
    values (${opportunity}, false, true, 'the vault is full', '', false, false, ${earn.clock.now()})`
  await earn.db`update catalogue_versions set version = version + 1, live_version = live_version + 1`
  await earn.ctx.catalogue.refresh()
  const rows = await told()
  const { body } = await earn.call('GetOpportunity', { params: { id: opportunity } })
  expect(rows).toEqual([
    { type: 'vault.capability', subjectId: opportunity, data: body.meta ?? body.opportunity?.meta },
  ])
  expect(rows[0]).toMatchObject({ data: { depositEnabled: false, depositDisabledReason: 'the vault is full' } })
  expect(await told()).toEqual(rows)
})
