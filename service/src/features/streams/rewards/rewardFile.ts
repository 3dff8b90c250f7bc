import { createHash } from 'node:crypto'
import { type KeptConfiguration, parseConfiguration } from '../../positions/index.js'
import { computeSnapshot } from '../amounts.js'
import { buildTree } from '../tree.js'
import type {
  AccrualFacts,
  AccrualState,
  AccrualStates,
  Adapter,
  BalanceStep,
  PriceStep,
  SharePriceStep,
  StreamTerms,
} from '../types.js'

/** A value that canonical JSON says in one way: keys sorted, no spaces, whole numbers, exact amounts as text. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json | undefined }

/** The origin of a snapshot, in addition to its terms; all of it is in the reward file. */
export type FileOrigin = {
  target: {
    chainId: number
    address: string
    token: string
    asset: string
    assetDecimals: number
    own: readonly string[]
  }
  reward: FileReward
  block: { number: number; hash: string }
  /** SHA-256 of the file of the snapshot it goes on from; null: from the start of the stream. */
  previous: string | null
  /** Ids of the price observations, in the order of their use. */
  observations: readonly number[]
}

/** The token that is paid, the factory that made the stream and the contract that pays; or points, which no chain holds. */
export type FileReward = { chainId: number; address: string; factory: string; contract: string } | { pointId: string }

/** Everything a root follows from. */
export type RewardInputs = {
  terms: StreamTerms
  facts: AccrualFacts
  to: number
  from: AccrualStates | undefined
  origin: FileOrigin
  /** By what who sourced which shares was derived; only where an adapter asks who did. */
  configuration?: KeptConfiguration | undefined
}

export type RewardResult = { root: string | null; total: bigint; leaves: { wallet: string; cumulative: bigint }[] }

/** Recomputes what everybody has earned, and its root, from what a file holds. Pure. */
export function recomputeRewards({ terms, facts, to, from }: RewardInputs): RewardResult {
  return toResult(computeSnapshot(terms, facts, to, from).amounts.wallets)
}

/** The leaves of a tree and its root: everybody that has earned a whole unit. */
export function toResult(wallets: readonly { wallet: string; rewards: bigint }[]): RewardResult {
  const leaves = wallets.filter(({ rewards }) => rewards > 0n)
  const named = leaves.map(({ wallet, rewards }) => ({ wallet, cumulative: rewards }))
  const total = named.reduce((sum, { cumulative }) => sum + cumulative, 0n)
  return { root: buildTree(named)?.root ?? null, total, leaves: named }
}

/** The bytes of a reward file and the hash that names it. */
export function encodeRewardFile(inputs: RewardInputs, result: RewardResult): { text: string; hash: string } {
  const { terms, facts, to, from, origin, configuration } = inputs
  const text = formatCanonical({
    version,
    ...(configuration ? { configuration: toJson(configuration) } : {}),
    ...{ origin: origin as unknown as Json, terms: toJson(terms), to },
    from: from ? statesToJson(from) : null,
    balances: facts.balances.map(({ at, wallet, shares }) => [at, wallet, shares.toString()]),
    lots: facts.lots.map(({ at, wallet, distributorId, shares }) => [at, wallet, distributorId, shares.toString()]),
    sharePrices: facts.sharePrices.map(sharePriceToJson),
    rewardPrices: facts.rewardPrices.map(priceToJson),
    result: {
      root: result.root,
      total: result.total.toString(),
      wallets: result.leaves.map(({ wallet, cumulative }) => [wallet, cumulative.toString()]),
    },
  })
  return { text, hash: hashFile(text) }
}

