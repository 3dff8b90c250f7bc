import type { Queryable } from '../../postgres/pool.js'
import { type HolderSetting, vaultsOf } from '../../vaults/configured/index.js'

/** The shares that a declared holder keeps, as far as they are derived. Addresses lower-case. */
export type KeptShares = {
  chainId: number
  vaultAddress: string
  holder: Pick<HolderSetting, 'address' | 'kind' | 'markets'>
  /** For the wallet that was asked about. */
  shares: bigint
  /** For all its accounts. */
  ofAll: bigint
  /** For nobody: they are the holder's own. */
  ofNobody: bigint
}

type Row = Record<'shares' | 'ofAll' | 'ofNobody', string> & {
  chainId: number
  vaultAddress: string
  address: string
  declared: HolderSetting[]
}

/** The declared holders whose accounts count now, each with its shares for a wallet (lower-case). */
export async function listKept(db: Queryable, wallet: string): Promise<KeptShares[]> {
  const rows = await db<Row[]>`
    select v.chain_id as "chainId", v.address as "vaultAddress", d.address, v.holders as declared, n.shares as "ofNobody",
      coalesce((select h.shares from held_shares h
        where h.vault_id = v.id and h.holder = n.holder and h.wallet = hex_bytes(${wallet}) and h.wallet <> h.holder), 0) as shares,
      coalesce((select sum(h.shares) from held_shares h
        where h.vault_id = v.id and h.holder = n.holder and h.wallet <> h.holder), 0) as "ofAll"
    from ${vaultsOf(db)} v
    cross join lateral (select distinct lower(e->>'address') as address from jsonb_array_elements(v.holders) e) d
    join held_shares n on n.vault_id = v.id and n.holder = hex_bytes(d.address) and n.wallet = n.holder
    where v.holders <> '[]' and n.detail like 'counting %'
    order by v.chain_id, v.address collate "C", d.address`
  return rows.map(({ chainId, vaultAddress, address, declared, shares, ofAll, ofNobody }) => ({
    ...{ chainId, vaultAddress, holder: { address, ...declaredAs(address, declared) } },
    ...{ shares: BigInt(shares), ofAll: BigInt(ofAll), ofNobody: BigInt(ofNobody) },
  }))
}

/** The kind of a holder, which is one for all its declarations, and every market that one of these names. */
export function declaredAs(
  address: string,
  declared: readonly HolderSetting[],
): Pick<HolderSetting, 'kind' | 'markets'> {
  const own = declared.filter((each) => each.address.toLowerCase() === address)
  const markets = [...new Set(own.flatMap((each) => each.markets ?? []))]
  return { kind: own[0]?.kind ?? '', ...(markets.length > 0 ? { markets } : {}) }
}
