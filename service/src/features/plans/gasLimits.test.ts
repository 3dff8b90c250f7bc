import { describe, expect, it } from 'vitest'
import type { Chain } from '../../rpc/chains.js'
import { RpcError } from '../../rpc/rpc.js'
import { computeGasLimit } from './gas.js'
import { findGasLimits } from './gasLimits.js'
import type { Step } from './plan.js'

const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const target = '0x3C44CdDdB6a900fa2b585dd299e03D12FA4293BC'
const step = (data: Step['call']['data'], gasConstant = 600_000n): Step => ({
  type: 'deposit',
  description: '',
  call: { to: target, data, value: 0n },
  gasConstant,
})

/** A chain whose node estimates; `estimate` answers by target, undefined: it reverts. */
function chainWith(
  settings: Pick<Chain, 'l1GasInLimit' | 'transactionGasCap'>,
  estimate: (to: string) => bigint | undefined = () => {
    throw new Error('nobody asks this node')
  },
): Chain {
  const request = async ({ params }: { params?: unknown }) => {
    const [{ to }] = params as [{ to: string }]
    const gas = estimate(to)
    if (gas === undefined) throw new RpcError(3, 'execution reverted', undefined)
    return `0x${gas.toString(16)}`
  }
  return { name: 'Test', ...settings, rpc: { request } } as unknown as Chain
}

describe('the gas limits of a plan', () => {
  it('follow from what was measured, and from the constants where nothing was', async () => {
    const steps = [step('0x01'), step('0x02')]
    expect(await findGasLimits(chainWith({}), wallet, steps, [50_000n, 60_000n])).toEqual([
      computeGasLimit(50_000n, '0x01', 0),
      computeGasLimit(60_000n, '0x02', 1),
    ])
    expect(await findGasLimits(chainWith({}), wallet, steps, undefined)).toEqual([600_000n, 600_000n])
  })

  it('end at what one transaction of the chain may have: EIP-7825, or its own setting', async () => {
    expect(await findGasLimits(chainWith({}), wallet, [step('0x')], [100_000_000n])).toEqual([16_777_216n])
    const own = chainWith({ transactionGasCap: 32_000_000 })
    expect(await findGasLimits(own, wallet, [step('0x')], [100_000_000n])).toEqual([32_000_000n])
    expect(
      await findGasLimits(chainWith({ transactionGasCap: null }), wallet, [step('0x', 20_000_000n)], undefined),
    ).toEqual([16_777_216n])
  })

  it('are at least what the node estimates where posting to another chain is paid as gas', async () => {
    const chain = chainWith({ l1GasInLimit: true }, () => 2_000_000n)
    expect(await findGasLimits(chain, wallet, [step('0x')], [50_000n])).toEqual([2_000_000n])
    const small = chainWith({ l1GasInLimit: true }, () => 30_000n)
    expect(await findGasLimits(small, wallet, [step('0x')], [50_000n])).toEqual([computeGasLimit(50_000n, '0x', 0)])
  })

  it('add what posting costs to a call that the node cannot estimate before the approval is mined', async () => {
    const chain = chainWith({ l1GasInLimit: true }, (to) => (to === target ? undefined : 900_000n))
    expect(await findGasLimits(chain, wallet, [step('0x')], [50_000n])).toEqual([950_000n])
    // What was not measured is taken to cost the constant.
    expect(await findGasLimits(chain, wallet, [step('0x')], undefined)).toEqual([1_500_000n])
    const silent = chainWith({ l1GasInLimit: true }, () => undefined)
    expect(await findGasLimits(silent, wallet, [step('0x')], [50_000n])).toEqual([computeGasLimit(50_000n, '0x', 0)])
  })
})
