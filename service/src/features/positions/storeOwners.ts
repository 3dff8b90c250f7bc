import { type OwnerRow, ownerKey } from '../../derive/rows.js'
import { hex, int8 } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { describeTable, findRows, insertRows } from '../../postgres/table.js'
import type { Above, Place } from '../../sync/projection.js'

export const ownersTable = describeTable('sub_account_owners', {
  chainId: [int8],
  blockNumber: [int8],
  forwarder: [hex],
  prefix: [hex],
  owner: [hex],
})

/** Owners of sub-accounts among those that are asked for, by `ownerKey`. */
export async function findOwners(
  db: Queryable,
  chainId: number,
  keys: Iterable<{ forwarder: string; prefix: string }>,
  place: Place,
): Promise<Map<string, string>> {
  const wanted = [...keys].map((key) => ({ chainId, ...key }))
  const rows = await findRows(db, place(ownersTable), ['chainId', 'forwarder', 'prefix'], wanted)
  return new Map(rows.map(({ forwarder, prefix, owner }) => [ownerKey(forwarder, prefix), owner]))
}

/** Remembers registrations. */
export async function recordOwners(
  db: Queryable,
  chainId: number,
  rows: readonly OwnerRow[],
  place: Place,
): Promise<void> {
  await insertRows(db, place(ownersTable), rows, { shared: { chainId } })
}

/** Forgets what was registered above a block, up to where the chain is derived; `forwarders` limits it to some. */
export async function removeOwnersAbove(
  db: Queryable,
  { chainId, number, tip }: Above,
  forwarders?: readonly string[],
): Promise<void> {
  await db`
    delete from sub_account_owners
    where chain_id = ${chainId} and block_number between ${number + 1} and ${Math.max(number, tip)}
      and (${forwarders === undefined}::boolean or hex_text(forwarder) = any(${[...(forwarders ?? [])]}::text[]))`
}
