import type { HolderAccounts } from '../../derive/holderKeys.js'
import { type HeldChange, type HeldState, heldKey, holderKey, parseHolderState, toHeld } from '../../derive/rows.js'
import { hex, int4, int8, numeric, text } from '../../postgres/columns.js'
import type { Fragment, Queryable, Transaction } from '../../postgres/pool.js'
import { describeTable, findRows, insertRows, parseRows, selectList } from '../../postgres/table.js'
import { type Above, inPlace, type Place, type StateLines } from '../../sync/projection.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { doubtedOf } from './storeDoubts.js'

/** Who has the shares, and by whom they are kept. */
const whose = { vaultId: [int4], holder: [hex], wallet: [hex] } as const

export const heldTable = describeTable('held_shares', {
  chainId: [int8],
  firstBlock: [int8],
  ...whose,
  shares: [numeric],
  detail: [text],
})

export const heldChangesTable = describeTable('held_share_changes', {
  chainId: [int8],
  blockNumber: [int8],
  transactionIndex: [int4],
  ...whose,
  before: [numeric],
  after: [numeric],
  detailBefore: [text],
  detailAfter: [text],
})

/** The shares that holders keep, in the hash of the state. */
export const heldLines: StateLines = (db, chainId) => db`
  select concat_ws(' ', v.address, hex_text(h.holder), hex_text(h.wallet), h.shares, h.detail) as line
  from held_shares h join ${vaultsOf(db)} v on v.id = h.vault_id
  where v.chain_id = ${chainId} and (h.shares > 0 or h.wallet = h.holder)
  order by v.address collate "C", h.holder, h.wallet`

/** Writes changes, and live also the present that they lead to. */
export async function recordHeld(
  db: Queryable,
  chainId: number,
  rows: readonly HeldChange[],
  place: Place,
): Promise<void> {
  if (rows.length === 0) return
  await insertRows(db, place(heldChangesTable), rows, { shared: { chainId } })
  if (place !== inPlace) return
  const last = new Map<string, HeldChange & { firstBlock: number }>()
  for (const row of rows) {
    const key = heldKey(row.vaultId, row.holder, row.wallet)
    last.set(key, { ...row, firstBlock: last.get(key)?.firstBlock ?? row.blockNumber })
  }
  const present = [...last.values()].map((row) => ({ ...row, shares: row.after, detail: row.detailAfter }))
  const conflict = '(vault_id, holder, wallet) do update set shares = excluded.shares, detail = excluded.detail'
  await insertRows(db, heldTable, present, { shared: { chainId }, conflict })
}

/** In a rebuild: makes what is kept what all the changes lead to. */
export async function settleHeld(tx: Transaction, { place }: { place: Place }): Promise<void> {
  const [held, changes] = [tx(place(heldTable).name), tx(place(heldChangesTable).name)]
  await tx`truncate ${held}`
  await tx`
    insert into ${held} (chain_id, vault_id, holder, wallet, shares, detail, first_block)
    select distinct on (vault_id, holder, wallet) chain_id, vault_id, holder, wallet, after, detail_after,
      min(block_number) over (partition by vault_id, holder, wallet)
    from ${changes} order by vault_id, holder, wallet, block_number desc, transaction_index desc`
}

type HeldAccount = HolderAccounts & { wallet: string }
type HeldRow = HeldAccount & { shares: bigint; detail: string }

const nothingHeld = (): HeldState => ({ held: new Map(), holderStates: new Map() })

function addRow(state: HeldState, { vaultId, holder, wallet, shares, detail }: HeldRow): void {
  const isOwn = holder === wallet
  state.held.set(heldKey(vaultId, holder, wallet), toHeld(shares, isOwn ? '' : detail))
  if (isOwn) state.holderStates.set(holderKey(vaultId, holder), parseHolderState(detail))
}

/** Adds what holders keep for accounts that blocks name to a state that does not know it. */
export async function addHeld(
  db: Queryable,
  state: HeldState,
  keys: ReadonlyMap<string, HeldAccount>,
  place: Place,
): Promise<void> {
  if (keys.size === 0) return
  const rows = await findRows(db, place(heldTable), ['vaultId', 'holder', 'wallet'], [...keys.values()])
  for (const [key, { holder, wallet }] of keys) if (holder !== wallet) state.held.set(key, toHeld(0n, ''))
  for (const row of rows) addRow(state, row)
}

