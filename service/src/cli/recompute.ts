import { load } from './load.js'
import { type Command, UsageError } from './terminal.js'

/** The subjects that can be recomputed, each with its file. */
const subjects: Record<string, () => Promise<Command>> = {
  apr: async () =>
    (await load<typeof import('./recomputeHistory.js')>('./recomputeHistory.js')).recomputeHistory('apr'),
  apy: async () =>
    (await load<typeof import('./recomputeHistory.js')>('./recomputeHistory.js')).recomputeHistory('apy'),
  tvl: async () =>
    (await load<typeof import('./recomputeHistory.js')>('./recomputeHistory.js')).recomputeHistory('tvl'),
  lps: async () => (await load<typeof import('./recomputeMetrics.js')>('./recomputeMetrics.js')).recomputeBucket('lps'),
  metrics: async () =>
    (await load<typeof import('./recomputeMetrics.js')>('./recomputeMetrics.js')).recomputeBucket('metrics'),
}

const usage = `openearn recompute SUBJECT …   one of ${Object.keys(subjects).join(', ')}; \`openearn recompute SUBJECT\` alone says more
openearn recompute apr|apy|tvl CHAIN_ID VAULT --at RFC3339 [--apy-interval SECONDS] [--rpc URL]
openearn recompute lps CHAIN_ID VAULT | DISTRIBUTOR --at RFC3339 [--step SECONDS]
openearn recompute metrics DISTRIBUTOR --at RFC3339 [--step SECONDS]`

export const recompute: Command = {
  usage,
  run: async ([subject = '', ...words]) => {
    const find = Object.hasOwn(subjects, subject) ? subjects[subject] : undefined
    if (!find) throw new UsageError(`recompute: say ${Object.keys(subjects).join(', ')}\n${usage}`)
    await (await find()).run(words)
  },
}
