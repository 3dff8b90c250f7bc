import { runnerAbi } from '@openearn/contracts'
import { type Address, encodeFunctionResult, getAddress, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { rpcOf } from '../../../test/rpcOf.js'
import type { Chain } from '../../rpc/chains.js'
import { failing } from '../../rpc/revert.js'
import { RpcError } from '../../rpc/rpc.js'
import { getNextBlock } from '../../rpc/simulate.js'
import type { TokenRecord } from '../catalogue/index.js'
import type { Step } from './plan.js'
import { simulatePlan, unsimulated } from './simulation.js'

const wallet: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const block = { number: 7, hash: `0x${'07'.repeat(32)}`, parentHash: `0x${'06'.repeat(32)}`, timestamp: 1_700_000_000 }
const tokenOf = (digits: string) =>
  ({
    ...{ chainId: 1, symbol: digits, name: digits, decimals: 6, logoUrl: '' },
    address: `0x${digits.repeat(20)}`,
  }) as TokenRecord
const tokens = ['a1', 'b2', 'c3'].map(tokenOf)
const closed = failing('error Closed()', 'the vault is closed', 'closed')
const step = (type: Step['type'], explainRevert?: Step['explainRevert']): Step => ({
  ...{ type, description: '', call: { to: wallet, data: '0x', value: 0n }, gasConstant: 0n },
  ...(explainRevert ? { explainRevert } : {}),
})

type Outcome = { success: boolean; gasUsed: bigint; returned: Hex }
const done = (gasUsed: bigint): Outcome => ({ success: true, gasUsed, returned: '0x' })
const failed: Outcome = { success: false, gasUsed: 1n, returned: closed.selector }

/** A chain whose node runs a plan with these outcomes and balances. It knows no other way to simulate. */
function chainThat(steps: Outcome[], balancesBefore: bigint[] = [], balancesAfter: bigint[] = []): Chain {
  const result = {
    ...{ steps, balancesBefore, balancesAfter, blockNumber: 8n, timestamp: getNextBlock(block).timestamp },
    ...{ probed: false, probeSent: 0n, probeReceived: 0n },
  }
  const answer = encodeFunctionResult({ abi: runnerAbi, functionName: 'run', result })
  const rpc = rpcOf(async ({ method }) => {
    if (method !== 'eth_call') throw new RpcError(-32_601, 'no such method', undefined)
    return answer
  })
  return { name: 'Test', rpc } as unknown as Chain
}
const simulate = (chain: Chain, steps: Step[]) =>
  simulatePlan(chain, { wallet, steps, tokens, probe: undefined, block, errors: [closed] })

describe('the simulation of a plan', () => {
  it('tells what each token changes by, but for those that stay as they are, and the gas of each call', async () => {
    const chain = chainThat([done(11n), done(12n)], [10n, 5n, 0n], [4n, 5n, 3n])
    const { body, gasUsed, changeOf } = await simulate(chain, [step('approve'), step('deposit')])
    expect(body).toMatchObject({
      status: 'ok',
      blockNumber: 7,
      blockHash: block.hash,
      assetChanges: [
        { token: { symbol: 'a1' }, amount: '-6' },
        { token: { symbol: 'c3' }, amount: '3' },
      ],
    })
    expect(gasUsed).toEqual([11n, 12n])
    expect(tokens.map(({ address }) => changeOf(getAddress(address)))).toEqual([-6n, 0n, 3n])
    expect(changeOf(wallet)).toBeUndefined()
  })

  it('refuses a plan that would revert: which transaction, and why', async () => {
    const plan = [step('approve'), step('deposit')]
    await expect(simulate(chainThat([done(1n), failed]), plan)).rejects.toMatchObject({
      code: 400,
      reason: 'SIMULATION_REVERTED',
      message: 'transaction 2 of 2 (deposit) would revert with Closed(): the vault is closed',
      context: { transactionIndex: 1 },
    })
  })

  it('lets the step that reverts say more than that it would', async () => {
    const told: unknown[] = []
    const explain = step('deposit', (...all) => {
      told.push(...all)
      throw new Error('more is known')
    })
    await expect(simulate(chainThat([failed]), [explain])).rejects.toThrow('more is known')
    expect(told).toEqual([
      'transaction 1 of 1 (deposit) would revert with Closed(): the vault is closed',
      { transactionIndex: 0 },
      'closed',
    ])
  })

  it('is unavailable, and tells nothing else, where the node can run no plan', async () => {
    const rpc = rpcOf(async () => {
      throw new RpcError(-32_601, 'no such method', undefined)
    })
    const { body, gasUsed, changeOf } = await simulate({ name: 'Test', rpc } as unknown as Chain, [step('deposit')])
    expect(body).toEqual({ status: 'unavailable', blockNumber: null, blockHash: null, assetChanges: [] })
    expect([gasUsed, changeOf(wallet)]).toEqual([undefined, undefined])
  })

  it('that nobody asked for is told as skipped', () => {
    expect(unsimulated.body).toEqual({ status: 'skipped', blockNumber: null, blockHash: null, assetChanges: [] })
    expect([unsimulated.gasUsed, unsimulated.changeOf(wallet)]).toEqual([undefined, undefined])
  })
})
