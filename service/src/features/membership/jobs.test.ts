import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { agree, createWallet, isOpen, join } from '../../../test/membership.js'
import { sweepAgreements } from './index.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn({ config: { ipLimitPerMinute: 60 } })
})
afterAll(() => earn.close())

describe('agreements cannot be farmed', () => {
  it('because those nobody signed in time are swept, and no others', async () => {
    const old = await agree(earn, createWallet())
    earn.clock.advance(300_000)
    const young = await agree(earn, createWallet())
    earn.clock.advance(300_000)
    await sweepAgreements(earn.ctx)
    expect([await isOpen(earn, old.nonce), await isOpen(earn, young.nonce)]).toEqual([false, true])
  })

  it('because an organization holds at most 50 of one wallet open: the oldest goes, other organizations’ stay', async () => {
    const wallet = createWallet()
    const elsewhere = await earn.key({ kind: 'secret', organizationId: await earn.organization() })
    const ask = async (key: string) => {
      earn.clock.advance(1)
      const body = { address: wallet.address, walletEcosystem: 'evm', url: 'https://app.example.com' }
      return (await earn.call('CreateMembershipAgreement', { body, key })).body.nonce as string
    }
    const foreign = await ask(elsewhere)
    const nonces: string[] = []
    for (let count = 0; count < 51; count++) nonces.push(await ask(earn.secret))
    expect(await Promise.all(nonces.slice(0, 3).map((nonce) => isOpen(earn, nonce)))).toEqual([false, true, true])
    expect(await isOpen(earn, foreign)).toBe(true)
    const rows = await earn.db`select from agreements where address = ${wallet.address.toLowerCase()}`
    expect(rows).toHaveLength(51)
  })

  it('because a publishable key asks at most so often a minute from one address; a secret key by its budget alone', async () => {
    earn.clock.advance(60_000)
    const ask = (key: string) => {
      const body = { address: createWallet().address, walletEcosystem: 'evm', url: 'https://app.example.com' }
      return earn.call('CreateMembershipAgreement', { body, key })
    }
    const answers = await Promise.all(Array.from({ length: 61 }, () => ask(earn.publishable)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(1)
    expect(refused[0]?.body).toMatchObject({ status: 'RESOURCE_EXHAUSTED', context: { limit: 'ip' } })
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0)
    expect((await ask(earn.secret)).status).toBe(200)
    const member = await earn.call('GetMembership', { query: { address: createWallet().address } })
    expect(member.status).toBe(200)
    earn.clock.advance(1_000)
    expect((await ask(earn.publishable)).status).toBe(200)
  })
})

describe('the record of memberships', () => {
  it('keeps what the wallet signed, for which key and when', async () => {
    earn.clock.advance(60_000)
    const wallet = createWallet()
    const body = await agree(earn, wallet)
    await join(earn, body)
    const rows = await earn.db`
      select membership_events.kind, ecosystem, message, signature, at, organization_id from membership_events
      join api_keys on api_keys.id = key_id where address = ${wallet.address.toLowerCase()}`
    const { message, signature } = body
    const at = earn.clock.now()
    expect([...rows]).toEqual([
      { kind: 'joined', ecosystem: 'evm', message, signature, at, organization_id: earn.organizationId },
    ])
  })
})
