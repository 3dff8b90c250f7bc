import { pad, toEventSelector } from 'viem'
import type { Queryable } from '../../postgres/pool.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { opportunitiesOf } from '../catalogue/index.js'

/** A redemption whose shares were burned, as the vault told it. */
export type StartedCooldown = {
  chainId: number
  vaultAddress: string
  vaultKind: string
  opportunityId: string
  requestedAt: Date
  txHash: string
  /** Lower-case. */
  receiver: string
  assets: bigint
  shares: bigint
}

const withdrawal = toEventSelector(
  'event Withdraw(address indexed, address indexed, address indexed, uint256, uint256)',
)

/** Every redemption of a wallet (lower-case) in a vault of these kinds, oldest first, for all receivers. */
export async function listStartedCooldowns(
  db: Queryable,
  of: { wallet: string; kinds: readonly string[] },
): Promise<StartedCooldown[]> {
  const owner = pad(of.wallet as `0x${string}`)
  type Row = Omit<StartedCooldown, 'assets' | 'shares'> & { data: string; receiverWord: string }
  const rows = await db<Row[]>`
    select v.chain_id as "chainId", v.address as "vaultAddress", v.kind as "vaultKind", o.id as "opportunityId",
      b.block_timestamp as "requestedAt", hex_text(l.transaction_hash) as "txHash",
      hex_text(l.topic2) as "receiverWord", hex_text(l.data) as data
    from ${vaultsOf(db)} v
    join balance_changes b on b.vault_id = v.id and b.wallet = hex_bytes(${of.wallet}) and b.after < b.before
    join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address
    join logs l on l.chain_id = b.chain_id and l.block_number = b.block_number
      and l.transaction_index = b.transaction_index and l.address = hex_bytes(v.address)
      and l.topic0 = hex_bytes(${withdrawal}) and l.topic3 = hex_bytes(${owner})
    where v.kind = any(${[...of.kinds]}::text[])
    order by b.block_timestamp, v.chain_id, l.block_number, l.log_index`
  return rows
    .filter(({ data }) => data.length === 2 + 2 * 64)
    .map(({ data, receiverWord, ...row }) => ({
      ...row,
      receiver: `0x${receiverWord.slice(26)}`,
      assets: BigInt(data.slice(0, 66)),
      shares: BigInt(`0x${data.slice(66)}`),
    }))
}
