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

describe('a key that is not remembered', () => {
  /** Counts the look-ups in the database that an authentication makes; each is a statement and its list of columns. */
  function watched() {
    let count = 0
    const db = new Proxy(earn.db, {
      apply: (target, self, words) => {
        count += 1
        return Reflect.apply(target as (...words: unknown[]) => unknown, self, words)
      },
    })
    return { authenticate: createAuthenticate({ ...earn.ctx, db }), count: () => count / 2 }
  }

  it('is looked up once for a thousand callers who come at once', async () => {
    const apiKey = await earn.key({ kind: 'publishable' })
    const { authenticate, count } = watched()
    const ask = () => authenticate({ apiKey, authorization: undefined })
    const found = await Promise.all(Array.from({ length: 1_000 }, ask))
    expect(new Set(found.map(({ caller }) => caller.organizationId))).toEqual(new Set([earn.organizationId]))
    expect(count()).toBe(1)
    earn.clock.advance(3_000)
    await Promise.all([ask(), ask()])
    expect(count()).toBe(2)
  })

  it('is looked up again for who comes three seconds after a look-up that still waits', async () => {
    const apiKey = await earn.key({ kind: 'publishable' })
    const { authenticate, count } = watched()
    const early = authenticate({ apiKey, authorization: undefined })
    earn.clock.advance(3_000)
    await Promise.all([early, authenticate({ apiKey, authorization: undefined })])
    expect(count()).toBe(2)
  })
})
