import { runnerAbi, runnerDeployedBytecode } from '@openearn/contracts'
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, numberToHex, zeroAddress } from 'viem'
import { type Chain, getTransactionGasCap, readingChain } from './chains.js'
import type { At } from './multicall.js'
import type { Header } from './raw.js'
import { RpcError } from './rpc.js'
import { type NextBlock, type Simulated, type SimulationRequest, simulateWithoutRunner } from './simulateBlock.js'
import { answers } from './wire.js'

/** No chain we know waits longer for its next block when somebody sends to it. */
const nextBlockSeconds = 12

/**
 * The block after the head, in which a vault has to pay in what accrued since. In the head itself that may be done
 * already, and would not be measured.
 */
export function getNextBlock(head: Pick<Header, 'number' | 'timestamp'>): NextBlock {
  return { number: BigInt(head.number + 1), timestamp: BigInt(head.timestamp + nextBlockSeconds) }
}

type SimulatingChain = Pick<Chain, 'name' | 'rpc' | 'transactionGasCap'>

/**
 * Runs a wallet's calls in order without sending them: one `eth_call` whose state override puts the runner's code at
 * the wallet and whose block override makes the next block. Where a node refuses or ignores overrides, or the runner
 * saw a revert (some contracts treat callers with code in another way), `eth_simulateV1` is asked; its word decides.
 * Where a node knows neither that nor blocks of one's own, the runner is asked in the block there is. Where nothing
 * works: `unavailable`. A node that cannot be reached is a 503.
 */
export async function simulateCalls(chain: SimulatingChain, request: SimulationRequest): Promise<Simulated> {
  const run = await readingChain(chain, () => simulateWithRunner(chain, request))
  if (run.simulated.status === 'ok' && run.inBlock) return run.simulated
  const second = await readingChain(chain, () => simulateWithoutRunner(chain, request))
  if (second.status !== 'unavailable') return second
  if (run.simulated.status !== 'unavailable' || !request.inBlock) return run.simulated
  return (await readingChain(chain, () => simulateWithRunner(chain, { ...request, inBlock: undefined }))).simulated
}

/** `inBlock`: it ran in the block that was asked for. */
type Run = { simulated: Simulated; inBlock: boolean }

async function simulateWithRunner(chain: SimulatingChain, request: SimulationRequest): Promise<Run> {
  const { wallet, calls, tokens, probe, inBlock } = request
  const data = encodeFunctionData({
    abi: runnerAbi,
    functionName: 'run',
    args: [
      calls.map(({ to, value, data }) => ({ target: to, value, data })),
      [...tokens],
      probe ?? { token: zeroAddress, to: zeroAddress, amount: 0n },
    ],
  })
  const gas = getTransactionGasCap(chain)
  const overrides = { [wallet]: { code: runnerDeployedBytecode } }
  const answer = await callAs(chain, { ...request, data, overrides, gas })
  const outcome = answer === undefined ? undefined : parseOutcome(answer)
  if (!outcome) return { simulated: { status: 'unavailable' }, inBlock: false }
  const ranIn = inBlock === undefined || outcome.timestamp === inBlock.timestamp
  return { simulated: readOutcome(outcome, calls.length), inBlock: ranIn }
}

function readOutcome(outcome: Outcome, calls: number): Simulated {
  const probed = outcome.probed ? { sent: outcome.probeSent, received: outcome.probeReceived } : undefined
  const failed = outcome.steps.findIndex((step) => !step.success)
  if (failed !== -1)
    return { status: 'reverted', index: failed, returned: outcome.steps[failed]?.returned ?? '0x', probe: probed }
  if (outcome.steps.length !== calls) return { status: 'unavailable' }
  return {
    status: 'ok',
    gasUsed: outcome.steps.map((step) => step.gasUsed),
    changes: outcome.balancesAfter.map((after, i) => after - (outcome.balancesBefore[i] ?? 0n)),
    probe: probed,
  }
}

/** Replacements in accounts for the duration of a call: code, or single storage slots. */
export type Overrides = Record<Address, { code?: Hex; stateDiff?: Record<Hex, Hex> }>

/** One `eth_call` of a wallet to itself over another state and in another block; undefined when the node refused it. */
export async function callAs(
  chain: Pick<Chain, 'rpc'>,
  call: { wallet: Address; data: Hex; overrides: Overrides; at?: At; inBlock?: NextBlock | undefined; gas?: bigint },
): Promise<Hex | undefined> {
  const { wallet, data, overrides, inBlock, gas } = call
  const block = inBlock && [{ number: numberToHex(inBlock.number), time: numberToHex(inBlock.timestamp) }]
  const most = gas === undefined ? {} : { gas: numberToHex(gas) }
  const from = { from: wallet, to: wallet, data, value: '0x0', ...most }
  const params = [from, call.at ?? 'latest', overrides, ...(block ?? [])]
  try {
    return answers.bytes.find(await chain.rpc.request({ method: 'eth_call', params }))
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}

type Outcome = NonNullable<ReturnType<typeof parseOutcome>>

/** A node that ignores overrides runs the bare wallet: its result is empty, or is no outcome. */
function parseOutcome(data: Hex) {
  try {
    return decodeFunctionResult({ abi: runnerAbi, functionName: 'run', data })
  } catch {
    return undefined
  }
}
