import type { Fragment, Queryable } from '../../postgres/pool.js'
import { changeGrowth, type GrowthSource, type GrowthSourceName } from './growthSources.js'

/** The pauses of vaults, as statements of other rooms read them. */
export const pausesOf = (db: Queryable): Fragment =>
  db.view`(select vault_id, paused_from, resumed_at from vault_pauses)`

type VaultKey = { chainId: number; address: string }

/** The settings that decide how a vault's history is served. */
export type VaultSettings = {
  vaultId: number
  growthSources: readonly GrowthSource[] | null
  pauses: readonly { from: string; to: string | null }[]
}

/** How a vault's history is served; undefined for one we do not know. */
export async function findVaultSettings(
  db: Queryable,
  { chainId, address }: VaultKey,
): Promise<VaultSettings | undefined> {
  const rows = await db<VaultSettings[]>`
    select v.id as "vaultId", v.growth_sources as "growthSources",
      coalesce((select jsonb_agg(jsonb_build_object('from', p.paused_from, 'to', p.resumed_at) order by p.paused_from)
        from vault_pauses p where p.vault_id = v.id), '[]') as pauses
    from vaults v where v.chain_id = ${chainId} and v.address = ${address.toLowerCase()}`
  return rows[0]
}

/** Ends what measures a vault's growth at an instant, and begins another source, if any. Only inside a transaction. */
export async function changeGrowthSources(
  tx: Queryable,
  vault: VaultKey,
  source: GrowthSourceName | undefined,
  at: Date,
): Promise<void> {
  const { chainId, address } = vault
  const rows = await tx<{ growthSources: readonly GrowthSource[] | null }[]>`
    select growth_sources as "growthSources" from vaults
    where chain_id = ${chainId} and address = ${address.toLowerCase()} for update`
  const sources = changeGrowth(rows[0]?.growthSources ?? null, source, at)
  await tx`
    update vaults set growth_sources = ${tx.json(sources)}
    where chain_id = ${chainId} and address = ${address.toLowerCase()}`
}

/** Withholds a vault's series from an instant on; false where it is paused already. */
export async function pauseVault(db: Queryable, vaultId: number, at: Date): Promise<boolean> {
  const rows = await db`
    insert into vault_pauses (vault_id, paused_from) select ${vaultId}, ${at}
    where not exists (select from vault_pauses
      where vault_id = ${vaultId} and (resumed_at is null or resumed_at > ${at}))
    on conflict do nothing returning vault_id`
  return rows.length === 1
}

/** Serves a vault's series again from an instant on; false where it is not paused, or was paused later. */
export async function resumeVault(db: Queryable, vaultId: number, at: Date): Promise<boolean> {
  const rows = await db`
    update vault_pauses set resumed_at = ${at}
    where vault_id = ${vaultId} and resumed_at is null and paused_from < ${at} returning vault_id`
  return rows.length === 1
}
