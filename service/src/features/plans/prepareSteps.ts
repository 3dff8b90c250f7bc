import type { Address } from 'viem'
import type { Chain } from '../../rpc/chains.js'
import type { Header } from '../../rpc/raw.js'
import { findGasLimits } from './gasLimits.js'
import { type Step, toPrepared } from './plan.js'
import type { Prepared } from './schema.js'
import { simulatePlan } from './simulation.js'

/** Steps that stand alone, ready to sign: simulated, with the gas limit of each, and no record of them. */
export async function prepareSteps(
  chain: Chain,
  { wallet, steps, block }: { wallet: Address; steps: readonly Step[]; block: Header },
): Promise<Prepared[]> {
  if (steps.length === 0) return []
  const { gasUsed } = await simulatePlan(chain, { wallet, steps, tokens: [], probe: undefined, block, errors: [] })
  return toPrepared(steps, chain.chainId, await findGasLimits(chain, wallet, steps, gasUsed))
}
