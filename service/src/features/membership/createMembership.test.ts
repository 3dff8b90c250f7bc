import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { agree, becomeMember, createWallet, isOpen, join } from '../../../test/membership.js'
import { removeMembership } from './operator.js'

const start = '2026-11-20T12:00:00Z'
let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
beforeEach(() => earn.clock.set(start))
afterAll(() => earn.close())

describe('CreateMembership 200', () => {
  it('makes the wallet a member and uses up the nonce', async () => {
    const wallet = createWallet()
    const body = await agree(earn, wallet)
    const answer = await join(earn, body)
    expect([answer.status, answer.body]).toEqual([200, { isMember: true, error: '' }])
    expect(answer.headers['x-request-cost']).toBe('2')
    expect(await isOpen(earn, body.nonce)).toBe(false)
    const { body: membership } = await earn.call('GetMembership', { query: { address: wallet.address } })
    expect(membership).toEqual({ isMember: true })
  })

  it('records who the user signed up through', async () => {
    const distributorId = await earn.distributor()
    const wallet = createWallet()
    await becomeMember(earn, wallet, distributorId)
    const [row] = await earn.db`
      select signup_distributor_id from users join memberships on user_id = id
      where ecosystem = 'evm' and address = ${wallet.address.toLowerCase()}`
    expect(row).toEqual({ signup_distributor_id: distributorId })
  })

  it('takes the last millisecond before the nonce expires', async () => {
    const body = await agree(earn, createWallet())
    earn.clock.advance(600_000 - 1)
    expect((await join(earn, body)).status).toBe(200)
  })

  it('is given again to a repeated request that names the same Idempotency-Key', async () => {
    const { message: _message, ...body } = await agree(earn, createWallet())
    const send = () => earn.call('CreateMembership', { body, headers: { 'idempotency-key': body.nonce } })
    const [first, second] = [await send(), await send()]
    expect([first.status, first.body]).toEqual([200, { isMember: true, error: '' }])
    expect([second.status, second.body, second.headers['idempotency-replayed']]).toEqual([200, first.body, 'true'])
  })

  it('is answered to exactly one of 100 calls that send one nonce at once', async () => {
    const body = await agree(earn, createWallet())
    const answers = await Promise.all(Array.from({ length: 100 }, () => join(earn, body)))
    const statuses = answers.map((answer) => answer.status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 400 || status === 409)).toHaveLength(99)
  })

  it('is answered to exactly one of two nonces of one wallet sent at once', async () => {
    const wallet = createWallet()
    const bodies = await Promise.all([agree(earn, wallet), agree(earn, wallet)])
    const answers = await Promise.all(bodies.map((body) => join(earn, body)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409])
  })
})

