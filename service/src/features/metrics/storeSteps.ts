import { bool, hex, int4, int8, numeric, seconds, text } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { copyRows, describeTable, insertRows, parseRows, type RowOf, rowSet, selectList } from '../../postgres/table.js'
import type { Above, Place } from '../../sync/projection.js'
import type { Crossing, MetricsRows } from './changes.js'

/** Seconds of a step. */
export const stepSeconds = 900

export const attributedStepsTable = describeTable('attributed_steps', {
  chainId: [int8],
  firstBlock: [int8],
  lastBlock: [int8],
  vaultId: [int4],
  step: [int4],
  distributorId: [text],
  shares: [numeric],
})

export const lpEdgesTable = describeTable('lp_edges', {
  chainId: [int8],
  blockNumber: [int8],
  timestamp: [seconds, 'block_timestamp'],
  vaultId: [int4],
  level: [int4],
  change: [int4],
  isFirst: [bool],
  distributorId: [text],
  wallet: [hex],
})

export const lpStepsTable = describeTable('lp_steps', {
  chainId: [int8],
  firstBlock: [int8],
  lastBlock: [int8],
  vaultId: [int4],
  step: [int4],
  active: [int4],
  participated: [int4],
  level: [int4],
  distributorId: [text],
})

type AttributedStep = Omit<RowOf<typeof attributedStepsTable>, 'chainId'>
type LpStep = Omit<RowOf<typeof lpStepsTable>, 'chainId'>
type LpEdge = Omit<RowOf<typeof lpEdgesTable>, 'chainId'>
type To = { chainId: number; place: Place; isLive: boolean }

const stepOf = ({ timestamp }: { timestamp: number }) => Math.floor(timestamp / stepSeconds)

/** Adds what blocks changed to what the last step of each sum and count says. Blocks come in order. */
export async function recordChanges(db: Queryable, rows: readonly MetricsRows[], to: To): Promise<void> {
  await recordMoves(db, rows, to)
  await recordEdges(db, await listEdges(db, rows, to), to)
}

async function recordMoves(db: Queryable, rows: readonly MetricsRows[], { chainId, place }: To): Promise<void> {
  const keyOf = ({ vaultId, distributorId }: { vaultId: number; distributorId: string }) =>
    `${vaultId}:${distributorId}`
  const touched = new Map(rows.flatMap(({ moves }) => moves).map((move) => [keyOf(move), move]))
  if (touched.size === 0) return
  const keys = rowSet(db, attributedStepsTable, ['vaultId', 'distributorId'], [...touched.values()])
  const known = await db<object[]>`
    select ${selectList(db, attributedStepsTable, { of: 's', without: ['chainId'] })} from ${keys} k
    cross join lateral (
      select * from ${db(place(attributedStepsTable).name)} r
      where r.distributor_id = k.distributor_id and r.vault_id = k.vault_id order by r.step desc limit 1) s`
  const last = new Map(
    (parseRows(attributedStepsTable, known) as AttributedStep[]).map((row) => [keyOf(row), row] as const),
  )
  const written = new Map<string, AttributedStep>()
  for (const { blockNumber, timestamp, moves } of rows) {
    const step = stepOf({ timestamp })
    for (const { vaultId, distributorId, delta } of moves) {
      const key = keyOf({ vaultId, distributorId })
      const before = last.get(key)
      const firstBlock = before?.step === step ? before.firstBlock : blockNumber
      const shares = (before?.shares ?? 0n) + delta
      const row = { vaultId, distributorId, step, firstBlock, lastBlock: blockNumber, shares }
      last.set(key, row)
      written.set(`${key}:${step}`, row)
    }
  }
  const conflict =
    '(distributor_id, vault_id, step) do update set shares = excluded.shares, last_block = excluded.last_block'
  await insertRows(db, place(attributedStepsTable), [...written.values()], { shared: { chainId }, conflict })
}

const edgeKey = ({ vaultId, distributorId, level, wallet }: Crossing | LpEdge) =>
  `${vaultId}:${distributorId}:${level}:${wallet}`

/** The crossings that count, each with whether the wallet never was an LP before. */
async function listEdges(db: Queryable, rows: readonly MetricsRows[], { place }: To): Promise<LpEdge[]> {
  const fields = ['vaultId', 'distributorId', 'level', 'wallet'] as const
  const reached = new Map<string, Crossing>()
  for (const { crossings } of rows)
    for (const crossing of crossings) if (crossing.change >= 0) reached.set(edgeKey(crossing), crossing)
  const known = new Set<string>()
  if (reached.size > 0) {
    const asked = rowSet(db, lpEdgesTable, fields, [...reached.values()])
    const found = await db<Crossing[]>`
      select k.vault_id as "vaultId", k.distributor_id as "distributorId", k.level, hex_text(k.wallet) as wallet
      from ${asked} k where exists (
        select from ${db(place(lpEdgesTable).name)} e where e.vault_id = k.vault_id
          and e.distributor_id = k.distributor_id and e.level = k.level and e.wallet = k.wallet)`
    for (const each of found) known.add(edgeKey(each))
  }
  const edges: LpEdge[] = []
  for (const { blockNumber, timestamp, crossings } of rows)
    for (const crossing of crossings) {
      const key = edgeKey(crossing)
      const isFirst = crossing.change >= 0 && !known.has(key)
      if (isFirst) known.add(key)
      if (crossing.change !== 0 || isFirst) edges.push({ ...crossing, blockNumber, timestamp, isFirst })
    }
  return edges
}

