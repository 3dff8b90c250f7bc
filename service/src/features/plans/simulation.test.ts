import { runnerAbi } from '@openearn/contracts'
import { type Address, encodeFunctionResult } from 'viem'
import { describe, expect, it } from 'vitest'
import { rpcOf } from '../../../test/rpcOf.js'
import type { Chain } from '../../rpc/chains.js'
import { getNextBlock } from '../../rpc/simulate.js'
import { simulatePlan } from './simulation.js'

const wallet: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const block = { number: 7, hash: `0x${'07'.repeat(32)}`, parentHash: `0x${'06'.repeat(32)}`, timestamp: 1_700_000_000 }

/** Simulates a plan of nothing whose token was tried with 100 units. */
function simulateProbe(sent: bigint, received: bigint) {
  const answer = encodeFunctionResult({
    abi: runnerAbi,
    functionName: 'run',
    result: {
      ...{ steps: [], balancesBefore: [], balancesAfter: [] },
      ...{
        blockNumber: 8n,
        probed: true,
        probeSent: sent,
        probeReceived: received,
        timestamp: getNextBlock(block).timestamp,
      },
    },
  })
  const chain = { name: 'Test', rpc: rpcOf(async () => answer) } as unknown as Chain
  const probe = { token: wallet, to: wallet, amount: 100n }
  return simulatePlan(chain, { wallet, steps: [], tokens: [], probe, block, errors: [] })
}

describe('a token that was tried', () => {
  it('is refused where it takes more or less from the sender than was to be moved, or delivers more or less', async () => {
    for (const [sent, received] of [
      [101n, 100n],
      [99n, 100n],
      [100n, 99n],
      [100n, 101n],
      [0n, 0n],
    ] as const)
      await expect(simulateProbe(sent, received), `${sent} ${received}`).rejects.toMatchObject({
        code: 400,
        reason: 'TOKEN_UNSUPPORTED',
        message: `this token does not move exact amounts (${sent} left the wallet and ${received} arrived of 100); it cannot be deposited or swapped`,
      })
  })

  it('is taken where it moves exactly what it is told to', async () => {
    expect((await simulateProbe(100n, 100n)).body.status).toBe('ok')
  })
})
