import { runnerAbi, runnerDeployedBytecode } from '@openearn/contracts'
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, isHex, toHex } from 'viem'
import { type Chain, readingChain } from './chains.js'
import { transactionGasCap } from './gasCaps.js'
import type { At } from './question.js'
import { RpcError } from './rpc.js'
import { simulateWithoutRunner } from './simulateBlock.js'

export type Call = { to: Address; data: Hex; value: bigint }

/** A transfer tried and undone before the calls: does the token move exactly what it is told to? */
export type Probe = { token: Address; to: Address; amount: bigint }

export type SimulationRequest = {
  wallet: Address
  calls: readonly Call[]
  /** Tokens whose balance is compared before and after. */
  tokens: readonly Address[]
  probe?: Probe | undefined
  at?: At
}

export type Simulated =
  | {
      status: 'ok'
      /** Gas of each call alone: without the transaction's own cost, before refunds. */
      gasUsed: bigint[]
      /** Balance after minus balance before, as the tokens asked for. */
      changes: bigint[]
      /** What the probe sent and what arrived; undefined when its transfer failed or none was asked for. */
      probe: { sent: bigint; received: bigint } | undefined
    }
  | { status: 'reverted'; index: number; returned: Hex; probe: { sent: bigint; received: bigint } | undefined }
  | { status: 'unavailable' }

/**
 * Runs a wallet's calls in order without sending them: one `eth_call` whose state override puts the runner's code at
 * the wallet. Where a node refuses overrides, or the runner saw a revert (some contracts treat callers with code in
 * another way), `eth_simulateV1` is asked; its word decides. Where neither works: `unavailable`. A node that cannot be
 * reached is a 503.
 */
export async function simulateCalls(
  chain: Pick<Chain, 'name' | 'rpc'>,
  request: SimulationRequest,
): Promise<Simulated> {
  const run = await readingChain(chain, () => simulateWithRunner(chain, request))
  if (run.status === 'ok') return run
  const second = await readingChain(chain, () => simulateWithoutRunner(chain, request))
  return second.status === 'unavailable' ? run : second
}

async function simulateWithRunner(chain: Pick<Chain, 'rpc'>, request: SimulationRequest): Promise<Simulated> {
  const { wallet, calls, tokens, probe } = request
  const data = encodeFunctionData({
    abi: runnerAbi,
    functionName: 'run',
    args: [
      calls.map(({ to, value, data }) => ({ target: to, value, data })),
      [...tokens],
      probe ?? { token: zeroAddress, to: zeroAddress, amount: 0n },
    ],
  })
  const answer = await callOrRefused(chain, [
    { from: wallet, to: wallet, data, value: toHex(0n), gas: toHex(transactionGasCap) },
    request.at ?? 'latest',
    { [wallet]: { code: runnerDeployedBytecode } },
  ])
  const outcome = answer === undefined ? undefined : parseOutcome(answer)
  if (!outcome) return { status: 'unavailable' }
  const probed = outcome.probed ? { sent: outcome.probeSent, received: outcome.probeReceived } : undefined
  const failed = outcome.steps.findIndex((step) => !step.success)
  if (failed !== -1)
    return { status: 'reverted', index: failed, returned: outcome.steps[failed]?.returned ?? '0x', probe: probed }
  if (outcome.steps.length !== calls.length) return { status: 'unavailable' }
  return {
    status: 'ok',
    gasUsed: outcome.steps.map((step) => step.gasUsed),
    changes: outcome.balancesAfter.map((after, i) => after - (outcome.balancesBefore[i] ?? 0n)),
    probe: probed,
  }
}

const zeroAddress: Address = '0x0000000000000000000000000000000000000000'

/** The answer of an `eth_call`; undefined when the node refused it. */
async function callOrRefused(chain: Pick<Chain, 'rpc'>, params: readonly unknown[]): Promise<Hex | undefined> {
  try {
    const answer = await chain.rpc.request({ method: 'eth_call', params })
    return isHex(answer) ? answer : undefined
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}

/** A node that ignores overrides answers for the bare wallet: nothing, or something that is no outcome. */
function parseOutcome(data: Hex) {
  try {
    return decodeFunctionResult({ abi: runnerAbi, functionName: 'run', data })
  } catch {
    return undefined
  }
}
