import { streamAbi, streamFactoryAbi } from '@openearn/contracts'
import { type Abi, type Address, decodeEventLog, erc20Abi, type Hex, toEventSelector } from 'viem'
import { uuidToBytes16 } from '../../../kernel/ids.js'
import type { Context } from '../../../postgres/context.js'
import type { Database } from '../../../postgres/pool.js'
import { transferTopic } from '../../../rpc/abis.js'
import { findBlockAt } from '../../../rpc/blockAt.js'
import { readHead } from '../../../rpc/blocks.js'
import type { Chain, Chains } from '../../../rpc/chains.js'
import { combine, multicall, readContract } from '../../../rpc/multicall.js'
import { createNode, type Node } from '../../../rpc/node.js'
import type { Header, RawLog } from '../../../rpc/raw.js'
import { findStreamTarget } from '../../../snapshots/index.js'
import { readInRanges } from '../../../sync/ranges.js'
import { listNonHolders } from '../../../vaults/configured/index.js'
import { hasHolders, readLotSteps } from '../../positions/index.js'
import { createWeigher } from '../adapters.js'
import { findHoldingsStart } from '../guard.js'
import { findTerms, readInputs } from '../snapshotInputs.js'
import { findSnapshotOf } from '../storeSnapshots.js'
import { findStream } from '../storeStreams.js'
import type { BalanceStep } from '../types.js'
import {
  type ChangedFact,
  type FileReward,
  listChangedFacts,
  type RewardInputs,
  type RewardResult,
  recomputeRewards,
} from './rewardFile.js'
import type { FoundRewards, FoundSnapshot, FoundStream, RewardFile } from './rewardProof.js'

/** The result for a reward file's snapshot by today's tables, and which facts are not those of the file. */
export type TodaysRewards = RewardResult & { changed: readonly ChangedFact[] }

/** Counts a snapshot again from what is derived of the chain today. Undefined where the snapshot is not kept. */
export async function recomputeFromTables(
  db: Database,
  { hash, inputs }: { hash: string; inputs: RewardInputs },
): Promise<TodaysRewards | undefined> {
  const { terms, to, origin } = inputs
  const [stream, found] = await Promise.all([findStream(db, terms.streamId), findSnapshotOf(db, hash)])
  const target = stream && (await findStreamTarget(db, stream.targetVaultId))
  if (!target || !found) return undefined
  const { previous } = found
  const todays = await readInputs(db, {
    ...{ stream, target, previous, to, block: origin.block },
    terms: await findTerms(db, stream, terms.rewardDecimals),
  })
  return { ...recomputeRewards(todays), changed: listChangedFacts(inputs, todays) }
}

/** The context of a proof: no database. */
type ProofContext = Pick<Context, 'clock' | 'log'> & { chains: Chains }

/** A span of blocks: holdings at the end of `from` (instant `at`), and changes up to `to`. */
type Span = { at: number; from: number; to: number; excluded: ReadonlySet<string> }

/**
 * Reads from nodes the facts behind the reward files of one stream, in the order of their instants: holdings from the token's
 * transfers, lots from the inputs of transactions, budget and roots from the events of the contract that pays. Undefined
 * without a node of the target's chain. Throws a 503 if a node does not respond.
 */
