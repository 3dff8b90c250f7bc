import type { Address } from 'viem'
import { type Chain, getTransactionGasCap } from '../../rpc/chains.js'
import { estimateGas } from '../../rpc/estimate.js'
import { computeGasLimit } from './gas.js'
import type { Step } from './plan.js'

/**
 * The gas limit of each transaction of a plan. `gasUsed` is what each call was measured to use; undefined uses the
 * constants. On chains whose transactions pay for their posting elsewhere it is at least what the node estimates.
 */
export async function findGasLimits(
  chain: Chain,
  wallet: Address,
  steps: readonly Step[],
  gasUsed: readonly bigint[] | undefined,
): Promise<bigint[]> {
  const cap = getTransactionGasCap(chain)
  return Promise.all(
    steps.map(async ({ call, gasConstant }, position) => {
      const measured = gasUsed?.[position]
      const limit = measured === undefined ? gasConstant : computeGasLimit(measured, call.data, position)
      const least = chain.l1GasInLimit ? await findLeast(chain, wallet, { call, gasConstant }, measured) : 0n
      const enough = limit > least ? limit : least
      return enough < cap ? enough : cap
    }),
  )
}

/** The node's estimate; of a call it cannot run yet, that of its calldata alone and what the call was measured to use. */
async function findLeast(
  chain: Chain,
  wallet: Address,
  { call, gasConstant }: Pick<Step, 'call' | 'gasConstant'>,
  measured: bigint | undefined,
): Promise<bigint> {
  const { whole, bare } = await estimateGas(chain, wallet, call)
  return whole ?? (bare ?? 0n) + (measured ?? gasConstant)
}
