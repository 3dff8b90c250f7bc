import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { createAuthenticate } from './index.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

describe('a key that is remembered', () => {
  it('is not, once it has expired: no answer is given again to it a second later', async () => {
    const text = await earn.key({ kind: 'publishable' })
    const expiresAt = new Date(earn.clock.now().getTime() + 1_000)
    await earn.db`update api_keys set expires_at = ${expiresAt} where revoked_at is null`
    const authenticate = createAuthenticate(earn.ctx)
    await authenticate({ apiKey: text, authorization: undefined })
    expect(authenticate.remembered(text)?.caller.organizationId).toBe(earn.organizationId)
    earn.clock.advance(1_000)
    expect(authenticate.remembered(text)).toBeUndefined()
  })
})
