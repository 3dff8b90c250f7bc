import { readerBytecode } from '@openearn/contracts'
import {
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  erc4626Abi,
  type Hex,
  keccak256,
  toFunctionSelector,
  toHex,
} from 'viem'
import { systemClock } from '../src/kernel/clock.js'
import { silentLog } from '../src/kernel/log.js'
import type { Database } from '../src/postgres/pool.js'
import { feedAbi, type Round } from '../src/prices/feeds.js'
import type { Chain } from '../src/rpc/chains.js'
import { RpcError, type RpcRequest } from '../src/rpc/rpc.js'
import { rpcOf } from './rpcOf.js'

export type ModelBlock = { number: number; hash: string; parentHash: string; timestamp: number }

/** What a vault answers at a block; undefined: it reverts. */
export type ModelFigures = { totalAssets: bigint; totalSupply: bigint; perShare: (shares: bigint) => bigint }

/** A chain in memory whose vaults and feeds answer as they are told to, by block. */
export type SnapshotChain = {
  blocks: ModelBlock[]
  /** Adds a block at a time; `fork` makes its hash another. */
  mine(timestamp: number, fork?: string): ModelBlock
  vaultAt(address: string, block: ModelBlock): ModelFigures | undefined
  /** Rounds of a feed's phases that are there at a block; by address. */
  roundsAt(feed: string, block: ModelBlock): { decimals: number; rounds: ReadonlyMap<bigint, Round>; latest: bigint }
  phases: Map<string, Map<number, { aggregator: string; latest: bigint }>>
  /** Most reads in a call; no overrides; the lowest block with state. */
  limits: { reads: number; overrides: boolean; stateFrom: number }
  calls: { eth_call: number; refused: number; blocks: number }
  chain: Chain
}

const parameters = [
  {
    type: 'tuple[]',
    components: [
      { type: 'address', name: 'target' },
      { type: 'bytes', name: 'data' },
    ],
  },
] as const
const results = [
  { type: 'uint256' },
  { type: 'uint256' },
  { type: 'tuple[]', components: [{ type: 'bool' }, { type: 'bytes' }] },
] as const

export function createSnapshotChain(options: { chainId?: number; confirmations?: number } = {}): SnapshotChain {
  const { chainId = 31_337, confirmations = 1 } = options
  const model: SnapshotChain = {
    blocks: [],
    mine: (timestamp, fork = '') => {
      const number = model.blocks.length
      const hash = keccak256(toHex(`${number}:${timestamp}:${fork}`))
      const block = { number, hash, parentHash: model.blocks.at(-1)?.hash ?? `0x${'00'.repeat(32)}`, timestamp }
      model.blocks.push(block)
      return block
    },
    vaultAt: () => undefined,
    roundsAt: () => ({ decimals: 8, rounds: new Map(), latest: 0n }),
    phases: new Map(),
    limits: { reads: Number.POSITIVE_INFINITY, overrides: true, stateFrom: 0 },
    calls: { eth_call: 0, refused: 0, blocks: 0 },
    chain: {
      ...{ chainId, name: 'Model', nativeSymbol: 'ETH', rpcUrls: [], headUrls: [], confirmations, finalityDepth: 64 },
      ...{ pollIntervalMs: 1_000, reorgRecheckSeconds: 0, entryPoints: [] },
      rpc: rpcOf(async (request) => answer(model, request)),
    },
  }
  return model
}

/** A context to run jobs of this chain in. */
export function snapshotContext(model: SnapshotChain, db: Database) {
  return {
    db,
    log: silentLog,
    clock: { ...systemClock, now: () => new Date((model.blocks.at(-1)?.timestamp ?? 0) * 1_000) },
    config: {} as never,
    chains: new Map([[model.chain.chainId, model.chain]]),
  }
}

function answer(model: SnapshotChain, { method, params }: RpcRequest): unknown {
  const [first, second, overrides] = params as [unknown, unknown, Record<string, { code: Hex }> | undefined]
  if (method === 'eth_getBlockByNumber') {
    model.calls.blocks += 1
    const block = first === 'latest' ? model.blocks.at(-1) : model.blocks[Number(first)]
    return block && { ...block, number: toHex(block.number), timestamp: toHex(block.timestamp), logsBloom: '0x' }
  }
  if (method !== 'eth_call') throw new RpcError(-32601, `${method} is not known`, undefined)
  model.calls.eth_call += 1
  try {
    return call(model, first as { data: Hex }, second as 'latest' | { blockHash: string }, overrides)
  } catch (error) {
    model.calls.refused += 1
    throw error
  }
}

function call(
  model: SnapshotChain,
  { data }: { data: Hex },
  at: 'latest' | { blockHash: string },
  overrides: Record<string, { code: Hex }> | undefined,
): Hex {
  const { limits } = model
  if (overrides && !limits.overrides) throw new RpcError(-32602, 'too many arguments', undefined)
  const code = overrides ? (Object.values(overrides)[0]?.code ?? '0x') : data
  if (!overrides && code.length / 2 > 49_152) throw new RpcError(-32000, 'max initcode size exceeded', undefined)
  const [reads] = decodeAbiParameters(parameters, `0x${code.slice(readerBytecode.length)}`)
  if (reads.length > limits.reads) throw new RpcError(-32000, 'out of gas', undefined)
  const block = at === 'latest' ? model.blocks.at(-1) : model.blocks.find(({ hash }) => hash === at.blockHash)
  if (!block) throw new RpcError(-32000, 'header not found', undefined)
  if (block.number < limits.stateFrom) throw new RpcError(-32000, 'missing trie node', undefined)
  const answered = reads.map(({ target, data }): [boolean, Hex] => {
    const result = answerRead(model, target.toLowerCase(), data, block)
    return [result !== undefined, result ?? '0x']
  })
  return encodeAbiParameters(results, [BigInt(block.number), BigInt(block.timestamp), answered])
}

function answerRead(model: SnapshotChain, target: string, data: Hex, block: ModelBlock): Hex | undefined {
  const abi = [...erc4626Abi, ...feedAbi.filter(({ name }) => name !== 'decimals')] as const
  // Its balance, and the length of its code.
  if (data === '0x') return encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [0n, 1n])
  if (data === '0x313ce567') return encodeAbiParameters([{ type: 'uint8' }], [model.roundsAt(target, block).decimals])
  if (!abi.some((item) => item.type === 'function' && toFunctionSelector(item) === data.slice(0, 10))) return undefined
  const { functionName, args } = decodeFunctionData({ abi, data })
  const word = (value: bigint | undefined) =>
    value === undefined ? undefined : encodeAbiParameters([{ type: 'uint256' }], [value])
  const figures = model.vaultAt(target, block)
  switch (functionName) {
    case 'totalAssets':
      return word(figures?.totalAssets)
    case 'totalSupply':
      return word(figures?.totalSupply)
    case 'convertToAssets':
      return word(figures?.perShare(args[0]))
    case 'latestRoundData':
    case 'getRoundData': {
      const { rounds, latest } = model.roundsAt(target, block)
      const round = rounds.get(functionName === 'getRoundData' ? args[0] : latest)
      return round && encodeFunctionResult({ abi: feedAbi, functionName, result: round })
    }
    case 'phaseAggregators': {
      const phase = model.phases.get(target)?.get(args[0])
      return phase && encodeAbiParameters([{ type: 'address' }], [phase.aggregator as Hex])
    }
    case 'latestRound': {
      for (const phases of model.phases.values())
        for (const phase of phases.values()) if (phase.aggregator === target) return word(phase.latest)
      return undefined
    }
    default:
      return undefined
  }
}
