import type { Complain } from './shape.js'
import type { ParsedTransaction } from './transactions.js'

/** The base gas of a transaction. */
export const gasMin = 21_000n
export const gasCapDefault = 30_000_000n

/** The chain and the gas of every transaction. */
export function checkLimits(
  steps: readonly ParsedTransaction[],
  { chainId, gasCap }: { chainId: number; gasCap: bigint },
  complain: Complain,
): void {
  steps.forEach((step, at) => {
    const { gasLimit = gasMin } = step
    if (step.chainId !== chainId) complain(`transaction ${at + 1}: is for chain ${step.chainId}, not ${chainId}`)
    if (gasLimit < gasMin) complain(`transaction ${at + 1}: has a gas limit of ${gasLimit}, below ${gasMin}`)
    if (step.gasLimit !== undefined && gasLimit > gasCap)
      complain(`transaction ${at + 1}: has a gas limit of ${gasLimit}, above ${gasCap}`)
  })
}
