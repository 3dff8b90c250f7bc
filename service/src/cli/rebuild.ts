import { rebuildChain } from '../pipeline/index.js'
import { listCursors } from '../sync/storeCursors.js'
import { answer, type Command, parseFlags, print, UsageError, withContext } from './command.js'

const usage = `openearn rebuild [--chain CHAIN_ID]

Derives every derived row again from the raw store, the observations and the configuration, and puts what differs in
place of what was there, in one transaction. No node is asked. Prints the state hash: the same before and after, and on any other database with
the same chain.`

export const rebuild: Command = {
  summary: 'derive everything again from the raw store',
  usage,
  run: async (words) => {
    const { values } = parseFlags(words, { chain: { type: 'string' } })
    await withContext(async (ctx) => {
      const watched = (await listCursors(ctx.db)).map(({ chainId }) => chainId)
      const chains = watched.filter((chainId) => values.chain === undefined || String(chainId) === values.chain)
      if (chains.length === 0) throw new UsageError('rebuild: no such chain was ever watched')
      const done: { chainId: number; events: number; seconds: number; state: string }[] = []
      for (const chainId of chains) {
        let saidAt = 0
        const { events, seconds, hash } = await rebuildChain(ctx, {
          chainId,
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
        print(`${chainId}: ${events} events in ${seconds.toFixed(1)} s (${Math.round(events / seconds)} a second)`)
        done.push({ chainId, events, seconds, state: hash })
      }
      answer(
        done,
        done.map(({ chainId, state }) => `${chainId}: state ${state}`),
      )
    })
  },
}
