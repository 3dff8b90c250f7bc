import { getAddress } from 'viem'
import type { Clock } from '../../kernel/clock.js'
import type { Fact, Tell } from '../../postgres/context.js'
import type { Queryable } from '../../postgres/pool.js'
import type { Reaction, Written } from '../../sync/steps/step.js'
import { type ActivityRow, toActivity } from './activity.js'
import { findTold, listEntriesOf, recordTold, takeChanges } from './storeTold.js'

/** Changed entries that are told in one transaction. */
const changesMax = 5_000

/**
 * Tells others of verified entries, in the transaction that confirms their block, and of entries that were told and do not
 * stand any more. Entries that a reorganisation, a repair or a rebuild changed are compared with what was told, so that
 * nothing is told twice.
 */
export function tellEntries(tell: Tell, clock: Clock): Reaction {
  return { name: 'events of entries', onWritten: (tx, chain) => tellWritten(tx, { tell, at: clock.now() }, chain) }
}

async function tellWritten(
  tx: Queryable,
  { tell, at }: { tell: Tell; at: Date },
  { chainId, tip, confirmedTo, head }: Written,
): Promise<void> {
  const held = await findTold(tx, chainId)
  // Entries of blocks that the first step found are late.
  const { toldTo: before, lateTo, isChanged } = held ?? { toldTo: -1, lateTo: head, isChanged: false }
  // Blocks above the tip were taken back; their entries are among the changes.
  let toldTo = Math.min(before, tip)
  if (isChanged) {
    const { gone, came } = await takeChanges(tx, { chainId, toldTo, most: changesMax })
    // A reorganisation takes back facts that were true until now. All other changes concern the past.
    const isFork = tip < before
    await tell(tx, [
      ...gone.map((row) => toFact('interaction.retracted', row, { at, late: !isFork })),
      ...came.map((row) => toFact('interaction.confirmed', row, { at, late: true })),
    ])
    if (gone.length + came.length >= changesMax || (await findTold(tx, chainId))?.isChanged) {
      // New entries wait, so that those of one wallet are told in order.
      if (toldTo !== before) await recordTold(tx, { chainId, toldTo, lateTo })
      return
    }
  }
  if (confirmedTo > toldTo) {
    const rows = await listEntriesOf(tx, { chainId, after: toldTo, to: confirmedTo })
    await tell(
      tx,
      rows.map((row) => toFact('interaction.confirmed', row, { at, late: row.blockNumber <= lateTo })),
    )
    toldTo = confirmedTo
  }
  if (!held || toldTo !== before) await recordTold(tx, { chainId, toldTo, lateTo })
}

function toFact(type: string, row: ActivityRow, { at, late }: { at: Date; late: boolean }): Fact {
  return {
    ...{ type, at, late, chainId: row.chainId, data: toActivity(row) },
    subject: { kind: 'wallet', id: getAddress(row.wallet) },
  }
}