describe('CreateMembership 400 INVALID_ARGUMENT', () => {
  const refusals: [what: string, change: (body: Body) => Promise<object> | object][] = [
    [
      'a signature of another wallet',
      async ({ message }) => ({ signature: await createWallet().signMessage({ message }) }),
    ],
    ['a signature over another text', async () => ({ signature: await createWallet().signMessage({ message: 'x' }) })],
    ['a signature with one bit changed', ({ signature }) => ({ signature: flipBit(signature) })],
    ['a text before the signature', ({ signature }) => ({ signature: `see ${signature}` })],
    ['an empty signature', () => ({ signature: '' })],
    ['a signature that is no hex', () => ({ signature: 'signed' })],
    ['a nonce we never gave', () => ({ nonce: 'f'.repeat(32) })],
    ['a nonce with a letter more', ({ nonce }) => ({ nonce: `${nonce}A` })],
    ['another address', () => ({ address: createWallet().address })],
    ['a distributor we do not know', () => ({ distributorId: 'nobody' })],
    [
      'a distributor of another organization',
      async () => ({ distributorId: await earn.distributor(undefined, await earn.organization()) }),
    ],
    ['no signature', () => ({ signature: undefined })],
    ['no nonce', () => ({ nonce: undefined })],
    ['a malformed address', () => ({ address: '0x0' })],
  ]
  it.each(refusals)('refuses %s, and nothing is used up', async (_what, change) => {
    const body = await agree(earn, createWallet())
    const answer = await join(earn, { ...body, ...(await change(body)) })
    expect([answer.status, answer.body.status]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(await isOpen(earn, body.nonce)).toBe(true)
    expect((await join(earn, body)).status).toBe(200)
  })

  it('refuses the message with one line altered, even when the wallet signed that', async () => {
    const wallet = createWallet()
    const body = await agree(earn, wallet)
    const altered = body.message.replace('app.example.com wants', 'evil.example.com wants')
    const answer = await join(earn, {
      ...body,
      message: altered,
      signature: await wallet.signMessage({ message: altered }),
    })
    expect(answer.status).toBe(400)
  })

  it('refuses the nonce of one chain with a signature for another, and uses up neither', async () => {
    const wallet = createWallet()
    const [one, other] = [await agree(earn, wallet, { chainId: 1 }), await agree(earn, wallet, { chainId: 10 })]
    for (const [nonce, signature] of [
      [one.nonce, other.signature],
      [other.nonce, one.signature],
    ]) {
      expect((await join(earn, { ...one, nonce, signature })).status).toBe(400)
      expect(await isOpen(earn, nonce ?? '')).toBe(true)
    }
  })

  it('refuses the nonce in another ecosystem', async () => {
    const body = await agree(earn, createWallet())
    for (const walletEcosystem of ['solana', 'ton']) {
      expect((await join(earn, { ...body, walletEcosystem })).status).toBe(400)
      expect(await isOpen(earn, body.nonce)).toBe(true)
    }
  })

  it('refuses a used nonce for good, even when the wallet is no member any more', async () => {
    const wallet = createWallet()
    const body = await agree(earn, wallet)
    await join(earn, body)
    const address = wallet.address.toLowerCase()
    expect(await removeMembership(earn.db, { ecosystem: 'evm', address }, earn.clock.now())).toBe(true)
    expect((await join(earn, body)).status).toBe(400)
    await becomeMember(earn, wallet)
  })

  it('refuses an expired nonce, on the very instant too', async () => {
    const body = await agree(earn, createWallet())
    earn.clock.advance(600_000)
    expect((await join(earn, body)).status).toBe(400)
  })

  it('refuses a nonce another organization asked for, which stays unused', async () => {
    const body = await agree(earn, createWallet())
    const key = await earn.key({ kind: 'publishable', organizationId: await earn.organization() })
    const { message: _message, ...sent } = body
    const answer = await earn.call('CreateMembership', { body: sent, key })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^the nonce is unknown/)])
    expect(await isOpen(earn, body.nonce)).toBe(true)
    expect((await earn.call('CreateMembership', { body: sent, key: earn.secret })).status).toBe(200)
  })

  it('refuses the nonce of one wallet for another, signed by that one', async () => {
    const [mine, theirs] = [createWallet(), createWallet()]
    const { message, nonce } = await agree(earn, mine)
    const signature = await theirs.signMessage({ message })
    const answer = await join(earn, { address: theirs.address, walletEcosystem: 'evm', signature, nonce })
    expect(answer.status).toBe(400)
  })
})

describe('CreateMembership 409 CONFLICT', () => {
  it('refuses a replay', async () => {
    const body = await agree(earn, createWallet())
    await join(earn, body)
    const answer = await join(earn, body)
    expect([answer.status, answer.body.status]).toEqual([409, 'CONFLICT'])
  })

  it('comes before the nonce and the signature are looked at, which stay unused', async () => {
    const wallet = createWallet()
    const [first, second] = [await agree(earn, wallet), await agree(earn, wallet)]
    await join(earn, first)
    for (const change of [{}, { nonce: 'unknown' }, { signature: 'junk' }, { distributorId: 'nobody' }])
      expect((await join(earn, { ...second, ...change })).status).toBe(409)
    expect(await isOpen(earn, second.nonce)).toBe(true)
  })
})

type Body = Awaited<ReturnType<typeof agree>>

function flipBit(signature: string): string {
  const digit = Number.parseInt(signature[20] ?? '0', 16) ^ 1
  return signature.slice(0, 20) + digit.toString(16) + signature.slice(21)
}
