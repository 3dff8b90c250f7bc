import { constants, setPriority } from 'node:os'
import { computeStateHash } from '../features/audit/index.js'
import type { Queryable } from '../postgres/pool.js'
import { listProjections } from '../server/projections.js'
import { rebuildChain } from '../sync/rebuild.js'
import { findCursor, listCursors } from '../sync/storeCursors.js'
import { answer, type Command, changing, parseFlags, print, UsageError, withContext } from './command.js'

const usage = `openearn rebuild [--chain CHAIN_ID] [--projection NAME]…

Derives every derived row again from the raw store, the observations and the configuration, or only those of some
projections (positions, ledger). No node is asked. The service may run meanwhile: what is final is derived beside, the
chain waits only while the rest is derived and what differs is put in place, in one transaction. After a break the same
command goes on where it stopped. Prints the state hash: the same before and after, and on any other database with the
same chain.`

export const rebuild: Command = {
  summary: 'derive everything again from the raw store',
  usage,
  run: async (words) => {
    const { values } = parseFlags(words, {
      chain: { type: 'string' },
      projection: { type: 'string', multiple: true },
    })
    await withContext(async (ctx) => {
      const watched = (await listCursors(ctx.db)).map(({ chainId }) => chainId)
      const chains = watched.filter((chainId) => values.chain === undefined || String(chainId) === values.chain)
      if (chains.length === 0) throw new UsageError('rebuild: no such chain was ever watched')
      const projections = listProjections()
      const names = projections.derived.map(({ name }) => name)
      const unknown = values.projection?.find((name) => !names.includes(name))
      if (unknown !== undefined)
        throw new UsageError(`rebuild: no projection ${unknown}; there are ${names.join(', ')}`)
      // Whoever reads meanwhile goes first.
      setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
      const rebuilt: { chainId: number; events: number; seconds: number; state: string }[] = []
      for (const chainId of chains) {
        let saidAt = 0
        const look = (tx: Queryable) => findCursor(tx, chainId)
        const changed = changing(ctx, ['rebuild', ...words], look, { always: true })
        const { events, seconds, resumedAt } = await rebuildChain(changed, {
          chainId,
          projections,
          ...(values.projection ? { only: values.projection } : {}),
          onProgress: ({ blockNumber, toBlock, events: done, toEvents, seconds: passed, secondsLeft }) => {
            if (passed - saidAt < 2) return
            saidAt = passed
            const percent = toEvents === 0 ? 100 : Math.floor((done / toEvents) * 100)
            const rate = Math.round(done / passed)
            print(
              `${chainId}: ${percent} %, block ${blockNumber} of ${toBlock}, ${done} of ${toEvents} events, ${rate} a second, ${Math.ceil(secondsLeft)} s left`,
            )
          },
        })
        const state = await computeStateHash(ctx.db, chainId)
        await changed.conclude({ chainId, events, state })
        print(`${chainId}: ${events} events derived, ${seconds.toFixed(1)} s`)
        if (resumedAt !== undefined) print(`${chainId}: went on behind block ${resumedAt}`)
        rebuilt.push({ chainId, events, seconds, state })
      }
      answer(
        rebuilt,
        rebuilt.map(({ chainId, state }) => `${chainId}: state ${state}`),
      )
    })
  },
}
