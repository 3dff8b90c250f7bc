import { constants, setPriority } from 'node:os'
import { createOutbound } from '../kernel/outbound.js'
import type { Context } from '../postgres/context.js'
import type { Queryable } from '../postgres/pool.js'
import { openChain } from '../rpc/chains.js'
import { listChainSettings } from '../rpc/storeChains.js'
import { listProjections } from '../server/projections.js'
import { computeStateHash } from '../server/stateHash.js'
import { openTracing } from '../server/tracing.js'
import { rebuildChain } from '../sync/rebuild.js'
import { retraceRange } from '../sync/retrace.js'
import { findCursor, listCursors } from '../sync/storeCursors.js'
import { changing, withContext } from './command.js'
import { answer, type Command, parseFlags, print, UsageError } from './terminal.js'

const usage = `openearn rebuild [--chain CHAIN_ID] [--projection NAME]…
openearn rebuild --traces FROM..TO [--chain CHAIN_ID] [--dry-run]

Derives every derived row again from the raw store, the observations and the configuration, or only those of some
projections (positions, ledger). No node is asked. The service may run meanwhile: what is final is derived beside, the
chain waits only while the rest is derived and what differs is put in place, in one transaction. After a break the same
command goes on where it stopped. Prints the state hash: the same before and after, and on any other database with the
same chain.

With --traces nodes are asked again how the transactions of these blocks ran; rows that differ from what is kept are shown
first, and then everything is derived again from the first of them. With --dry-run it is only shown.`

export const rebuild: Command = {
  usage,
  run: async (words) => {
    const { values } = parseFlags(words, {
      chain: { type: 'string' },
      projection: { type: 'string', multiple: true },
      traces: { type: 'string' },
      'dry-run': { type: 'boolean' },
    })
    const isDry = values['dry-run'] === true
    if (isDry && values.traces === undefined) throw new UsageError('rebuild: --dry-run goes with --traces')
    await withContext(async (ctx) => {
      const watched = (await listCursors(ctx.db)).map(({ chainId }) => chainId)
      const chains = watched.filter((chainId) => values.chain === undefined || String(chainId) === values.chain)
      if (chains.length === 0) throw new UsageError('rebuild: no such chain was ever watched')
      if (values.traces !== undefined) return retrace(ctx, words, { chains, range: values.traces, isDry })
      const projections = listProjections()
      const names = projections.derived.map(({ name }) => name)
      const unknown = values.projection?.find((name) => !names.includes(name))
      if (unknown !== undefined)
        throw new UsageError(`rebuild: no projection ${unknown}; there are ${names.join(', ')}`)
      // Readers have priority meanwhile.
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

/** Asks nodes again how transactions ran, and derives again what differs. */
async function retrace(
  ctx: Context,
  words: readonly string[],
  { chains, range, isDry }: { chains: readonly number[]; range: string; isDry: boolean },
): Promise<void> {
  const [chainId] = chains
  if (chainId === undefined || chains.length > 1) throw new UsageError('rebuild: --traces is of one chain: say --chain')
  const [from, to] = /^\d+\.\.\d+$/.test(range) ? range.split('..').map(Number) : []
  if (from === undefined || to === undefined || from > to)
    throw new UsageError('rebuild: --traces is a range of blocks, such as 1200..1300')
  const settings = (await listChainSettings(ctx.db)).find((chain) => chain.chainId === chainId)
  if (!settings) throw new UsageError(`there is no chain ${chainId}`)
  const rpcUrls = ctx.config.rpcUrls.get(chainId) ?? settings.rpcUrls
  const tracing = openTracing(ctx, openChain(createOutbound(ctx.clock), { ...settings, rpcUrls }))
  if (!tracing) throw new UsageError(`the chain ${chainId} has no http url`)
  const look = (tx: Queryable) => findCursor(tx, chainId)
  const changed = changing(ctx, ['rebuild', ...words], look, { always: !isDry })
  const {
    asked,
    traced,
    changed: others,
    differences,
  } = await retraceRange(isDry ? ctx : changed, {
    ...{ chainId, projections: listProjections(), from, to, tracer: tracing.tracer, isDry },
    onDifferences: ({ differences }) => {
      for (const { rows } of differences)
        for (const { table, change, row } of rows) print(`${change === 'gone' ? '-' : '+'} ${table} ${row}`)
    },
  })
  const counts = differences.map(({ table, gone, new: added }) => ({ table, gone, new: added }))
  const state = await computeStateHash(ctx.db, chainId)
  if (!isDry) await changed.conclude({ chainId, asked, traced, changed: others, state })
  answer({ chainId, from, to, asked, traced, changed: others, isDry, differences: counts, state }, [
    `${chainId}: ${asked} transactions need a trace, ${traced} have one, ${others} ran otherwise than was kept`,
    ...counts.map((each) => `${chainId}: ${each.table}: ${each.gone} rows go, ${each.new} come`),
    isDry ? `${chainId}: nothing was changed` : `${chainId}: state ${state}`,
  ])
}
