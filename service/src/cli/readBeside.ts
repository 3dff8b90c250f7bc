import type { Queryable } from '../postgres/pool.js'
import { listProjections } from '../server/projections.js'
import { listCursors } from '../sync/storeCursors.js'
import { loadConfigurations } from '../sync/taken.js'

/** Contracts whose logs are read only with the transactions of vaults, of a chain and the blocks it is read. */
export type ReadBeside = { chainId: number; from: number; to: number; addresses: readonly string[] }

export async function listReadBeside(db: Queryable): Promise<ReadBeside[]> {
  const cursors = (await listCursors(db)).filter(({ blockNumber, startBlock }) => blockNumber >= startBlock)
  return Promise.all(
    cursors.map(async ({ chainId, startBlock: from, blockNumber: to }) => {
      const configured = await loadConfigurations(db, chainId, listProjections().derived)
      const addresses = configured.flatMap(({ sources }) =>
        sources.flatMap(({ beside, addresses: own }) => (beside ? own : [])),
      )
      return { chainId, from, to, addresses: [...new Set(addresses)] }
    }),
  )
}

/** Advice about contracts that were added after blocks were read: one line a chain. */
export function adviseRefetch(before: readonly ReadBeside[], after: readonly ReadBeside[]): string[] {
  return before.flatMap(({ chainId, from, to, addresses }) => {
    const now = after.find((each) => each.chainId === chainId)?.addresses ?? []
    const late = now.filter((address) => !addresses.includes(address))
    if (late.length === 0) return []
    const command = `openearn chains refetch ${chainId} --from ${from} --to ${to}`
    return [`${late.join(', ')}: what was read before says nothing of it; run ${command}`]
  })
}
