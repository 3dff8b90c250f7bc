import type { Database } from '../../src/postgres/pool.js'

/**
 * Every derived row of some chains as lines of text, sorted: what each says, whatever its table and columns are called.
 * Names of vaults stand for their ids.
 */
export async function dumpDerived(db: Database, chains: readonly number[]): Promise<string[]> {
  const ids = [...chains]
  const rows = await db<{ line: string }[]>`
    with v as (select id, concat_ws(' ', chain_id, address) as name from vaults where chain_id = any(${ids}))
    select concat_ws(' ', 'balance', v.name, hex_text(wallet), shares, attributed, first_block) as line
      from balances join v on v.id = vault_id where shares > 0
    union all select concat_ws(' ', 'lot', v.name, hex_text(wallet), distributor_id, shares, first_block)
      from lots join v on v.id = vault_id where shares > 0
    union all select concat_ws(' ', 'balance change', v.name, hex_text(wallet), block_number, transaction_index,
        extract(epoch from block_timestamp)::bigint, before, after, attributed_before, attributed_after)
      from balance_changes join v on v.id = vault_id
    union all select concat_ws(' ', 'lot change', v.name, hex_text(wallet), distributor_id, block_number, transaction_index,
        extract(epoch from block_timestamp)::bigint, before, after)
      from lot_changes join v on v.id = vault_id
    union all select concat_ws(' ', 'request', r.id, v.name, kind, hex_text(controller), hex_text(owner), request_id,
        coalesce(distributor_id, '-'), coalesce(attribution, '-'), amount, remaining, cancelled, cancelling, block_number,
        extract(epoch from block_timestamp)::bigint, transaction_index, log_index, hex_text(transaction_hash))
      from requests r join v on v.id = vault_id
    union all select concat_ws(' ', 'request change', c.request_id, v.name, block_number, log_index, remaining_before,
        remaining_after, cancelled_before, cancelled_after, cancelling_before, cancelling_after)
      from request_changes c join v on v.id = vault_id
    union all select concat_ws(' ', 'entry', i.id, v.name, kind, block_number, block_hash,
        extract(epoch from block_timestamp)::bigint, transaction_hash, transaction_index, log_index, wallet,
        distributor_id, attribution, assets, shares, amount, is_swap, coalesce(amount_usd::text, '-'))
      from interactions i join v on v.id = vault_id
    union all select concat_ws(' ', 'retraction', interaction_id, chain_id, kind, block_number, block_hash,
        transaction_hash, log_index, wallet, distributor_id, assets)
      from retractions where chain_id = any(${ids})
    union all select concat_ws(' ', 'transaction', chain_id, block_number, hex_text(block_hash),
        extract(epoch from block_timestamp)::bigint, hex_text(transaction_hash), transaction_index, hex_text(sender),
        coalesce(hex_text(target), '-'),
        coalesce(distributor_id, '-'), array_to_json(codes), coalesce(schema, '-'), coalesce(signature_valid::text, '-'),
        coalesce(action_id::text, '-'), retracted, array_to_json(problems))
      from transaction_attributions where chain_id = any(${ids})
    union all select concat_ws(' ', 'used signature', v.name, hex_text(digest), block_number)
      from used_signatures join v on v.id = vault_id`
  return rows.map(({ line }) => line).sort()
}
