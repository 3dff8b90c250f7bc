import { type AttributionProof, verifyProof, verifyProofOnline } from '@openearn/sdk/proof'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode, type World, type WorldVault } from '../../../test/actionWorld.js'
import { type AttributionWorld, openAttributionWorld } from '../../../test/attributionWorld.js'
import { readWholeBlock } from '../../rpc/wholeBlock.js'
import { readTries, toTries } from './blockTries.js'

const user = account(1)
let world: World
let vault: WorldVault
let depositOnce: AttributionWorld['depositOnce']
let sendRaw: AttributionWorld['sendRaw']

beforeAll(async () => {
  ;({ world, vault, depositOnce, sendRaw } = await openAttributionWorld())
})
afterAll(() => world.close())

const prove = (txHash: string, chainId: number | string = world.chainId) =>
  world.earn.call('GetAttributionProof', { params: { txHash }, query: { chainId } })

const readTrust = async () => {
  const { body } = await world.earn.call('GetVerificationContext', { query: { chainId: world.chainId } })
  return { ...body, distributors: [world.distributorId] }
}

describe('200', () => {
  it('proves the entry of a deposit: verified offline, and with the block hash of the node', async () => {
    const { hash } = await depositOnce()
    await world.sync()
    const { status, body } = await prove(hash.toUpperCase().replace('0X', '0x'))
    expect(status).toBe(200)
    const proof = body as AttributionProof
    const receipt = await world.anvil.client.getTransactionReceipt({ hash })
    const trust = await readTrust()
    const known = { chainId: world.chainId, blockHash: receipt.blockHash, trust }
    const verdict = await verifyProof(proof, known)
    expect(verdict).toMatchObject({ ok: true, problems: [], block: { number: Number(receipt.blockNumber) } })
    expect(verdict.entries).toMatchObject([
      {
        ...{ distributorId: world.distributorId, walletAddress: user.address, amountRaw: '100000000', rule: 'signed' },
        ...{ kind: 'deposit', vault: vault.address, restsOn: ['path', 'history', 'configuration'] },
      },
    ])
    const provider = { request: (call: object) => world.anvil.client.request(call as never) }
    expect((await verifyProofOnline(proof, provider, trust)).ok).toBe(true)
    expect(JSON.stringify(body).length).toBeLessThanOrEqual(30_000)
  })
})

describe('200 again', () => {
  it('reads a block once for all proofs of it, asked at once and later', async () => {
    const { hash } = await depositOnce()
    await world.sync()
    const { rpc } = world.earn.ctx.chains.get(world.chainId)!
    const { blockHash: known, blockNumber } = await world.anvil.client.getTransactionReceipt({ hash })
    const block = { number: Number(blockNumber), hash: known }
    const [first, second] = await Promise.all([
      readTries({ name: 'x', rpc }, block),
      readTries({ name: 'x', rpc }, block),
    ])
    expect(second).toBe(first)
    expect(await readTries({ name: 'x', rpc }, block)).toBe(first)
  })

  it('keeps the last 64 blocks, by their use', async () => {
    const { rpc } = world.earn.ctx.chains.get(world.chainId)!
    const { hash } = await depositOnce()
    const { blockNumber } = await world.anvil.client.getTransactionReceipt({ hash })
    await world.anvil.client.mine({ blocks: 65 })
    const read = async (number: bigint) => {
      const { hash: blockHash } = await world.anvil.client.getBlock({ blockNumber: number })
      return readTries({ name: 'x', rpc }, { number: Number(number), hash: blockHash! })
    }
    const kept = await read(blockNumber)
    const dropped = await read(blockNumber + 1n)
    for (let above = 2n; above <= 33n; above++) await read(blockNumber + above)
    expect(await read(blockNumber)).toBe(kept)
    for (let above = 34n; above <= 64n; above++) await read(blockNumber + above)
    expect(await read(blockNumber)).toBe(kept)
    expect(await read(blockNumber + 1n)).not.toBe(dropped)
  })
})

describe('404', () => {
  it('has no proof of a transaction without an entry', async () => {
    const hash = await sendRaw(user.address, '0x')
    await world.sync()
    expect((await prove(hash)).status).toBe(404)
    expect((await prove(`0x${'1'.repeat(64)}`)).status).toBe(404)
  })

  it('says PROTOCOL_UNSUPPORTED of blocks of an unknown form: never a proof that is wrong', async () => {
    const { hash } = await depositOnce()
    const { blockHash, blockNumber } = await world.anvil.client.getTransactionReceipt({ hash })
    const chain = world.earn.ctx.chains.get(world.chainId)!
    const block = await readWholeBlock(chain, { number: Number(blockNumber), hash: blockHash })
    expect(toTries(block, blockHash).firstLogs).toEqual([0])
    const changed = [
      { ...block, header: { ...block.header, gasUsed: '0x1' } },
      { ...block, transactions: block.transactions.map((each) => ({ ...each, type: '0x78' })) },
      { ...block, transactions: [...block.transactions, ...block.transactions] },
      { ...block, receipts: block.receipts.map((each) => ({ ...each, cumulativeGasUsed: '0x1' })) },
    ]
    for (const other of changed)
      expect(() => toTries(other, blockHash)).toThrow(
        expect.objectContaining({ reason: 'PROTOCOL_UNSUPPORTED', code: 404 }),
      )
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses a malformed hash, and a chain that is not supported', async () => {
    for (const [hash, chain] of [
      ['0x12', world.chainId],
      [`0x${'1'.repeat(64)}`, 4_294_967_295],
      [`0x${'1'.repeat(64)}`, 'x'],
    ] as const)
      expect((await prove(hash, chain)).status).toBe(400)
  })
})

describe('503', () => {
  it('proves nothing of a block of more than 64 MiB', async () => {
    const { hash } = await depositOnce()
    const { blockHash, blockNumber } = await world.anvil.client.getTransactionReceipt({ hash })
    const chain = world.earn.ctx.chains.get(world.chainId)!
    const block = await readWholeBlock(chain, { number: Number(blockNumber), hash: blockHash })
    const [transaction] = block.transactions
    const filled = (bytes: number) => ({
      ...block,
      transactions: [{ ...transaction, input: `0x${'00'.repeat(bytes)}` }],
    })
    const mebibyte = 1024 * 1024
    expect(() => toTries(filled(65 * mebibyte), blockHash)).toThrow(expect.objectContaining({ code: 503 }))
    expect(() => toTries(filled(mebibyte), blockHash)).toThrow(expect.objectContaining({ code: 404 }))
  })

  it('asks for patience where the block cannot be read', async () => {
    const { hash } = await depositOnce()
    await world.sync()
    const answer = await world.withNode(goneNode, () => prove(hash))
    expect(answer.body).toMatchObject({ code: 503, status: 'UNAVAILABLE' })
    expect((await prove(hash)).status).toBe(200)
  })
})
