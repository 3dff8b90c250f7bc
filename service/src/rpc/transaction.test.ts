import { describe, expect, it } from 'vitest'
import { rpcOf } from '../../test/rpcOf.js'
import type { RpcRequest } from './rpc.js'
import { readTransaction } from './transaction.js'

const hash = `0x${'ee'.repeat(32)}`
const blockHash = `0x${'cc'.repeat(32)}`
const transaction = { hash, from: `0x${'aA'.repeat(20)}`, to: null, input: '0xAB', blockHash, blockNumber: '0x7' }
const log = {
  blockNumber: '0x7',
  blockHash,
  logIndex: '0x1',
  transactionIndex: '0x2',
  transactionHash: hash,
  address: `0x${'bb'.repeat(20)}`,
  topics: [],
  data: '0x',
}
const receipt = { blockNumber: '0x7', blockHash, transactionIndex: '0x2', status: '0x1', logs: [log] }

/** Reads the transaction of a node with these two answers. */
function read(transaction: unknown, receipt: unknown) {
  const request = async ({ method }: RpcRequest) => (method === 'eth_getTransactionReceipt' ? receipt : transaction)
  return readTransaction({ name: 'Test', chainId: 5, rpc: rpcOf(request) }, hash)
}

describe('a transaction of a chain', () => {
  it('is read with what it did, in lower case', async () => {
    const mined = { blockNumber: 7, blockHash, transactionIndex: 2, success: true }
    expect(await read(transaction, receipt)).toMatchObject({
      chainId: 5,
      from: `0x${'aa'.repeat(20)}`,
      to: null,
      input: '0xab',
      mined: { ...mined, logs: [{ logIndex: 1 }] },
    })
    expect((await read(transaction, { ...receipt, status: '0x0' }))?.mined?.success).toBe(false)
    expect((await read(transaction, { ...receipt, status: null }))?.mined?.success).toBe(true)
  })

  it('is unknown, or waits, where the node says so', async () => {
    expect(await read(null, null)).toBeUndefined()
    expect(await read({ ...transaction, blockHash: null, blockNumber: null }, null)).toMatchObject({ mined: undefined })
  })

  it.each([
    ['no transaction', 'pending', null],
    ['another transaction', { ...transaction, hash: blockHash }, receipt],
    ['half a transaction', { ...transaction, from: undefined }, receipt],
    ['half a receipt', transaction, { ...receipt, logs: undefined }],
    ['a log of another block', transaction, { ...receipt, logs: [{ ...log, blockHash: hash }] }],
  ])('is neither unknown nor waiting when the node answers %s: that is a 503', async (_what, transaction, receipt) => {
    await expect(read(transaction, receipt)).rejects.toMatchObject({ code: 503 })
  })
})
