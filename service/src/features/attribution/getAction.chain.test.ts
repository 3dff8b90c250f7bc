import { erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode, type World, type WorldVault } from '../../../test/actionWorld.js'
import { type AttributionWorld, openAttributionWorld } from '../../../test/attributionWorld.js'

const user = account(1)
const usd = 1_000_000n
let world: World
let vault: WorldVault
let plan: AttributionWorld['plan']
let depositOnce: AttributionWorld['depositOnce']
let sendRaw: AttributionWorld['sendRaw']

beforeAll(async () => {
  ;({ world, vault, plan, depositOnce, sendRaw } = await openAttributionWorld())
})
afterAll(() => world.close())

const get = (actionId: string, key = world.earn.publishable) =>
  world.earn.call('GetAction', { params: { actionId }, key })
const reorg = async () => {
  await world.anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
  await world.anvil.client.mine({ blocks: 1 })
  await world.sync()
}

describe('200', () => {
  it('follows a deposit from built to verified, with its transaction and its entry', async () => {
    const { hash, actionId, built } = await depositOnce()
    const before = await get(actionId.toUpperCase())
    expect(before.body).toEqual({
      actionId,
      kind: 'deposit',
      status: 'built',
      opportunityId: vault.opportunityId,
      chainId: world.chainId,
      walletAddress: user.address,
      distributorId: world.distributorId,
      createdAt: '2026-11-20T12:00:00Z',
      validUntil: built.body.validUntil,
      transactions: [],
      interactions: [],
    })
    await world.sync()
    const receipt = await world.anvil.client.getTransactionReceipt({ hash })
    const { body } = await get(actionId)
    expect(body).toMatchObject({
      status: 'verified',
      transactions: [{ txHash: hash, blockNumber: Number(receipt.blockNumber), state: 'confirmed' }],
      interactions: [
        { txHash: hash, walletAddress: user.address, amountRaw: String(100n * usd), attribution: 'signed' },
      ],
    })
    expect(body.interactions).toHaveLength(1)
  })

  it('says submitted while a transaction is not deep enough, and shows no entry before', async () => {
    await world.earn.db`update chains set confirmations = 3 where chain_id = ${world.chainId}`
    await world.refresh()
    const { hash, actionId } = await depositOnce()
    await world.sync()
    const shallow = await get(actionId)
    await world.anvil.client.mine({ blocks: 2 })
    await world.sync()
    const deep = await get(actionId)
    await world.earn.db`update chains set confirmations = 1 where chain_id = ${world.chainId}`
    await world.refresh()
    expect(shallow.body).toMatchObject({ status: 'submitted', transactions: [{ txHash: hash, state: 'mined' }] })
    expect(shallow.body.interactions).toEqual([])
    expect(deep.body).toMatchObject({ status: 'verified', interactions: [{ txHash: hash }] })
  })

  it('has no transaction where a reorganisation took it back and nobody sent it again, and has expired after its time', async () => {
    const { actionId } = await depositOnce()
    await world.sync()
    await reorg()
    const { body } = await get(actionId)
    expect(body).toMatchObject({ status: 'built', transactions: [], interactions: [] })
    await world.passBy(body.validUntil)
    // Until a later block is derived, nobody knows.
    expect((await get(actionId)).body.status).toBe('built')
    await world.sync()
    expect((await get(actionId)).body.status).toBe('expired')
  })

  it('says of a transaction that was taken back what it is now: waiting, or reverted; waiting where nobody can be asked', async () => {
    const { hash, data, actionId } = await depositOnce()
    await world.sync()
    await reorg()
    const waits = await world.withNode(goneNode, () => get(actionId))
    expect(waits.body).toMatchObject({
      status: 'submitted',
      transactions: [{ txHash: hash, blockNumber: null, state: 'pending' }],
    })
    // The node's own word for a transaction that came back and failed.
    const failed = await world.anvil.client.sendTransaction({ account: user, to: vault.address, data, gas: 60_000n })
    const receipt = await world.anvil.mined(failed)
    expect(receipt.status).toBe('reverted')
    await world.earn.db`
      update transaction_attributions set transaction_hash = hex_bytes(${failed}) where transaction_hash = hex_bytes(${hash})`
    expect((await get(actionId)).body).toMatchObject({
      status: 'reverted',
      transactions: [{ txHash: failed, blockNumber: Number(receipt.blockNumber), state: 'reverted' }],
    })
  })

  it('lists a plan that was sent twice with both transactions, and an action nobody sent with none', async () => {
    await world.write(vault.asset, erc20Abi, 'approve', [vault.address, 200n * usd], user)
    const built = await plan()
    const { to, data } = built.body.transactions.at(-1).transaction
    for (let time = 0; time < 2; time++) await sendRaw(to, data)
    await world.sync()
    const { body } = await get(built.body.actionId)
    expect(body).toMatchObject({ status: 'verified', transactions: [{ state: 'confirmed' }, { state: 'confirmed' }] })
    expect(body.transactions[0].blockNumber).toBeLessThan(body.transactions[1].blockNumber)
    expect(body.interactions).toHaveLength(2)
    expect((await get((await plan()).body.actionId)).body).toMatchObject({ status: 'built', transactions: [] })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each(['x', '8e03978e-40d5-43e8-bc93'])('refuses %s as an id', async (actionId) => {
    expect((await get(actionId)).body).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      context: { retryable: false },
    })
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no action nobody built, and none of another organization, whatever its key', async () => {
    const { body } = await plan()
    const other = await world.earn.organization()
    for (const kind of ['publishable', 'secret'] as const) {
      const key = await world.earn.key({ kind, organizationId: other })
      expect((await get(body.actionId, key)).body).toMatchObject({ code: 404, error: 'no such action' })
    }
    expect((await get('8e03978e-40d5-43e8-bc93-6894a57f9324')).body).toMatchObject({
      code: 404,
      error: 'no such action',
    })
  })

  it('leaves the path of VerifyTracking to it', async () => {
    const answer = await world.earn.request('GET', '/v2/actions/verify')
    expect(answer.body.context.violations.map(({ path }: { path: string }) => path)).toEqual(['chainId', 'txHash'])
  })
})
