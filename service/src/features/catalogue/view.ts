import { toDeltas, toOpportunity } from './item.js'
import { chainKey } from './records.js'
import type { Deltas, Opportunity } from './schema.js'
import type { CatalogueSnapshot, OpportunityRecord } from './snapshot.js'
import { type SortBy, type SortOrder, sortListed } from './sort.js'

/** A listed opportunity, made ready for filters, sorts and the wire. */
export type Listed = {
  readonly id: string
  readonly record: OpportunityRecord
  readonly item: Opportunity
  readonly deltas: Deltas
  /** Lower-cased name, description and token addresses, separated by NUL. */
  readonly searchText: string
  readonly depositChainIds: ReadonlySet<number>
  /** `chainKey` of every deposit token. */
  readonly depositTokenKeys: ReadonlySet<string>
  /** Lower-cased. */
  readonly depositTokenSymbols: ReadonlySet<string>
  /** The item as JSON bytes; written once. */
  bytes(includeDeltas: boolean): Uint8Array
}

/** The listed opportunities of one snapshot, with every order asked for so far. */
export type CatalogueView = {
  readonly snapshot: CatalogueSnapshot
  readonly listed: readonly Listed[]
  readonly byId: ReadonlyMap<string, Listed>
  sorted(by: SortBy, order: SortOrder): readonly Listed[]
}

const views = new WeakMap<CatalogueSnapshot, CatalogueView>()
const made = new WeakMap<OpportunityRecord, Listed>()

/** The view of a snapshot; made at the first call and kept as long as the snapshot. */
export function viewOf(snapshot: CatalogueSnapshot): CatalogueView {
  const known = views.get(snapshot)
  if (known) return known
  const view = buildView(snapshot)
  views.set(snapshot, view)
  return view
}

function buildView(snapshot: CatalogueSnapshot): CatalogueView {
  const listed = [...snapshot.opportunities.values()].filter((record) => record.listed).map(listedOf)
  const orders = new Map<string, readonly Listed[]>()
  return {
    snapshot,
    listed,
    byId: new Map(listed.map((entry) => [entry.id, entry])),
    sorted: (by, order) => {
      const name = `${by} ${order}`
      const known = orders.get(name)
      if (known) return known
      const sorted = sortListed(listed, by, order)
      orders.set(name, sorted)
      return sorted
    },
  }
}

function listedOf(record: OpportunityRecord): Listed {
  const known = made.get(record)
  if (known) return known
  const entry = toListed(record)
  made.set(record, entry)
  return entry
}

/** Makes one record ready. */
export function toListed(record: OpportunityRecord): Listed {
  const item = toOpportunity(record)
  const deltas = toDeltas(record.deltas)
  const tokens = [...record.depositTokens, record.baseToken, record.receiptToken]
  const addresses = new Set(tokens.map((token) => token.address.toLowerCase()))
  let plain: Uint8Array | undefined
  let withDeltas: Uint8Array | undefined
  return {
    id: record.id,
    record,
    item,
    deltas,
    searchText: [item.name, item.description, ...addresses].map((text) => text.toLowerCase()).join('\0'),
    depositChainIds: new Set(record.depositTokens.map((token) => token.chainId)),
    depositTokenKeys: new Set(record.depositTokens.map((token) => chainKey(token.chainId, token.address))),
    depositTokenSymbols: new Set(record.depositTokens.map((token) => token.symbol.toLowerCase())),
    bytes: (includeDeltas) => {
      if (includeDeltas) {
        withDeltas ??= Buffer.from(JSON.stringify({ ...item, deltas }))
        return withDeltas
      }
      plain ??= Buffer.from(JSON.stringify(item))
      return plain
    },
  }
}