/** Adds all accounts of holders; returns those that the state did not know. */
export async function addAccounts(
  db: Queryable,
  state: HeldState,
  holders: readonly HolderAccounts[],
  place: Place,
): Promise<{ vaultId: number; wallet: string }[]> {
  const rows = await findRows(db, place(heldTable), ['vaultId', 'holder'], holders)
  return rows.flatMap((row) => {
    if (state.held.has(heldKey(row.vaultId, row.holder, row.wallet))) return []
    addRow(state, row)
    return [row]
  })
}

/** The shares that holders kept before each transaction of a range that touched it, by block, vault and transaction. */
export async function readHeldBefore(
  db: Queryable,
  { chainId, from, to }: { chainId: number; from: number; to: number },
): Promise<(block: number, vaultId: number, transactionIndex: number) => HeldState> {
  const rows = await db<object[]>`
    select ${selectList(db, heldChangesTable)} from held_share_changes
    where chain_id = ${chainId} and block_number between ${from} and ${to}`
  const states = new Map<string, HeldState>()
  for (const { blockNumber, transactionIndex, before, detailBefore, ...row } of parseRows(heldChangesTable, rows)) {
    const key = `${blockNumber}:${row.vaultId}:${transactionIndex}`
    const state = states.get(key) ?? nothingHeld()
    states.set(key, state)
    addRow(state, { ...row, shares: before, detail: detailBefore })
  }
  const nothing = nothingHeld()
  return (block, vaultId, transactionIndex) => states.get(`${block}:${vaultId}:${transactionIndex}`) ?? nothing
}

/** Takes what is kept back to the end of a block; `vaultIds` limits it to some vaults. */
export async function removeHeldAbove(
  db: Queryable,
  { chainId, number, tip }: Above,
  vaultIds?: readonly number[],
): Promise<void> {
  await db`
    with gone as (
      delete from held_share_changes
      where chain_id = ${chainId} and block_number between ${number + 1} and ${Math.max(number, tip)}
        and (${vaultIds === undefined}::boolean or vault_id = any(${[...(vaultIds ?? [])]}::int[])) returning *),
    first as (
      select distinct on (vault_id, holder, wallet) * from gone
      order by vault_id, holder, wallet, block_number, transaction_index),
    begun as (
      delete from held_shares h using first
      where h.vault_id = first.vault_id and h.holder = first.holder and h.wallet = first.wallet
        and h.first_block > ${number})
    update held_shares h set shares = first.before, detail = first.detail_before
    from first where h.vault_id = first.vault_id and h.holder = first.holder and h.wallet = first.wallet
      and h.first_block <= ${number}`
}

/** The shares that declared holders keep for accounts, and whether they count for them, as statements of other rooms read it. */
export const heldOf = (db: Queryable): Fragment => db.view`(
  select h.vault_id, h.holder, h.wallet, h.shares, s.detail like 'counting %' as counts
  from held_shares h join held_shares s on s.vault_id = h.vault_id and s.holder = h.holder and s.wallet = h.holder
  where h.wallet <> h.holder)`

/**
 * The state of each declared holder, as statements of other rooms read it. One that counts still, and whose view is known to
 * contradict its events, ends with the next transaction of its vault: it is told as broken at once.
 */
export const holderStatesOf = (db: Queryable): Fragment => db.view`(
  select h.vault_id, h.holder, h.first_block, case when e.holder is null then split_part(h.detail, ' ', 1) else 'broken' end as phase,
    split_part(h.detail, ' ', 2)::bigint as ignored,
    case when e.holder is null then regexp_replace(h.detail, '^[^ ]+ [^ ]+ [^ ]+ ?', '') else 'its view differs' end as reason
  from held_shares h left join ${doubtedOf(db)} e on e.vault_id = h.vault_id and e.holder = h.holder and h.detail like 'counting %'
  where h.wallet = h.holder)`
