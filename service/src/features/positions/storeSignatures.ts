import { signatureKey, type UsedSignatureRow } from '../../derive/rows.js'
import { hex, int4, int8 } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { describeTable, findRows, insertRows } from '../../postgres/table.js'
import type { Above, Place } from '../../sync/projection.js'

export const usedSignaturesTable = describeTable('used_signatures', {
  chainId: [int8],
  vaultId: [int4],
  digest: [hex],
  blockNumber: [int8],
})

/** Which of some signatures have counted in their vault, by `signatureKey`. */
export async function findUsedSignatures(
  db: Queryable,
  keys: Iterable<{ vaultId: number; digest: string }>,
  place: Place,
): Promise<Set<string>> {
  const wanted = [...keys]
  const rows = await findRows(db, place(usedSignaturesTable), ['vaultId', 'digest'], wanted)
  return new Set(rows.map(({ vaultId, digest }) => signatureKey(vaultId, digest)))
}

/** Remembers signatures that counted. */
export async function recordUsedSignatures(
  db: Queryable,
  chainId: number,
  rows: readonly UsedSignatureRow[],
  place: Place,
): Promise<void> {
  await insertRows(db, place(usedSignaturesTable), rows, { shared: { chainId } })
}

/** Forgets what counted above a block, up to where the chain is derived; `vaultIds` limits it to some vaults. */
export async function removeUsedSignaturesAbove(
  db: Queryable,
  { chainId, number, tip }: Above,
  vaultIds?: readonly number[],
): Promise<void> {
  await db`
    delete from used_signatures where chain_id = ${chainId} and block_number between ${number + 1} and ${Math.max(number, tip)}
      and (${vaultIds === undefined}::boolean or vault_id = any(${[...(vaultIds ?? [])]}::int[]))`
}
