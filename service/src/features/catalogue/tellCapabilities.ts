import type { StateNow, TellStates } from '../../postgres/context.js'
import type { CatalogueContext } from './catalogue.js'
import { toMeta } from './item.js'

/** Tells others that an opportunity takes other deposits or withdrawals than before. */
export async function tellCapabilities(ctx: CatalogueContext, tellStates: TellStates): Promise<void> {
  const at = ctx.clock.now()
  await tellStates(ctx.db, 'capabilities', async () => {
    const { opportunities } = ctx.catalogue.current()
    return [...opportunities.values()].map((record): StateNow => {
      const meta = toMeta(record)
      const subject = { kind: 'opportunity', id: record.id } as const
      const fact = { type: 'vault.capability', at, chainId: record.chainId, subject, data: meta }
      return { id: record.id, state: JSON.stringify(meta), facts: (before) => (before === undefined ? [] : [fact]) }
    })
  })
}
