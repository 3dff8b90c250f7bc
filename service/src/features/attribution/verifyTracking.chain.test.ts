import { type Address, concat, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode, type World, type WorldVault } from '../../../test/actionWorld.js'
import { type AttributionWorld, openAttributionWorld } from '../../../test/attributionWorld.js'
import { RpcError } from '../../rpc/rpc.js'

const user = account(1)
const thief = account(2)
const usd = 1_000_000n
let world: World
let token: Address
let vault: WorldVault
let depositOnce: AttributionWorld['depositOnce']
let sendRaw: AttributionWorld['sendRaw']

beforeAll(async () => {
  ;({ world, token, vault, depositOnce, sendRaw } = await openAttributionWorld())
})
afterAll(() => world.close())

const verify = (query: Record<string, string | number>) => world.earn.call('VerifyTracking', { query })

describe('200', () => {
  it('proves a deposit of ours, from the chain and then from the raw store alike', async () => {
    const { hash, actionId } = await depositOnce()
    const expected = {
      tag: `erc8021:2:${world.distributorId}`,
      metadata: {
        distributorId: world.distributorId,
        referralCode: 'friend',
        actionId,
        action: 'deposit',
        opportunityId: vault.opportunityId,
        tokenIn: token,
        amount: String(100n * usd),
        amountUsd: '100',
        tokenInDecimals: 6,
      },
      signatureValid: true,
      error: '',
    }
    const fromChain = await verify({ chainId: world.chainId, txHash: hash })
    expect(fromChain.status).toBe(200)
    expect(fromChain.body).toMatchObject(expected)
    await world.sync()
    const stored = await verify({ chainId: world.chainId, txHash: hash.toUpperCase() })
    expect(stored.body).toMatchObject(expected)
    const receipt = await world.anvil.client.getTransactionReceipt({ hash })
    for (const { body } of [fromChain, stored]) {
      expect(body.proof).toMatchObject({
        chainId: world.chainId,
        blockNumber: Number(receipt.blockNumber),
        blockHash: receipt.blockHash,
        transactionIndex: 0,
        inspection: { found: true, signature: { valid: true } },
      })
      const deposit = body.proof.events.find((event: { name: string }) => event.name === 'Deposit')
      expect(deposit).toMatchObject({
        address: vault.address,
        args: { sender: user.address, owner: user.address, assets: String(100n * usd) },
      })
    }
  })

  it('tells why a copied suffix does not count, and shows nothing of the action it was copied from', async () => {
    const { data, actionId } = await depositOnce()
    const hash = await sendRaw(thief.address, `0x12345678${data.slice(2 + 2 * 68)}`, thief)
    const { body } = await verify({ chainId: world.chainId, txHash: hash })
    expect(body).toMatchObject({
      tag: `erc8021:2:${world.distributorId}`,
      signatureValid: false,
      metadata: { distributorId: world.distributorId, actionId, action: '', amount: '', tokenInDecimals: 0 },
    })
    expect(body.error).toMatch(/another wallet, target, call or chain/)
  })

  it('shows a foreign suffix by its code, the rest empty', async () => {
    const foreign = concat(['0x12345678', '0x626173656170700700', '0x80218021802180218021802180218021'])
    const { body } = await verify({ chainId: world.chainId, txHash: await sendRaw(thief.address, foreign) })
    expect(body).toMatchObject({
      tag: 'erc8021:0:baseapp',
      metadata: {
        distributorId: 'baseapp',
        referralCode: '',
        actionId: '',
        action: '',
        opportunityId: '',
        tokenIn: '',
        amount: '',
        amountUsd: '',
        tokenInDecimals: 0,
      },
      signatureValid: false,
      error: 'no signature',
    })
  })

  it('shows a legacy tag verbatim', async () => {
    const tag = `turtle:v1:${world.distributorId}:ref`
    const data = `0x12345678deadbeef${Buffer.from(tag).toString('hex')}` as Hex
    const { body } = await verify({ chainId: world.chainId, txHash: await sendRaw(thief.address, data) })
    expect(body).toMatchObject({
      tag,
      metadata: { distributorId: world.distributorId, referralCode: 'ref' },
      signatureValid: false,
      proof: { inspection: { schema: 'legacy' } },
    })
    const json = JSON.stringify({
      distributorId: world.distributorId,
      amount: '5',
      tokenInDecimals: 6,
      action: 'deposit',
    })
    const second = `0x12345678deadbeef${Buffer.from(json).toString('hex')}` as Hex
    const other = await verify({ chainId: world.chainId, txHash: await sendRaw(thief.address, second) })
    expect(other.body).toMatchObject({ tag: json, metadata: { amount: '5', tokenInDecimals: 6, action: 'deposit' } })
  })
})

describe('200 of a transaction that reverted', () => {
  it('says so, though the signature of its frame is valid; of one that succeeded it says that too', async () => {
    const { hash, data } = await depositOnce()
    // The same calldata again finds no allowance left.
    const again = await world.anvil.client.sendTransaction({ account: user, to: vault.address, data, gas: 500_000n })
    expect((await world.anvil.mined(again)).status).toBe('reverted')
    const { body: reverted } = await verify({ chainId: world.chainId, txHash: again })
    expect(reverted).toMatchObject({ signatureValid: true, error: '', proof: { success: false, events: [] } })
    expect(reverted.proof.inspection.problems).toContain('the transaction reverted')
    const { body: mined } = await verify({ chainId: world.chainId, txHash: hash })
    expect(mined.proof).toMatchObject({ success: true, inspection: { problems: [] } })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('does not support a chain that is only described', async () => {
    await world.earn.db`insert into chains (chain_id, name, slug) values (10, 'Example', 'example')`
    await world.refresh()
    const answer = await verify({ chainId: 10, txHash: `0x${'11'.repeat(32)}` })
    expect(answer.body).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
  })

  it('refuses a malformed hash and a chain that is not supported', async () => {
    const hash = `0x${'11'.repeat(32)}`
    for (const query of [{ chainId: world.chainId, txHash: '0x1' }, { chainId: 5, txHash: hash }, { txHash: hash }])
      expect((await verify(query as never)).body).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no such transaction, which may be mined later, and one without attribution', async () => {
    const unknown = await verify({ chainId: world.chainId, txHash: `0x${'33'.repeat(32)}` })
    expect(unknown.body).toMatchObject({ code: 404, status: 'NOT_FOUND', context: { retryable: true } })
    const plain = await verify({ chainId: world.chainId, txHash: await sendRaw(thief.address, '0x12345678') })
    expect(plain.body).toMatchObject({
      code: 404,
      error: 'the transaction carries no attribution',
      context: { retryable: false },
    })
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so when the chain cannot be read', async () => {
    const busyNode = () => async () => {
      throw new RpcError(-32000, 'busy', undefined)
    }
    const look = () => verify({ chainId: world.chainId, txHash: `0x${'33'.repeat(32)}` })
    const answer = await world.withNode(goneNode, look)
    const refused = await world.withNode(busyNode, look)
    for (const { body } of [answer, refused])
      expect(body).toMatchObject({ code: 503, status: 'UNAVAILABLE', context: { retryable: true } })
  })
})
