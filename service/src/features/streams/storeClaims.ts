import type { PageRequest } from '../../kernel/page.js'
import type { Queryable } from '../../postgres/pool.js'
import { depths } from '../../sync/storeDepths.js'

/** A confirmed claim of a reward, as it is shown. */
export type StreamClaim = { wallet: string; amount: string; transactionHash: string; blockNumber: number; at: Date }

/** A page of the confirmed claims of a stream, the newest first, and how many there are. */
export async function listStreamClaims(
  db: Queryable,
  streamId: string,
  page: PageRequest,
): Promise<{ rows: StreamClaim[]; total: number }> {
  const confirmed = db`
    stream_events e join ${depths(db)} d on d.chain_id = e.chain_id
    where e.stream_id = ${streamId} and e.kind = 'claimed' and e.block_number <= d.confirmed`
  const [rows, counts] = await Promise.all([
    db<StreamClaim[]>`
      select hex_text(e.wallet) as wallet, e.amount::text as amount, hex_text(e.transaction_hash) as "transactionHash",
        e.block_number as "blockNumber", e.block_timestamp as at
      from ${confirmed}
      order by e.block_number desc, e.log_index desc limit ${page.limit} offset ${page.offset}`,
    db<{ count: number }[]>`select count(*)::int as count from ${confirmed}`,
  ])
  return { rows, total: counts[0]?.count ?? 0 }
}
