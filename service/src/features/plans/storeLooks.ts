import type { Transaction } from '../../postgres/pool.js'
import type { Observations } from '../../sync/projection.js'

/** Keeps up to which block, and its time, transfers were looked through for an action. */
export async function recordActionLook(
  tx: Transaction,
  look: { actionId: string; lookedTo: number; lookedAt: Date },
): Promise<void> {
  await tx`
    update actions set looked_to = ${look.lookedTo}, looked_at = ${look.lookedAt}
    where id = ${look.actionId} and (looked_to is null or looked_to < ${look.lookedTo})`
}

/** Orphaned blocks are searched again for the actions that were looked for in them. */
export const actionObservations: Observations = {
  name: 'actions',
  rewind: async (tx, { chainId, number }) => {
    await tx`
      update actions set looked_to = null, looked_at = null where chain_id = ${chainId} and looked_to > ${number}`
  },
}
