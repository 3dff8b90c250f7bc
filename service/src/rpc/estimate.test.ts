import { numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { estimateAt, type GasOffer } from './estimate.js'
import { type Rpc, RpcError, type RpcRequest } from './rpc.js'

const from = `0x${'aa'.repeat(20)}`
const transaction = { from, to: `0x${'bb'.repeat(20)}`, data: '0x1234', value: 5n }
const price: GasOffer = { gasPrice: 7n }

type Asked = { gasPrice?: string; maxFeePerGas?: string; maxPriorityFeePerGas?: string }

/** A node that estimates as told, and has a balance for anybody; what it was asked to estimate. */
function nodeOf(estimate: (asked: Asked) => bigint, balance = 10n ** 18n): { rpc: Rpc; asked: Asked[] } {
  const asked: Asked[] = []
  const request = async ({ method, params }: RpcRequest): Promise<unknown> => {
    if (method === 'eth_getBalance') return numberToHex(balance)
    const [call] = params as [Asked]
    asked.push(call)
    return numberToHex(estimate(call))
  }
  return { rpc: { request } as unknown as Rpc, asked }
}
const refuse = (message: string, data?: string): never => {
  throw new RpcError(3, message, data)
}
const isPriced = ({ gasPrice, maxFeePerGas }: Asked) => gasPrice !== undefined || maxFeePerGas !== undefined

describe('an estimate', () => {
  it('names the price that will be paid, so that what reverts at it does so before it is sent', async () => {
    const { rpc, asked } = nodeOf((call) => (isPriced(call) ? refuse('execution reverted', '0x') : 100n))
    expect(await estimateAt({ rpc }, transaction, price)).toEqual({ revert: expect.any(String) })
    expect(asked[0]).toMatchObject({ from, value: '0x5', gasPrice: '0x7' })
    const other = nodeOf(() => 100n)
    expect(await estimateAt(other, transaction, { maxFee: 9n, tip: 2n })).toEqual({ gas: 100n })
    expect(other.asked).toEqual([expect.objectContaining({ maxFeePerGas: '0x9', maxPriorityFeePerGas: '0x2' })])
  })

  it.each(['insufficient funds for gas * price + value', 'gas required exceeds allowance (12)', 'execution reverted'])(
    'that a node refuses since the sender cannot pay (%s) says what it lacks, and not that it would revert',
    async (words) => {
      const { rpc } = nodeOf((call) => (isPriced(call) ? refuse(words) : 100n), 704n)
      expect(await estimateAt({ rpc }, transaction, price)).toEqual({
        lack: 'the sender holds 704, and it may cost 705',
        of: 'funds',
      })
    },
  )

  it('names the most gas a transaction may have, so that no contract keeps a node busy for longer', async () => {
    const { rpc, asked } = nodeOf((call) => (isPriced(call) ? refuse('execution reverted', '0x') : 100n))
    await estimateAt({ rpc, transactionGasCap: 5_000_000 }, transaction, price)
    expect(asked).toEqual([
      expect.objectContaining({ gas: numberToHex(5_000_000n) }),
      expect.objectContaining({ gas: numberToHex(5_000_000n) }),
    ])
    const short = nodeOf(() => refuse('gas required exceeds allowance (5000000)'))
    expect(await estimateAt(short, transaction, price)).toEqual({ revert: 'with all the gas a transaction may have' })
  })

  it('that is refused at any price reverts, whatever the sender holds', async () => {
    const { rpc } = nodeOf(() => refuse('execution reverted', '0x'), 0n)
    expect(await estimateAt({ rpc }, transaction, price)).toEqual({ revert: expect.any(String) })
  })

  it('below a base fee that rose since is asked again, unless a contract only says so', async () => {
    const words = 'max fee per gas less than block base fee'
    const risen = nodeOf((call) => (isPriced(call) ? refuse(words) : 100n))
    expect(await estimateAt(risen, transaction, price)).toEqual({ lack: expect.stringContaining('gas'), of: 'price' })
    const said = nodeOf((call) => (isPriced(call) ? refuse(`execution reverted: ${words}`, '0x12') : 100n))
    expect(await estimateAt(said, transaction, price)).toEqual({ revert: expect.any(String) })
  })
})
