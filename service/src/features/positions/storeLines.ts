import type { StateLines } from '../../sync/projection.js'
import { vaultsOf } from '../../vaults/configured/index.js'

/** The lines of positions in the hash of the state: vaults by their addresses, since their ids differ between databases. */

export const balanceLines: StateLines = (db, chainId) => db`
  select concat_ws(' ', v.address, hex_text(b.wallet), b.shares, b.attributed) as line
  from balances b join ${vaultsOf(db)} v on v.id = b.vault_id where v.chain_id = ${chainId} and b.shares > 0
  order by v.address collate "C", b.wallet`

export const lotLines: StateLines = (db, chainId) => db`
  select concat_ws(' ', v.address, hex_text(l.wallet), l.distributor_id, l.shares) as line
  from lots l join ${vaultsOf(db)} v on v.id = l.vault_id where v.chain_id = ${chainId} and l.shares > 0
  order by v.address collate "C", l.wallet, l.distributor_id`

export const requestLines: StateLines = (db, chainId) => db`
  select concat_ws(' ', r.id, v.address, r.kind, hex_text(r.controller), hex_text(r.owner), r.request_id, coalesce(r.distributor_id, '-'),
    coalesce(r.attribution, '-'), r.is_swap, r.amount, r.remaining, r.cancelled, r.cancelling) as line
  from requests r join ${vaultsOf(db)} v on v.id = r.vault_id where v.chain_id = ${chainId}
  order by r.block_number, r.log_index`

export const signatureLines: StateLines = (db, chainId) => db`
  select concat_ws(' ', v.address, hex_text(u.digest), u.block_number) as line
  from used_signatures u join ${vaultsOf(db)} v on v.id = u.vault_id where v.chain_id = ${chainId}
  order by v.address collate "C", u.digest`
