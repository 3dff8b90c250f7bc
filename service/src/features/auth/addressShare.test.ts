import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { createKey, listKeys, revokeKey, setAddressShare } from './index.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

const make = (kind: 'publishable' | 'secret') => createKey(earn.ctx, { kind, organizationId: earn.organizationId })
const shareOf = async (id: string) =>
  (await listKeys(earn.db, earn.organizationId)).find((key) => key.id === id)?.addressShare

describe('the share of an address', () => {
  it('is set of a publishable key, and refused of a secret one, by id and by hint', async () => {
    const publishable = await make('publishable')
    expect(await setAddressShare(earn.db, publishable.id, 0.25)).toMatchObject([{ id: publishable.id }])
    expect(await shareOf(publishable.id)).toBe(0.25)
    const secret = await make('secret')
    const hint = `${secret.text.slice(0, 12)}…${secret.text.slice(-4)}`
    for (const name of [secret.id, hint]) expect(await setAddressShare(earn.db, name, 0.25)).toEqual([])
    expect(await shareOf(secret.id)).toBe(1)
  })

  it('is not set of a key that is revoked', async () => {
    const { id } = await make('publishable')
    await revokeKey(earn.db, id, earn.clock.now())
    expect(await setAddressShare(earn.db, id, 0.25)).toEqual([])
    expect(await shareOf(id)).toBe(1)
  })
})
