import { formatTs } from '../../kernel/clock.js'
import type { Fact, StateNow, Tell, TellStates } from '../../postgres/context.js'
import { inTransaction, type Transaction } from '../../postgres/pool.js'
import { formatAddress } from '../../wallets/format.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { showStreams } from './getStreams.js'
import { listSnapshotsById } from './storeReadings.js'
import { listStreams, type StreamRow } from './storeStreams.js'
import { type ClaimRow, listSnapshotStates, takeClaims, tryClaims } from './storeTold.js'
import { toStreamSnapshot } from './stream.js'

/** Snapshots of a stream whose states are compared: older ones do not change. */
const newestMax = 20

/** Tells others of streams: that one is confirmed, of its snapshots and what became of them, and of confirmed claims. */
export async function tellStreams(
  ctx: CatalogueContext,
  { tell, tellStates }: { tell: Tell; tellStates: TellStates },
): Promise<void> {
  const { db, clock } = ctx
  const at = clock.now()
  await tellStates(db, 'streams', async (tx) => {
    // Confirmed ones alone are shown.
    const rows = await listStreams(tx, {})
    const shown = await showStreams({ ...ctx, db: tx }, rows)
    const created = rows.map((row, index): StateNow => {
      const fact = { ...about(row, at), type: 'stream.created', data: shown[index] }
      return { id: row.id, state: 'created', facts: () => [fact] }
    })
    return [...created, ...(await listSnapshotChanges(tx, rows, at))]
  })
  await inTransaction(db, async (tx) => {
    if (!(await tryClaims(tx))) return
    await tell(
      tx,
      (await takeClaims(tx)).map((row) => toClaim(row, at)),
    )
  })
}

const about = ({ id, chainId }: Pick<StreamRow, 'id' | 'chainId'>, at: Date) => ({
  ...{ at, chainId },
  subject: { kind: 'stream', id } as const,
})

async function listSnapshotChanges(tx: Transaction, rows: readonly StreamRow[], at: Date): Promise<StateNow[]> {
  const streams = new Map(rows.map((row) => [row.id, row]))
  const states = await listSnapshotStates(tx, [...streams.keys()], newestMax)
  const snapshots = new Map(
    (
      await listSnapshotsById(
        tx,
        states.map(({ id }) => id),
      )
    ).map((row) => [row.id, row]),
  )
  return states.flatMap(({ id, streamId, state }): StateNow[] => {
    const [stream, snapshot] = [streams.get(streamId), snapshots.get(id)]
    if (!stream || !snapshot) return []
    const data = toStreamSnapshot(snapshot, stream, true)
    const fact = (type: string): Fact => ({ ...about(stream, at), type, data })
    // One that was vetoed or committed between two looks was taken before.
    const facts = (before: string | undefined) => [
      ...(before === undefined ? [fact('stream.snapshot')] : []),
      ...(state === 'snapshot' ? [] : [fact(`stream.${state}`)]),
    ]
    return [{ id, state, facts }]
  })
}

function toClaim(
  { chainId, streamId, wallet, amount, transactionHash, blockNumber, at: minedAt }: ClaimRow,
  at: Date,
): Fact {
  const data = {
    ...{ streamId, userAddress: formatAddress(wallet), amount, txHash: transactionHash, blockNumber },
    blockTimestamp: formatTs(minedAt),
  }
  return { ...about({ id: streamId, chainId }, at), type: 'stream.claimed', data }
}