export const hashFile = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`

/** A hash of how far a stream has accrued. */
export const hashStates = (states: AccrualStates): string => hashFile(formatCanonical(statesToJson(states)))

/**
 * A hash of what was agreed of a stream: by which contract of which factory it pays what to the holders of which token. The
 * increases of its budget are no part of it, nor what a chain tells of them.
 */
export function hashTerms({ terms, origin }: Pick<RewardInputs, 'terms' | 'origin'>): string {
  const { increases: _, ...agreed } = terms
  const { chainId, address, token, asset } = origin.target
  const target = { chainId, address, token, asset }
  return hashFile(formatCanonical({ terms: toJson(agreed), reward: toJson(origin.reward), target }))
}

/** A hash of what was held, and of the lots of it. */
export function hashHoldings({ balances, lots }: Pick<AccrualFacts, 'balances' | 'lots'>): string {
  const hash = createHash('sha256')
  for (const { at, wallet, shares } of balances) hash.update(`${at} ${wallet} ${shares}\n`)
  for (const { at, wallet, distributorId, shares } of lots) hash.update(`${at} ${wallet} ${distributorId} ${shares}\n`)
  return `0x${hash.digest('hex')}`
}

/** A fact that a root follows from, in the words of a report. */
export type ChangedFact = 'balances' | 'lots' | 'share prices' | 'reward prices' | 'earnings before' | 'terms'

/** The facts of one count that are not those of another, of the same stream and instant. */
export function listChangedFacts(one: RewardInputs, other: RewardInputs): ChangedFact[] {
  // Files that were written before rows had an order list those of one instant in any. The steps of a wallet keep theirs.
  const inOrder = <Row extends BalanceStep>(rows: readonly Row[], nameOf: (row: Row) => string): Row[] => {
    const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
    return rows.toSorted((a, b) => a.at - b.at || compare(nameOf(a), nameOf(b)))
  }
  const tell = ({ facts, from, terms, to }: RewardInputs): Record<ChangedFact, string> => ({
    balances: hashHoldings({ balances: inOrder(facts.balances, ({ wallet }) => wallet), lots: [] }),
    lots: hashHoldings({
      balances: [],
      lots: inOrder(facts.lots, ({ wallet, distributorId }) => `${wallet} ${distributorId}`),
    }),
    'share prices': formatCanonical(facts.sharePrices.map(sharePriceToJson)),
    'reward prices': formatCanonical(facts.rewardPrices.map(priceToJson)),
    'earnings before': from ? hashStates(from) : '',
    // An increase after the instant is no fact of it.
    terms: formatCanonical(toJson({ ...terms, increases: terms.increases.filter(({ at }) => at <= to) })),
  })
  const [first, second] = [tell(one), tell(other)]
  return (Object.keys(first) as ChangedFact[]).filter((fact) => first[fact] !== second[fact])
}

/** Files of version 1 name no contract whose roots and budget they could be held against; those of 2 no fact of a share price. */
const version = 3
const versions: readonly unknown[] = [2, version]

/** Canonical JSON: members in the order of their names, no spaces. */
export function formatCanonical(value: Json): string {
  if (value === null || typeof value !== 'object' || isFlat(value)) return JSON.stringify(value)
  if (isList(value)) return `[${value.map(formatCanonical).join()}]`
  const members = Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[name, each] as const]))
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${formatCanonical(each)}`)
    .join()}}`
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

/** Whether no member has a name: then there is one way to say it. Millions of rows are such lists, and soon written. */
const isFlat = (value: Json): boolean =>
  value === null || typeof value !== 'object' || (isList(value) && value.every(isFlat))

/** A reward file that is malformed or contradicts itself. */
export class RewardFileError extends Error {
  override readonly name = 'RewardFileError'
}

/** The inputs and the result a file holds. Throws where it is not of this form. */
export function decodeRewardFile(text: string): { inputs: RewardInputs; result: RewardResult } {
  try {
    const file = JSON.parse(text)
    assertVersion(file.version)
    if (formatCanonical(file) !== text) throw new RewardFileError('the file is not canonical JSON')
    const { terms, result } = file
    const configuration = parseConfiguration(file.configuration)
    if (file.configuration !== undefined && !configuration) throw new RewardFileError('the configuration is malformed')
    return {
      inputs: {
        ...{ to: wholeOf(file.to), origin: originOf(file.origin), ...(configuration ? { configuration } : {}) },
        terms: {
          ...{ streamId: textOf(terms.streamId), startAt: wholeOf(terms.startAt) },
          strategy: strategyOf(terms.strategy),
          adapters: terms.adapters.map(adapterOf),
          endAt: terms.endAt === null ? null : wholeOf(terms.endAt),
          budget: terms.budget === null ? null : BigInt(textOf(terms.budget)),
          increases: terms.increases.map((each: { at: number; total: string }) => ({
            at: wholeOf(each.at),
            total: BigInt(textOf(each.total)),
          })),
          rewardDecimals: wholeOf(terms.rewardDecimals),
        },
        from: file.from === null ? undefined : { own: stateOf(file.from.own), base: stateOf(file.from.base) },
        facts: {
          balances: file.balances.map(([at, wallet, shares]: [number, string, string]) => ({
            ...{ at: wholeOf(at), wallet: textOf(wallet), shares: BigInt(textOf(shares)) },
          })),
          lots: file.lots.map(([at, wallet, distributorId, shares]: [number, string, string, string]) => ({
            ...{ at: wholeOf(at), wallet: textOf(wallet), distributorId: textOf(distributorId) },
            shares: BigInt(textOf(shares)),
          })),
          sharePrices: file.sharePrices.map(sharePriceOf),
          rewardPrices: file.rewardPrices.map(priceOf),
        },
      },
      result: {
        root: result.root === null ? null : textOf(result.root),
        total: BigInt(textOf(result.total)),
        leaves: result.wallets.map(([wallet, cumulative]: [string, string]) => ({
          ...{ wallet: textOf(wallet), cumulative: BigInt(textOf(cumulative)) },
        })),
      },
    }
  } catch (error) {
    if (error instanceof RewardFileError) throw error
    throw new RewardFileError('this is no reward file', { cause: error })
  }
}

function assertVersion(found: unknown): void {
  if (versions.includes(found)) return
  const one = 'it names no contract to be held against, and was written before files of version 2'
  throw new RewardFileError(
    found === 1
      ? `a reward file of version 1 is not read any more: ${one}`
      : `version ${typeof found === 'number' ? found : 'unknown'} of reward files is not known here`,
  )
}

function originOf({ target, reward, block, previous, observations }: FileOrigin): FileOrigin {
  const { chainId, address, token, asset, assetDecimals, own } = target
  return {
    target: {
      ...{ chainId: wholeOf(chainId), address: textOf(address), token: textOf(token), asset: textOf(asset) },
      ...{ assetDecimals: wholeOf(assetDecimals), own: own.map(textOf) },
    },
    reward:
      'pointId' in reward
        ? { pointId: textOf(reward.pointId) }
        : {
            ...{ chainId: wholeOf(reward.chainId), address: textOf(reward.address) },
            ...{ factory: textOf(reward.factory), contract: textOf(reward.contract) },
          },
    block: { number: wholeOf(block.number), hash: textOf(block.hash) },
    previous: previous === null ? null : textOf(previous),
    observations: observations.map(wholeOf),
  }
}

/** Amounts as text; absent members are left out. */
function toJson(value: unknown): Json {
  return JSON.parse(
    JSON.stringify(value, (_name, each: unknown) => (typeof each === 'bigint' ? each.toString() : each)),
  )
}

const statesToJson = ({ own, base }: AccrualStates): Json => ({ own: stateToJson(own), base: stateToJson(base) })

function stateToJson({ accrued, distributed, ...state }: AccrualState): Json {
  const wallets = [...accrued].sort(([a], [b]) => (a < b ? -1 : 1))
  return { ...state, distributed: `${distributed}`, accrued: wallets.map(([wallet, each]) => [wallet, `${each}`]) }
}

const priceToJson = ({ at, usd }: PriceStep) => [at, usd.numerator.toString(), usd.denominator.toString()] as const

/** A price with the fact that set it, and since when the least counts that was held; a plain token has neither. */
function sharePriceToJson({ by, leastSince, ...step }: SharePriceStep): Json {
  const price = priceToJson(step)
  if (!by) return price
  const { kind, blockNumber, blockHash } = by
  const event = kind === 'sale' ? [by.transactionHash, by.logIndex] : []
  return [...price, leastSince ?? null, kind, blockNumber, blockHash, ...event]
}

function priceOf([at, numerator, denominator]: [number, string, string]) {
  return { at: wholeOf(at), usd: { numerator: BigInt(textOf(numerator)), denominator: BigInt(textOf(denominator)) } }
}

function sharePriceOf(row: readonly unknown[]): SharePriceStep {
  const [at, numerator, denominator, leastSince, kind, blockNumber, blockHash, transactionHash, logIndex] = row
  const step = priceOf([wholeOf(at), textOf(numerator), textOf(denominator)])
  if (row.length === 3) return step
  const block = { blockNumber: wholeOf(blockNumber), blockHash: textOf(blockHash) }
  const least = leastSince === null ? {} : { leastSince: wholeOf(leastSince) }
  if (kind === 'sale')
    return {
      ...step,
      ...least,
      by: { kind, ...block, transactionHash: textOf(transactionHash), logIndex: wholeOf(logIndex) },
    }
  if (kind !== 'snapshot' && kind !== 'reading') throw new RewardFileError('the fact behind a share price is unknown')
  return { ...step, ...least, by: { kind, ...block } }
}

type StateJson = Omit<AccrualState, 'accrued' | 'distributed'> & { distributed: string; accrued: [string, string][] }

function stateOf(state: StateJson): AccrualState {
  return {
    ...{ at: wholeOf(state.at), distributed: BigInt(textOf(state.distributed)) },
    ...{ weighedSeconds: wholeOf(state.weighedSeconds), unpricedSeconds: wholeOf(state.unpricedSeconds) },
    exhaustedAt: state.exhaustedAt === null ? null : wholeOf(state.exhaustedAt),
    accrued: new Map(state.accrued.map(([wallet, each]) => [textOf(wallet), BigInt(textOf(each))])),
  }
}

function strategyOf(strategy: Record<string, unknown>): StreamTerms['strategy'] {
  if (strategy['type'] === 1) return { type: 1, tokensPerUsd: BigInt(textOf(strategy['tokensPerUsd'])) }
  if (strategy['type'] === 2) return { type: 2, aprE18: BigInt(textOf(strategy['aprE18'])) }
  if (strategy['type'] === 3) return { type: 3, tokensPerDay: BigInt(textOf(strategy['tokensPerDay'])) }
  throw new RewardFileError('the strategy of the stream is unknown')
}

function adapterOf(adapter: Adapter & { shares?: unknown }): Adapter {
  return adapter.type === 'min-balance' ? { type: 'min-balance', shares: BigInt(textOf(adapter.shares)) } : adapter
}

function wholeOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new RewardFileError('a whole number is missing')
  return value
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new RewardFileError('a text is missing')
  return value
}
