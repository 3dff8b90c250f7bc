import type { Address } from 'viem'
import type { Chain } from '../../rpc/chains.js'
import type { Header } from '../../rpc/raw.js'
import { describeRevert, findMeaning, type KnownError } from '../../rpc/revert.js'
import { getNextBlock, simulateCalls } from '../../rpc/simulate.js'
import type { Probe, Simulated } from '../../rpc/simulateBlock.js'
import { type TokenRecord, toToken } from '../catalogue/index.js'
import type { Step } from './plan.js'
import { refuse } from './refusal.js'
import type { Interaction } from './schema.js'

/** Result of the simulation of a plan: the body for the caller, the gas of each call, and each token's change by address. */
export type PlanSimulation = {
  body: Interaction['simulation']
  gasUsed: readonly bigint[] | undefined
  changeOf(token: string): bigint | undefined
}

/** Runs the final calldata of a plan in the block after the one given. A plan that would revert is a 400 naming the transaction and why. */
export async function simulatePlan(
  chain: Chain,
  input: {
    wallet: Address
    steps: readonly Step[]
    tokens: readonly TokenRecord[]
    probe: Probe | undefined
    block: Header
    errors: readonly KnownError[]
  },
): Promise<PlanSimulation> {
  const { wallet, steps, tokens, block } = input
  const simulated = await simulateCalls(chain, {
    wallet,
    calls: steps.map(({ call }) => call),
    tokens: tokens.map((token) => toToken(token).address as Address),
    probe: input.probe,
    at: { blockHash: block.hash },
    inBlock: getNextBlock(block),
  })
  assertFaithfulToken(simulated, input.probe)
  if (simulated.status === 'unavailable')
    return { ...unsimulated, body: { ...unsimulated.body, status: 'unavailable' } }
  if (simulated.status === 'reverted') {
    const step = steps[simulated.index]
    const found = describeRevert(simulated.returned, input.errors)
    const why = `transaction ${simulated.index + 1} of ${steps.length} (${step?.type ?? 'unknown'}) would revert ${found}`
    const context = { transactionIndex: simulated.index }
    step?.explainRevert?.(why, context, findMeaning(simulated.returned, input.errors))
    throw refuse('SIMULATION_REVERTED', why, context)
  }
  const { changes, gasUsed } = simulated
  const assetChanges = tokens.flatMap((token, i) => {
    const amount = changes[i] ?? 0n
    return amount === 0n ? [] : [{ token: toToken(token), amount: String(amount) }]
  })
  return {
    body: { status: 'ok', blockNumber: block.number, blockHash: block.hash, assetChanges },
    gasUsed,
    changeOf: (address) => changes[tokens.findIndex((token) => token.address === address.toLowerCase())],
  }
}

/** The answer where no simulation was asked for. */
export const unsimulated: PlanSimulation = {
  body: { status: 'skipped', blockNumber: null, blockHash: null, assetChanges: [] },
  gasUsed: undefined,
  changeOf: () => undefined,
}

/** A token that takes a fee on transfer, or rounds it, breaks every exact amount: it is refused. */
function assertFaithfulToken(simulated: Simulated, probe: Probe | undefined): void {
  if (!probe || !('probe' in simulated) || !simulated.probe) return
  const { sent, received } = simulated.probe
  if (sent === probe.amount && received === probe.amount) return
  throw refuse(
    'TOKEN_UNSUPPORTED',
    `this token does not move exact amounts (${sent} left the wallet and ${received} arrived of ${probe.amount}); it cannot be deposited or swapped`,
  )
}
