import { createHash } from 'node:crypto'
import { toDeltas, toOpportunity } from '../item.js'
import type { OpportunityRecord } from '../opportunityRecord.js'
import { type Columns, columnsOf, type Made, makePushed } from './columns.js'
import { filterColumns } from './filter.js'
import type { CatalogueBase, CatalogueSnapshot } from './snapshot.js'
import { isLiveSort, type SortBy, type SortOrder, sortPositions } from './sort.js'
import { mapInSteps, runAtOnce, type Steps } from './timeSlicing.js'

/** The listed opportunities of one snapshot, by position, with every order asked for so far. */
export type CatalogueView = {
  readonly listed: readonly OpportunityRecord[]
  readonly columns: Columns
  readonly pushed: Made
  /** Positions in the order asked for. */
  order(by: SortBy, order: SortOrder): Uint32Array
}

/** An opportunity as JSON, the same after a comma, and a digest that is the same only for the same bytes. */
export type Serialised = { bytes: Uint8Array; following: Uint8Array; digest: Uint8Array }

const views = new WeakMap<CatalogueSnapshot, CatalogueView>()
/** Orders that pushed figures do not change. */
const baseOrders = new WeakMap<CatalogueBase, Map<string, Uint32Array>>()

/** The view of a snapshot; made at the first call and kept as long as the snapshot. */
export function viewOf(snapshot: CatalogueSnapshot): CatalogueView {
  return views.get(snapshot) ?? runAtOnce(makeView(snapshot))
}

/** Does in steps what the first requests to a snapshot would otherwise wait for. */
export function* prepareView(snapshot: CatalogueSnapshot): Steps<undefined> {
  const view = yield* makeView(snapshot)
  view.order('tvl', 'desc')
  yield* mapInSteps(view.listed, (record) => serialise(record, false))
}

function* makeView(snapshot: CatalogueSnapshot): Steps<CatalogueView> {
  const listed = snapshot.base.listedIds.flatMap((id) => snapshot.opportunities.get(id) ?? [])
  const columns = yield* columnsOf(snapshot, listed, filterColumns)
  const view = buildView(snapshot, listed, columns, yield* makePushed(listed, filterColumns))
  views.set(snapshot, view)
  return view
}

function buildView(
  snapshot: CatalogueSnapshot,
  listed: readonly OpportunityRecord[],
  columns: Columns,
  pushed: Made,
): CatalogueView {
  const liveOrders = new Map<string, Uint32Array>()
  const fixedOrders = baseOrders.get(snapshot.base) ?? new Map<string, Uint32Array>()
  baseOrders.set(snapshot.base, fixedOrders)
  return {
    listed,
    columns,
    pushed,
    order: (by, order) => {
      const orders = isLiveSort(by) ? liveOrders : fixedOrders
      const name = `${by} ${order}`
      const known = orders.get(name)
      if (known) return known
      const sorted = sortPositions(listed, by, order)
      orders.set(name, sorted)
      return sorted
    },
  }
}

const plain = new WeakMap<OpportunityRecord, Serialised>()
const withDeltas = new WeakMap<OpportunityRecord, Serialised>()

/** The opportunity as served; written once, and again only when something about it changes. */
export function serialise(record: OpportunityRecord, includeDeltas: boolean): Serialised {
  const kept = includeDeltas ? withDeltas : plain
  const known = kept.get(record)
  if (known) return known
  const item = toOpportunity(record)
  const following = Buffer.from(
    `,${JSON.stringify(includeDeltas ? { ...item, deltas: toDeltas(record.deltas) } : item)}`,
  )
  const bytes = following.subarray(1)
  const serialised = { bytes, following, digest: createHash('sha256').update(bytes).digest() }
  kept.set(record, serialised)
  return serialised
}
