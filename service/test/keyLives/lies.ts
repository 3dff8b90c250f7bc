import { numberToHex } from 'viem'
import { OutboundError } from '../../src/kernel/outbound.js'
import { type Rpc, RpcError, type RpcRequest } from '../../src/rpc/rpc.js'
import type { Random } from '../simulation/random.js'

export type Lie = 'count' | 'noReceipt' | 'otherReceipt' | 'gasPrice' | 'estimate' | 'refusal' | 'silence'
export const lies: readonly Lie[] = ['count', 'noReceipt', 'otherReceipt', 'gasPrice', 'estimate', 'refusal', 'silence']

type Ask = (request: RpcRequest) => Promise<unknown>

/** A node that tells one kind of lie while it is told to; the same lie as long as that lasts. */
export function createLiar(ask: Ask, random: Random) {
  let lie: Lie | undefined
  let by = 0
  const answer: Ask = async (request) => {
    if (lie === undefined) return ask(request)
    const { method } = request
    if (lie === 'silence' && by % 2 === 0 ? method === 'eth_estimateGas' : lie === 'silence')
      throw new OutboundError('timeout', 'the node did not answer in time')
    const told = await ask(request)
    if (lie === 'count' && method === 'eth_getTransactionCount') return numberToHex(Math.max(0, Number(told) + by))
    if (method === 'eth_getTransactionReceipt') {
      if (lie === 'noReceipt') return null
      const hash = (request.params as string[])[0]
      const made = {
        transactionHash: hash,
        blockNumber: numberToHex(Math.max(1, 90 + by)),
        gasUsed: '0x5208',
        status: '0x0',
      }
      if (lie === 'otherReceipt') return { ...(told as object | null), ...made, effectiveGasPrice: '0x1' }
    }
    if (lie === 'gasPrice' && method === 'eth_feeHistory') {
      const factor = by > 0 ? 100n : 0n
      return {
        baseFeePerGas: ['0x1', numberToHex(10n ** 10n * factor + 1n)],
        reward: [[numberToHex(10n ** 9n * factor)]],
      }
    }
    if (method === 'eth_estimateGas') {
      if (lie === 'refusal') throw new RpcError(3, 'execution reverted', '0x')
      if (lie === 'estimate') return numberToHex(by > 0 ? BigInt(told as string) * 20n : 30_000n)
    }
    return told
  }
  return {
    answer,
    begin: (next: Lie) => {
      lie = next
      by = random.pick([-3, -1, 1, 7, 1_000])
    },
    end: () => {
      lie = undefined
    },
  }
}

/** Nodes as one: the first is asked, any other has a second word. */
export function createNodes(nodes: readonly Ask[]): Rpc {
  const [first, second] = nodes as [Ask, Ask | undefined]
  const open = (ask: Ask, other: Ask | undefined): Rpc => {
    const rpc: Rpc = {
      request: ask,
      batch: (requests) => Promise.all(requests.map(ask)),
      as: () => rpc,
      secondary: () => other && open(other, undefined),
      markUnreliable: () => undefined,
    }
    return rpc
  }
  return open(first, second)
}
