import { createHash } from 'node:crypto'
import { mapInSteps, runAtOnce, type Steps } from '../../../kernel/async/inSlices.js'
import { toDeltas, toOpportunity } from '../item.js'
import type { OpportunityRecord } from '../opportunityRecord.js'
import { type Columns, columnsOf, type Made, makePushed } from './columns.js'
import { filterColumns } from './filter.js'
import type { CatalogueBase, CatalogueSnapshot } from './snapshot.js'
import { isLiveSort, type SortBy, type SortOrder, sortPositions } from './sort.js'

/** The listed opportunities of one snapshot, by position, with every order asked for so far. */
export type CatalogueView = {
  readonly listed: readonly OpportunityRecord[]
  readonly columns: Columns
  readonly pushed: Made
  /** Positions in the order asked for. */
  order(by: SortBy, order: SortOrder): Uint32Array
  /** The orders asked for so far. */
  listOrders(): readonly Ordered[]
}

type Ordered = { readonly by: SortBy; readonly order: SortOrder; readonly positions: Uint32Array }

/** An opportunity as JSON, the same after a comma, and a digest that is the same only for the same bytes. */
export type Serialised = { bytes: Uint8Array; following: Uint8Array; digest: Uint8Array }

/** By the content of the snapshot. */
const views = new WeakMap<object, CatalogueView>()
/** Orders that pushed figures do not change. */
const baseOrders = new WeakMap<CatalogueBase, Map<string, Ordered>>()

/** The view of a snapshot; made at the first call and kept as long as the snapshot. */
export function viewOf(snapshot: CatalogueSnapshot): CatalogueView {
  return views.get(snapshot.content) ?? runAtOnce(makeView(snapshot))
}

/**
 * Does in steps what the first requests to a snapshot would otherwise wait for; the orders are those asked of the
 * `previous` one.
 */
export function* prepareView(snapshot: CatalogueSnapshot, previous?: CatalogueSnapshot): Steps<undefined> {
  if (views.has(snapshot.content)) return
  const view = yield* makeView(snapshot, previous && views.get(previous.content)?.listOrders())
  view.order('tvl', 'desc')
  yield* mapInSteps(view.listed, (record) => serialise(record, false))
}

function* makeView(snapshot: CatalogueSnapshot, before: readonly Ordered[] = []): Steps<CatalogueView> {
  const listed = snapshot.base.listedIds.flatMap((id) => snapshot.opportunities.get(id) ?? [])
  const columns = yield* columnsOf(snapshot, listed, filterColumns)
  const pushed = yield* makePushed(listed, filterColumns)
  const fixedOrders = baseOrders.get(snapshot.base) ?? new Map<string, Ordered>()
  const liveOrders = new Map<string, Ordered>()
  const ordersLike = (by: SortBy) => (isLiveSort(by) ? liveOrders : fixedOrders)
  const find = (by: SortBy, order: SortOrder) => ordersLike(by).get(`${by} ${order}`)?.positions
  const keep = (ordered: Ordered): Uint32Array => {
    ordersLike(ordered.by).set(`${ordered.by} ${ordered.order}`, ordered)
    return ordered.positions
  }
  for (const { by, order } of before) {
    if (!find(by, order)) keep({ by, order, positions: sortPositions(listed, by, order) })
    yield
  }
  const view: CatalogueView = {
    ...{ listed, columns, pushed },
    order: (by, order) => find(by, order) ?? keep({ by, order, positions: sortPositions(listed, by, order) }),
    listOrders: () => [...fixedOrders.values(), ...liveOrders.values()],
  }
  baseOrders.set(snapshot.base, fixedOrders)
  views.set(snapshot.content, view)
  return view
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