export async function readRewards(ctx: ProofContext, files: readonly RewardFile[]): Promise<FoundRewards | undefined> {
  const target = files[0]?.inputs.origin.target
  const chain = target && ctx.chains.get(target.chainId)
  if (!chain) return undefined
  const head = await readHead(chain)
  const node = createNode(chain.rpc)
  const blocks: (Header | undefined)[] = []
  const spans: Span[] = []
  for (const { inputs } of files) {
    const { terms, from, to, origin, facts } = inputs
    const at = findHoldingsStart(terms.strategy.type === 3 ? [] : facts.sharePrices, from?.own.at ?? terms.startAt)
    const block = head.timestamp > to ? await findBlockAt(chain, head, to) : undefined
    blocks.push(block)
    const excluded = listNonHolders(origin.target.own)
    const begin = head.timestamp > at ? await findBlockAt(chain, head, at) : head
    spans.push({ at, from: begin?.number ?? -1, to: block?.number ?? head.number, excluded })
  }
  const balances = await readBalances(node, target.token, spans)
  const snapshots: FoundSnapshot[] = []
  for (const [index, { inputs }] of files.entries()) {
    const [block, span] = [blocks[index], spans[index]]
    const read = span && (await readLots(ctx, { chain, inputs, span }))
    snapshots.push({ block, balances: read?.balances ?? balances[index] ?? [], lots: read?.lots })
  }
  const own = [...new Set(files.flatMap(({ inputs }) => inputs.origin.target.own))]
  const { terms, origin } = files[0]?.inputs ?? {}
  const stream = terms && origin && (await readStream(ctx.chains, origin.reward, terms))
  return { snapshots, codeless: await readCodeless(node, own, head), stream }
}

/** Lots, and with holders that are looked through the balances too, which Transfers alone do not tell. */
async function readLots(
  ctx: ProofContext,
  { chain, inputs, span }: { chain: Chain; inputs: RewardInputs; span: Span },
): Promise<{ lots: FoundSnapshot['lots']; balances: BalanceStep[] | undefined } | undefined> {
  const { terms, origin, configuration } = inputs
  const distributorIds = [...createWeigher(terms.adapters).distributors]
  const isThrough = configuration !== undefined && hasHolders(configuration, origin.target.address)
  if (!configuration || (distributorIds.length === 0 && !isThrough)) return undefined
  const ask = { ...span, vault: origin.target.address, distributorIds }
  const { steps, shares, untraced } = await readLotSteps({ ...ctx, chain }, configuration, ask)
  const isLp = ({ wallet }: { wallet: string }) => !span.excluded.has(wallet)
  return {
    lots: distributorIds.length === 0 ? undefined : { steps: steps.filter(isLp), untraced },
    balances: isThrough ? shares.filter(isLp) : undefined,
  }
}

async function readCodeless(node: Node, own: readonly string[], { hash }: Header): Promise<Set<string>> {
  const have = (await node.haveCode?.(own.map((wallet) => ({ wallet, blockHash: hash })))) ?? []
  return new Set(own.filter((_, index) => have[index] === false))
}

/**
 * Shares of every holder of a token at the beginning of each span and each of their changes in it, out of its transfers, which
 * are read once. Spans are in the order of their blocks.
 */
async function readBalances(node: Node, token: string, spans: readonly Span[]): Promise<BalanceStep[][]> {
  const held = new Map<string, bigint>()
  const found = spans.map((): BalanceStep[] => [])
  let next = 0
  /** Starts all spans that begin before a block with the present holdings. */
  const startBefore = (block: number) => {
    for (let span = spans[next]; span && span.from < block; span = spans[++next])
      for (const [wallet, shares] of held)
        if (shares > 0n && !span.excluded.has(wallet)) found[next]?.push({ at: span.at, wallet, shares })
  }
  const last = Math.max(...spans.map(({ to }) => to))
  for await (const logs of listLogs(node, { addresses: [token], topics: [transferTopic] }, last)) {
    const times = await readTimes(node, logs, spans[0]?.from ?? -1)
    for (const { blockNumber, topics, data } of logs) {
      startBefore(blockNumber)
      const [, sender, receiver] = topics
      for (const [topic, amount] of [[sender, -BigInt(data)] as const, [receiver, BigInt(data)] as const]) {
        const wallet = `0x${topic?.slice(26) ?? ''}`
        const shares = (held.get(wallet) ?? 0n) + amount
        held.set(wallet, shares)
        const at = times.get(blockNumber)
        for (const [index, span] of spans.entries())
          if (at !== undefined && blockNumber > span.from && blockNumber <= span.to && !span.excluded.has(wallet))
            found[index]?.push({ at, wallet, shares })
      }
    }
  }
  startBefore(Number.POSITIVE_INFINITY)
  return found
}

