import { testTokenAbi } from '@openearn/contracts'
import { verifyStream } from '@openearn/sdk/verify'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { goneNode } from '../../../test/actionWorld.js'
import { admin, collector, openStreamChain, type StreamChain } from '../../../test/streamChain.js'
import { incentivize, streamsKey } from '../../../test/streamWorld.js'

let chain: StreamChain
beforeAll(async () => {
  chain = await openStreamChain()
})
afterAll(() => chain.close())

const withdraw = (id: string, body: Record<string, unknown> = {}, key = chain.secret) =>
  chain.earn.call('CreateStreamWithdrawal', { params: { id }, body, key })
const active = (id: string) => chain.earn.call('GetActiveAdminOperation', { params: { id }, key: chain.secret })
/** A stream that holds so much beyond its budget. */
const withSurplus = async (surplus: bigint) => {
  const made = await chain.stream()
  if (surplus > 0n) await chain.world.write(chain.reward, testTokenAbi, 'mint', [made.contract, surplus])
  return made
}

describe('200', () => {
  it('signs the withdrawal of the surplus to the admin; its execution frees the stream once it is confirmed', async () => {
    const { id, contract } = await withSurplus(77n)
    const { body } = await withdraw(id, { to: null, amount: null, signatureExpirationSeconds: null })
    expect(body).toMatchObject({ type: 'withdrawal', amount: '77', feeAmount: '0', to: admin.address, executed: false })
    expect(body.txParams).toMatchObject({
      function: 'withdrawFunds',
      params: { params: { Stream: contract, Amount: '77' } },
    })
    expect(Number(body.txParams.params.deadline)).toBe(Date.parse('2026-11-20T12:05:00Z') / 1_000)
    expect(body.blockingUntil).toBe('2026-11-20T12:05:15Z')
    expect((await active(id)).body).toEqual(body)
    const { to, data } = body.txParams
    const { chainId, factory } = chain
    const context = { chainId, factory, stream: contract, verifiers: [privateKeyToAddress(streamsKey)] }
    const asked = { type: 'withdrawFunds', userAddress: admin.address, amount: '77' } as const
    const transaction = { to, data, value: '0', chainId }
    expect(await verifyStream(asked, [{ type: asked.type, transaction }], context)).toMatchObject({ problems: [] })
    expect((await chain.send(body.txParams, collector)).status).toBe('reverted')
    expect((await chain.send(body.txParams)).status).toBe('success')
    expect(await chain.world.balance(chain.reward, contract)).toBe(1_000_000n)
    await chain.world.sync()
    expect((await active(id)).status).toBe(404)
    expect((await chain.send(body.txParams)).status).toBe('reverted')
  })

  it('is one of 50 at once; the others are told until when it blocks', async () => {
    const { id } = await withSurplus(1_000n)
    const answers = await Promise.all(Array.from({ length: 50 }, () => withdraw(id)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(49)
    for (const { body } of refused)
      expect([body.reason, body.context.blockingUntil]).toEqual(['ADMIN_OPERATION_ACTIVE', '2026-11-20T12:05:15Z'])
  })

  it('is executed as soon as its salt is at the head, blocks until that is confirmed, and a reorg turns it back', async () => {
    await chain.earn.db`update chains set confirmations = 3 where chain_id = ${chain.chainId}`
    const made = chain.stream()
    const { id, contract } = await made
    await chain.anvil.client.mine({ blocks: 3 })
    await chain.world.sync()
    await chain.world.write(chain.reward, testTokenAbi, 'mint', [contract, 9n])
    await chain.anvil.client.mine({ blocks: 3 })
    await chain.world.sync()
    const snapshot = await chain.anvil.client.snapshot()
    const { body } = await withdraw(id)
    const { transactionHash } = await chain.send(body.txParams)
    await chain.world.sync()
    expect((await active(id)).body).toMatchObject({ executed: true, executedTxHash: transactionHash })
    expect((await withdraw(id)).body.reason).toBe('ADMIN_OPERATION_ACTIVE')
    await chain.anvil.client.revert({ id: snapshot })
    await chain.anvil.client.mine({ blocks: 2 })
    await chain.world.sync()
    expect((await active(id)).body).toMatchObject({ executed: false, executedTxHash: null, txParams: body.txParams })
    expect((await chain.send(body.txParams)).status).toBe('success')
    await chain.anvil.client.mine({ blocks: 2 })
    await chain.world.sync()
    expect((await active(id)).status).toBe(404)
    await chain.earn.db`update chains set confirmations = 1 where chain_id = ${chain.chainId}`
  })

  it('takes the least and the longest life of a signature, and any receiver', async () => {
    const { id } = await withSurplus(5n)
    const over = { to: collector.address, amount: '2', signatureExpirationSeconds: 86_400 }
    const { body } = await withdraw(id, over)
    expect([body.to, body.amount]).toEqual([collector.address, '2'])
    expect(Number(body.txParams.params.deadline)).toBe(Date.parse('2026-11-21T12:00:00Z') / 1_000)
    const other = await withSurplus(5n)
    expect((await withdraw(other.id, { signatureExpirationSeconds: 1 })).status).toBe(200)
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('says when nothing can be withdrawn, and how much at most', async () => {
    const { id, contract } = await withSurplus(0n)
    expect((await withdraw(id)).body.reason).toBe('NOTHING_WITHDRAWABLE')
    expect((await withdraw(id, { amount: '1' })).body.reason).toBe('NOTHING_WITHDRAWABLE')
    await chain.world.write(chain.reward, testTokenAbi, 'mint', [contract, 10n])
    const answer = await withdraw(id, { amount: '11' })
    expect([answer.status, answer.body.context.maximum]).toEqual([400, '10'])
    expect((await withdraw(id, { amount: '0' })).status).toBe(400)
  })

  it('refuses a life of 0 and of 86401 seconds, and the zero address', async () => {
    const { id } = await withSurplus(1n)
    expect((await withdraw(id, { signatureExpirationSeconds: 0 })).status).toBe(400)
    expect((await withdraw(id, { signatureExpirationSeconds: 86_401 })).status).toBe(400)
    expect((await withdraw(id, { to: `0x${'0'.repeat(40)}` })).status).toBe(400)
  })

  it('refuses a stream whose creation is not confirmed', async () => {
    expect((await withdraw((await chain.create()).body.stream.id)).status).toBe(400)
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses a key without the permission, a publishable one, and one of another organization', async () => {
    const { id } = await withSurplus(1n)
    expect((await withdraw(id, {}, chain.earn.secret)).status).toBe(403)
    expect((await withdraw(id, {}, chain.earn.publishable)).status).toBe(403)
    const organizationId = await chain.earn.organization()
    const key = await chain.earn.key({ kind: 'secret', permissions: [incentivize], organizationId })
    expect((await withdraw(id, {}, key)).status).toBe(403)
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no such stream', async () => {
    expect((await withdraw('01890a5d-ac96-774b-bcce-b302099a8057')).status).toBe(404)
  })
})

describe('409 CONFLICT', () => {
  it('refuses a second operation while one blocks, an increase too', async () => {
    const { id } = await withSurplus(1n)
    expect((await withdraw(id)).status).toBe(200)
    const increase = await chain.earn.call('IncreaseStreamBudget', {
      ...{ params: { id }, body: { amount: '5' }, key: chain.secret },
    })
    expect([increase.status, increase.body.reason]).toEqual([409, 'ADMIN_OPERATION_ACTIVE'])
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so where the chain cannot be read', async () => {
    const { id } = await withSurplus(1n)
    expect((await chain.world.withNode(goneNode, () => withdraw(id))).status).toBe(503)
  })
})