async function recordEdges(db: Queryable, edges: readonly LpEdge[], { chainId, place, isLive }: To): Promise<void> {
  if (edges.length === 0) return
  const shared = { chainId }
  if (isLive) await insertRows(db, place(lpEdgesTable), edges, { shared })
  else {
    const copy = await copyRows(db, place(lpEdgesTable), { shared })
    await copy.write(edges)
    await copy.end()
  }
  const keyOf = ({ vaultId, distributorId, level }: { vaultId: number; distributorId: string; level: number }) =>
    `${vaultId}:${distributorId}:${level}`
  const touched = new Map(edges.map((edge) => [keyOf(edge), edge]))
  const keys = rowSet(db, lpStepsTable, ['vaultId', 'distributorId', 'level'], [...touched.values()])
  const found = await db<object[]>`
    select ${selectList(db, lpStepsTable, { of: 's', without: ['chainId'] })} from ${keys} k
    cross join lateral (
      select * from ${db(place(lpStepsTable).name)} r where r.vault_id = k.vault_id
        and r.distributor_id = k.distributor_id and r.level = k.level order by r.step desc limit 1) s`
  const last = new Map((parseRows(lpStepsTable, found) as LpStep[]).map((row) => [keyOf(row), row] as const))
  const written = new Map<string, LpStep>()
  for (const { vaultId, distributorId, level, blockNumber, timestamp, change, isFirst } of edges) {
    const key = keyOf({ vaultId, distributorId, level })
    const step = stepOf({ timestamp })
    const before = last.get(key)
    const row = {
      ...{ vaultId, distributorId, level, step, lastBlock: blockNumber },
      firstBlock: before?.step === step ? before.firstBlock : blockNumber,
      active: (before?.active ?? 0) + change,
      participated: (before?.participated ?? 0) + (isFirst ? 1 : 0),
    }
    last.set(key, row)
    written.set(`${key}:${step}`, row)
  }
  const conflict = `(vault_id, distributor_id, level, step) do update set active = excluded.active,
    participated = excluded.participated, last_block = excluded.last_block`
  await insertRows(db, place(lpStepsTable), [...written.values()], { shared, conflict })
}

/**
 * Takes metrics back to the end of a block: steps that begin above it go, one it cuts in two is counted again. The changes
 * of lots above the block are there still, for what is needed is taken back after what needs it. `vaultIds` limits it to
 * some vaults.
 */
export async function rewindMetrics(db: Queryable, above: Above, vaultIds?: readonly number[]): Promise<void> {
  const { chainId, number } = above
  const [from, to] = [number + 1, Math.max(number, above.tip)]
  const own = (name: string) =>
    vaultIds === undefined ? db`` : db`and ${db(name)}.vault_id = any(${[...vaultIds]}::int[])`
  await db`
    delete from attributed_steps s
    where s.chain_id = ${chainId} and s.last_block between ${from} and ${to} and s.first_block > ${number} ${own('s')}`
  await db`
    with cut as (
      select s.vault_id, s.distributor_id, s.step, sum(c.after - c.before) filter (where c.block_number > ${number}) as moved,
        max(c.block_number) filter (where c.block_number <= ${number}) as last_block
      from attributed_steps s
      join lot_changes c on c.chain_id = s.chain_id and c.vault_id = s.vault_id and c.distributor_id = s.distributor_id
        and c.block_number between s.first_block and s.last_block
      where s.chain_id = ${chainId} and s.last_block between ${from} and ${to} ${own('s')}
      group by s.vault_id, s.distributor_id, s.step)
    update attributed_steps s set shares = s.shares - cut.moved, last_block = cut.last_block
    from cut where s.vault_id = cut.vault_id and s.distributor_id = cut.distributor_id and s.step = cut.step`
  await db`
    delete from lp_steps s
    where s.chain_id = ${chainId} and s.last_block between ${from} and ${to} and s.first_block > ${number} ${own('s')}`
  await db`
    with cut as (
      select s.vault_id, s.distributor_id, s.level, s.step,
        sum(e.change) filter (where e.block_number > ${number}) as changed,
        count(*) filter (where e.block_number > ${number} and e.is_first) as begun,
        max(e.block_number) filter (where e.block_number <= ${number}) as last_block
      from lp_steps s
      join lp_edges e on e.chain_id = s.chain_id and e.vault_id = s.vault_id and e.distributor_id = s.distributor_id
        and e.level = s.level and e.block_number between s.first_block and s.last_block
      where s.chain_id = ${chainId} and s.last_block between ${from} and ${to} ${own('s')}
      group by s.vault_id, s.distributor_id, s.level, s.step)
    update lp_steps s set active = s.active - cut.changed, participated = s.participated - cut.begun,
      last_block = cut.last_block
    from cut where s.vault_id = cut.vault_id and s.distributor_id = cut.distributor_id and s.level = cut.level
      and s.step = cut.step`
  await db`
    delete from lp_edges e where e.chain_id = ${chainId} and e.block_number between ${from} and ${to} ${own('e')}`
}