/** The times of the blocks of logs, above one. */
async function readTimes(node: Node, logs: readonly RawLog[], above: number): Promise<ReadonlyMap<number, number>> {
  const numbers = [...new Set(logs.map(({ blockNumber }) => blockNumber))].filter((number) => number > above)
  const headers = numbers.length === 0 ? [] : await node.listHeaders(numbers)
  return new Map(headers.map(({ number, timestamp }) => [number, timestamp]))
}

/** All logs of some contracts up to a block, in their order. */
async function* listLogs(
  node: Node,
  filter: { addresses: readonly string[]; topics: readonly string[] },
  last: number,
): AsyncGenerator<RawLog[]> {
  const read = async ({ from, to }: { from: number; to: number }) =>
    (await node.listRange({ ...filter, fromBlock: from, toBlock: to })).logs
  for await (const logs of readInRanges({ from: 0, to: last }, read))
    yield logs.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

const topicsOf = (abi: Abi, names: readonly string[]): string[] =>
  abi.flatMap((item) => (item.type === 'event' && names.includes(item.name) ? [toEventSelector(item)] : []))
const factoryTopics = topicsOf(streamFactoryAbi, ['StreamCreated', 'FundsAdded'])
const rootTopics = topicsOf(streamAbi, ['RootUpdated'])

/** Reads the contract that pays a stream from a node; undefined for points, and without a node of its chain. */
async function readStream(
  chains: Chains,
  reward: FileReward,
  { streamId, budget }: RewardInputs['terms'],
): Promise<FoundStream | undefined> {
  const chain = 'pointId' in reward ? undefined : chains.get(reward.chainId)
  if (!chain || 'pointId' in reward) return undefined
  const [factory, contract] = [reward.factory, reward.contract] as Address[] as [Address, Address]
  const id = uuidToBytes16(streamId)
  const node = createNode(chain.rpc)
  const { answer } = await multicall(
    chain,
    combine({
      factory: readContract(contract, streamAbi, 'getFactory', []),
      decimals: readContract(reward.address as Address, erc20Abi, 'decimals', []),
    }),
  )
  const found: FoundStream = {
    ...{ creation: undefined, increases: [], roots: [] },
    ...{ factory: answer.factory?.toLowerCase(), rewardDecimals: answer.decimals },
  }
  const [increases, roots] = [[...found.increases], [...found.roots]]
  let total = budget ?? 0n
  const { number: last } = await readHead(chain)
  const filter = { addresses: [factory, contract], topics: [...factoryTopics, ...rootTopics] }
  for await (const logs of listLogs(node, filter, last)) {
    const own = logs.filter(({ address, topics }) => (address === factory ? topics[1]?.startsWith(id) : true))
    const times = await readTimes(node, own, -1)
    for (const log of own) {
      const event = log.address === factory ? decode(streamFactoryAbi, log) : decode(streamAbi, log)
      if (event?.eventName === 'StreamCreated') {
        const { stream, rewardToken, netTotalAmount: netAmount } = event.args
        found.creation = { contract: stream.toLowerCase(), rewardToken: rewardToken.toLowerCase(), netAmount }
      } else if (event?.eventName === 'FundsAdded') {
        total += event.args.netAmount
        increases.push({ at: times.get(log.blockNumber) ?? 0, total })
      } else if (event?.eventName === 'RootUpdated')
        roots.push({ at: event.args.timestamp, root: event.args.root, total: event.args.totalAllocated })
    }
  }
  return { ...found, increases, roots }
}

/** The event of a log, where it is one of these. */
function decode<const A extends Abi>(abi: A, { topics, data }: RawLog) {
  try {
    return decodeEventLog({ abi, topics: topics as [Hex, ...Hex[]], data: data as Hex, strict: true })
  } catch {
    return undefined
  }
}
