import { type Address, encodeFunctionData, erc20Abi, type Hex, toHex } from 'viem'
import { transferTopic } from './abis.js'
import { type Chain, getTransactionGasCap } from './chains.js'
import { blockGasCap } from './gasCaps.js'
import type { At } from './multicall.js'
import { nativeToken } from './native.js'
import { RpcError } from './rpc.js'
import { answers, type SimulatedCall } from './wire.js'

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
  /** The block it runs in; undefined: the one of the state itself, with that block's time. */
  inBlock?: NextBlock | undefined
}

/** A block that is not mined yet. */
export type NextBlock = { number: bigint; timestamp: bigint }

export type Simulated =
  | {
      status: 'ok'
      /** Gas of each call alone: without the transaction's own cost, before refunds. */
      gasUsed: bigint[]
      /** Balance after minus balance before, as the tokens asked for. */
      changes: bigint[]
      /** The amounts that the probe sent and received; undefined if its transfer failed or no probe was requested. */
      probe: { sent: bigint; received: bigint } | undefined
    }
  | { status: 'reverted'; index: number; returned: Hex; probe: { sent: bigint; received: bigint } | undefined }
  | { status: 'unavailable' }

/**
 * The same simulation through `eth_simulateV1`: every call is a transaction of its own in one block, with the wallet's
 * own code. Balances are read by calls before and after; the native balance from the traced transfers. Returns
 * `unavailable` if a node lacks the method.
 */
export async function simulateWithoutRunner(
  chain: Pick<Chain, 'rpc' | 'transactionGasCap'>,
  request: SimulationRequest,
): Promise<Simulated> {
  const { wallet, calls, tokens } = request
  const reads = tokens
    .filter((token) => token !== nativeToken)
    .map((token) => ({ from: wallet, to: token, data: balanceOf(wallet), gas: readGas }))
  const share = blockGasCap / BigInt(Math.max(1, calls.length))
  const cap = getTransactionGasCap(chain)
  const gas = share < cap ? share : cap
  const made = calls.map(({ to, data, value }) => ({ from: wallet, to, data, value: toHex(value), gas: toHex(gas) }))
  const results = await simulate(chain, [...reads, ...made, ...reads], request)
  if (!results) return { status: 'unavailable' }
  const before = results.slice(0, reads.length)
  const steps = results.slice(reads.length, reads.length + made.length)
  const after = results.slice(reads.length + made.length)
  const failed = steps.findIndex((step) => quantityOf(step.status) === 0n)
  if (failed !== -1) {
    const step = steps[failed]
    const returned = step?.error?.data ?? step?.returnData ?? '0x'
    return { status: 'reverted', index: failed, returned, probe: undefined }
  }
  let read = 0
  const changes = tokens.map((token) => {
    if (token === nativeToken) return computeNativeChange(wallet, steps)
    const at = read++
    return wordOf(after[at]?.returnData) - wordOf(before[at]?.returnData)
  })
  return { status: 'ok', gasUsed: steps.map(computeCallGas), changes, probe: undefined }
}

/** Of one balance. */
const readGas = toHex(300_000)

async function simulate(
  chain: Pick<Chain, 'rpc'>,
  calls: readonly unknown[],
  request: SimulationRequest,
): Promise<SimulatedCall[] | undefined> {
  const { inBlock } = request
  const block = inBlock && { number: toHex(inBlock.number), time: toHex(inBlock.timestamp) }
  const params = [
    {
      blockStateCalls: [{ ...(block ? { blockOverrides: block } : {}), calls }],
      traceTransfers: true,
      validation: false,
    },
    typeof request.at === 'object' ? request.at.blockHash : 'latest',
  ]
  try {
    const blocks = answers.simulation.find(await chain.rpc.request({ method: 'eth_simulateV1', params }))
    const results = blocks?.[0]?.calls
    return results?.length === calls.length ? results : undefined
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}

/** A transaction cost of 21,000 is in the figure, and up to a fifth was refunded: neither may be counted on. */
function computeCallGas(step: SimulatedCall): bigint {
  const used = quantityOf(step.gasUsed) * 5n
  return used / 4n > 21_000n ? used / 4n - 21_000n : 0n
}

function computeNativeChange(wallet: Address, steps: readonly SimulatedCall[]): bigint {
  const own = wallet.toLowerCase()
  let change = 0n
  for (const log of steps.flatMap((step) => step.logs ?? [])) {
    if (log.address.toLowerCase() !== nativeToken.toLowerCase() || log.topics[0] !== transferTopic) continue
    if (addressOf(log.topics[1]) === own) change -= wordOf(log.data)
    if (addressOf(log.topics[2]) === own) change += wordOf(log.data)
  }
  return change
}

function addressOf(topic: string | undefined): string {
  return `0x${(topic ?? '').slice(-40)}`.toLowerCase()
}

function wordOf(data: string | undefined): bigint {
  return data !== undefined && data.length >= 66 ? BigInt(data.slice(0, 66)) : 0n
}

function quantityOf(text: string): bigint {
  return text === '0x' ? 0n : BigInt(text)
}

function balanceOf(holder: Address): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] })
}
