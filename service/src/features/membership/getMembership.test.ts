import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { becomeMember, createWallet } from '../../../test/membership.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

const get = (query: Record<string, string>) => earn.call('GetMembership', { query })

describe('GetMembership 200', () => {
  it('says no before and yes after a wallet became a member, in any case of the address', async () => {
    const wallet = createWallet()
    expect((await get({ address: wallet.address })).body).toEqual({ isMember: false })
    await becomeMember(earn, wallet)
    for (const address of [wallet.address, wallet.address.toLowerCase(), `0X${wallet.address.slice(2).toUpperCase()}`])
      expect((await get({ address, walletEcosystem: 'evm' })).body).toEqual({ isMember: true })
  })

  it('costs 1 unit', async () => {
    const { headers } = await get({ address: createWallet().address })
    expect(headers['x-request-cost']).toBe('1')
  })
})

describe('GetMembership 400 INVALID_ARGUMENT', () => {
  it.each([
    ['no address', {}],
    ['an empty address', { address: '' }],
    ['an address of another length', { address: '0x1234' }],
    ['an address with a foreign character', { address: `0x${'g'.repeat(40)}` }],
    ['an unknown ecosystem', { address: `0x${'1'.repeat(40)}`, walletEcosystem: 'bitcoin' }],
  ])('refuses %s', async (_what, query) => {
    const answer = await get(query as Record<string, string>)
    expect([answer.status, answer.body.status]).toEqual([400, 'INVALID_ARGUMENT'])
  })
})
