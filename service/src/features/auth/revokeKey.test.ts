import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { listKeys, revokeKey } from './index.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

describe('a key that is revoked', () => {
  it('is told of once, and keeps its first instant when it is revoked again', async () => {
    const text = await earn.key({ kind: 'secret' })
    const hint = `${text.slice(0, 12)}…${text.slice(-4)}`
    const find = async () => (await listKeys(earn.db, earn.organizationId)).find((key) => key.hint === hint)
    const first = await revokeKey(earn.db, hint, earn.clock.now())
    expect(first).toMatchObject([{ hint }])
    const { revokedAt } = (await find()) ?? {}
    expect(revokedAt).toEqual(earn.clock.now())
    earn.clock.set('2026-11-20T13:00:00Z')
    expect(await revokeKey(earn.db, hint, earn.clock.now())).toEqual([])
    expect((await find())?.revokedAt).toEqual(revokedAt)
  })
})
