import type { OpportunityRecord } from '../opportunityRecord.js'
import { chainKey } from '../records.js'
import { type Bits, emptyBits, setBit } from './bits.js'
import type { CatalogueBase, CatalogueSnapshot } from './snapshot.js'
import { mapInSteps, type Steps } from './timeSlicing.js'

/** For every value of a dimension, the positions that have it. */
export type Index<K> = ReadonlyMap<K, Bits>

/** What filters look at, by position, and stays while only pushed figures change. */
export type Columns = {
  size: number
  depositChainIds: Index<number>
  /** By `chainKey`. */
  depositTokens: Index<string>
  /** By lower-cased symbol. */
  depositTokenSymbols: Index<string>
  tags: Index<string>
  curators: Index<string>
  /** Providers, and the lending protocols among them. */
  providers: Index<string>
  partners: Index<string>
  lendingProtocols: Index<string>
  featured: Bits
  directInteractionEnabled: Bits
  routedSwapEnabled: Bits
  asyncDeposit: Bits
  asyncWithdraw: Bits
  /** Percent. */
  estimatedApr: Float64Array
  /** Lower-cased name, description and token addresses, separated by NUL. */
  searchTexts: readonly string[]
  /** What distributors show. */
  distributors: Index<string>
}

/** What filters look at and jobs push. */
export type LiveColumns = {
  /** US dollars; 0 without a price. */
  tvl: Float64Array
  depositEnabled: Bits
  withdrawEnabled: Bits
}

const made = new WeakMap<CatalogueBase, Columns>()

/** The columns of a snapshot's base; made once. */
export function* columnsOf(snapshot: CatalogueSnapshot, listed: readonly OpportunityRecord[]): Steps<Columns> {
  const known = made.get(snapshot.base)
  if (known) return known
  const columns = yield* buildColumns(snapshot, listed)
  made.set(snapshot.base, columns)
  return columns
}

function* buildColumns(snapshot: CatalogueSnapshot, listed: readonly OpportunityRecord[]): Steps<Columns> {
  const index = <K>(read: (record: OpportunityRecord) => Iterable<K>) => buildIndex(listed, read)
  const bits = (test: (record: OpportunityRecord) => boolean) => buildBits(listed, test)
  const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id)
  const positions = new Map(listed.map(({ id }, position) => [id, position]))
  const shown = [...snapshot.distributorOpportunities].map(([distributorId, opportunityIds]) => {
    const set = emptyBits(listed.length)
    for (const id of opportunityIds) {
      const position = positions.get(id)
      if (position !== undefined) setBit(set, position)
    }
    return [distributorId, set] as const
  })
  return {
    size: listed.length,
    depositChainIds: yield* index((record) => record.depositTokens.map((token) => token.chainId)),
    depositTokens: yield* index((record) =>
      record.depositTokens.map((token) => chainKey(token.chainId, token.address)),
    ),
    depositTokenSymbols: yield* index((record) => record.depositTokens.map((token) => token.symbol.toLowerCase())),
    tags: yield* index((record) => record.tags.map((tag) => tag.code)),
    curators: yield* index((record) => (record.curatorId === null ? [] : [record.curatorId])),
    providers: yield* index((record) => ids([...record.providers, ...record.lendingProtocols])),
    partners: yield* index((record) => ids(record.partners)),
    lendingProtocols: yield* index((record) => ids(record.lendingProtocols)),
    featured: yield* bits((record) => record.featured),
    directInteractionEnabled: yield* bits((record) => record.directInteractionEnabled),
    routedSwapEnabled: yield* bits((record) => record.routedSwapEnabled),
    asyncDeposit: yield* bits((record) => record.asyncDeposit),
    asyncWithdraw: yield* bits((record) => record.asyncWithdraw),
    estimatedApr: Float64Array.from(yield* mapInSteps(listed, (record) => record.estimatedApr)),
    searchTexts: yield* mapInSteps(listed, searchTextOf),
    distributors: new Map(shown),
  }
}

export function* buildLiveColumns(listed: readonly OpportunityRecord[]): Steps<LiveColumns> {
  return {
    tvl: Float64Array.from(yield* mapInSteps(listed, (record) => Number(record.tvlUsd ?? 0))),
    depositEnabled: yield* buildBits(listed, (record) => record.capabilities.deposit.enabled),
    withdrawEnabled: yield* buildBits(listed, (record) => record.capabilities.withdraw.enabled),
  }
}

function searchTextOf({ name, description, depositTokens, baseToken, receiptToken }: OpportunityRecord): string {
  const addresses = new Set([...depositTokens, baseToken, receiptToken].map((token) => token.address))
  return [name, description, ...addresses].map((text) => text.toLowerCase()).join('\0')
}

function* buildBits(listed: readonly OpportunityRecord[], test: (record: OpportunityRecord) => boolean): Steps<Bits> {
  const bits = emptyBits(listed.length)
  yield* mapInSteps(listed, (record, position) => {
    if (test(record)) setBit(bits, position)
  })
  return bits
}

function* buildIndex<K>(
  listed: readonly OpportunityRecord[],
  read: (record: OpportunityRecord) => Iterable<K>,
): Steps<Index<K>> {
  const index = new Map<K, Bits>()
  yield* mapInSteps(listed, (record, position) => {
    for (const value of read(record)) {
      const bits = index.get(value) ?? emptyBits(listed.length)
      index.set(value, bits)
      setBit(bits, position)
    }
  })
  return index
}
