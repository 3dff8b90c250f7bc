import { signatureKey, type UsedSignatureRow } from '../../derive/rows.js'
import type { Queryable } from '../../postgres/pool.js'

/** Which of some signatures have counted in their vault, by `signatureKey`. */
export async function findUsedSignatures(
  db: Queryable,
  keys: Iterable<{ vaultId: number; digest: string }>,
): Promise<Set<string>> {
  const wanted = [...keys]
  if (wanted.length === 0) return new Set()
  const rows = await db<{ vaultId: number; digest: string }[]>`
    select u.vault_id as "vaultId", u.digest
    from unnest(${wanted.map(({ vaultId }) => vaultId)}::int[], ${wanted.map(({ digest }) => digest)}::text[])
      as k (vault_id, digest) join used_signatures u using (vault_id, digest)`
  return new Set(rows.map(({ vaultId, digest }) => signatureKey(vaultId, digest)))
}

/** Remembers signatures that counted. */
export async function recordUsedSignatures(db: Queryable, rows: readonly UsedSignatureRow[]): Promise<void> {
  if (rows.length === 0) return
  await db`
    insert into used_signatures (vault_id, digest, block_number)
    select * from unnest(${rows.map(({ vaultId }) => vaultId)}::int[], ${rows.map(({ digest }) => digest)}::text[],
      ${rows.map(({ blockNumber }) => blockNumber)}::bigint[])`
}

/** Forgets what counted in vaults above a block. */
export async function removeUsedSignaturesAbove(
  db: Queryable,
  vaultIds: readonly number[],
  number: number,
): Promise<void> {
  await db`delete from used_signatures where vault_id = any(${[...vaultIds]}) and block_number > ${number}`
}
