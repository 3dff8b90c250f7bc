import type { RequestReading } from '../../derive/index.js'
import { hex, int8, nullable, numeric, oneOf } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { describeTable, insertRows, selectList } from '../../postgres/table.js'

const readingsTable = describeTable('request_readings', {
  chainId: [int8],
  blockNumber: [int8],
  vault: [hex],
  kind: [oneOf<RequestReading['kind']>()],
  controller: [hex],
  requestId: [numeric],
  before: [nullable(numeric)],
  after: [nullable(numeric)],
})

/** Amounts as the driver reads them. */
type Row = Pick<RequestReading, 'vault' | 'kind' | 'controller'> & {
  blockNumber: number
  requestId: string
  before: string | null
  after: string | null
}

const pack = (said: bigint | 'unknown'): bigint | null => (said === 'unknown' ? null : said)

const unpack = (kept: string | null): bigint | 'unknown' => (kept === null ? 'unknown' : BigInt(kept))

/** Stores vaults' figures of requests; stored rows stay. */
export async function recordReadings(
  db: Queryable,
  chainId: number,
  blocks: readonly { blockNumber: number; answers: readonly RequestReading[] }[],
): Promise<void> {
  const rows = blocks.flatMap(({ blockNumber, answers }) =>
    answers.map((reading) => ({
      ...reading,
      blockNumber,
      before: pack(reading.before),
      after: pack(reading.after),
    })),
  )
  await insertRows(db, readingsTable, rows, { shared: { chainId }, conflict: 'do nothing' })
}

/** Stored figures of requests in [from, to], by block. */
export async function listReadings(
  db: Queryable,
  { chainId, from, to }: { chainId: number; from: number; to: number },
): Promise<ReadonlyMap<number, RequestReading[]>> {
  const rows = await db<Row[]>`
    select ${selectList(db, readingsTable, { without: ['chainId'] })} from request_readings
    where chain_id = ${chainId} and block_number between ${from} and ${to}
    order by block_number, vault, kind, controller, request_id`
  const found = new Map<number, RequestReading[]>()
  for (const { blockNumber, vault, kind, controller, requestId, before, after } of rows) {
    const own = found.get(blockNumber) ?? []
    own.push({ vault, kind, controller, requestId: BigInt(requestId), before: unpack(before), after: unpack(after) })
    found.set(blockNumber, own)
  }
  return found
}

/** Removes what was answered at blocks that are orphaned. */
export async function removeReadings(
  db: Queryable,
  { chainId, from, to }: { chainId: number; from: number; to: number },
): Promise<void> {
  await db`delete from request_readings where chain_id = ${chainId} and block_number between ${from} and ${to}`
}
