import { expect, it, onTestFinished } from 'vitest'
import { openTestDatabase } from '../../../test/database.js'
import { vetoSnapshot } from './veto.js'

it('of a stream without a snapshot none is taken out', async () => {
  const test = await openTestDatabase({ max: 1 })
  onTestFinished(() => test.close())
  expect(
    await vetoSnapshot(test.db, '00000000-0000-4000-8000-000000000000', new Date('2026-11-20T12:00:00Z')),
  ).toBeUndefined()
})
