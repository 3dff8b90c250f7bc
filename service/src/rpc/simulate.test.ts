import { runnerAbi } from '@openearn/contracts'
import { type Address, encodeFunctionResult, type Hex, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { rpcOf } from '../../test/rpcOf.js'
import { RpcError } from './rpc.js'
import { simulateCalls } from './simulate.js'

const wallet: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const call = { to: wallet, data: '0x' as Hex, value: 0n }
const step = { success: true, gasUsed: 50_000n, returned: '0x' as Hex }

/** A node that answers by the method alone, and refuses the others. */
const nodeOf = (answers: Readonly<Record<string, unknown>>) => ({
  name: 'Test',
  rpc: rpcOf(async ({ method }) => {
    if (!(method in answers)) throw new RpcError(-32601, 'no such method', undefined)
    return answers[method]
  }),
})
const ran = (steps: (typeof step)[]) =>
  encodeFunctionResult({
    abi: runnerAbi,
    functionName: 'run',
    result: {
      ...{ steps, balancesBefore: [], balancesAfter: [] },
      ...{ blockNumber: 0n, probed: false, probeSent: 0n, probeReceived: 0n, timestamp: 0n },
    },
  })

describe('a simulation', () => {
  it('is unavailable where the runner answers fewer steps than there are calls', async () => {
    const request = { wallet, calls: [call, call], tokens: [] }
    expect(await simulateCalls(nodeOf({ eth_call: ran([step, step]) }), request)).toMatchObject({
      status: 'ok',
      gasUsed: [50_000n, 50_000n],
    })
    for (const steps of [[], [step], [step, step, step]])
      expect(await simulateCalls(nodeOf({ eth_call: ran(steps) }), request)).toEqual({ status: 'unavailable' })
  })

  it('takes the cost of the transaction off the gas of eth_simulateV1, and adds the quarter that may have been refunded', async () => {
    const gasOf = async (gasUsed: bigint) => {
      const told = { status: '0x1', gasUsed: toHex(gasUsed), returnData: '0x', logs: [] }
      const node = nodeOf({ eth_simulateV1: [{ calls: [told] }] })
      const result = await simulateCalls(node, { wallet, calls: [call], tokens: [] })
      return result.status === 'ok' ? result.gasUsed : result.status
    }
    expect(await gasOf(100_000n)).toEqual([104_000n])
    expect(await gasOf(16_800n)).toEqual([0n])
    expect(await gasOf(16_804n)).toEqual([5n])
  })
})
