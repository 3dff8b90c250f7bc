import { explainMissing } from '../features/attribution/index.js'
import { formatAddress } from '../wallets/format.js'
import { openAttribution, requireTxHash } from './attribution.js'
import { answer, type Command, parseFlags } from './terminal.js'

const usage = `openearn why-not TX_HASH [--chain CHAIN_ID]

Says of each vault event of a transaction who it was credited to, or which rule left it out. --chain may be left out where only
one chain is watched. Exits with 1 where an event has no entry, or there is none. attribution check tells each step.`

export const whyNot: Command = {
  usage,
  run: async (words) => {
    const { values, positionals } = parseFlags(words, { chain: { type: 'string' } }, 1)
    const txHash = requireTxHash('why-not', positionals)
    await openAttribution('why-not', values.chain, async (ctx, chainId) => {
      const { events, lines } = await explainMissing(ctx, { txHash, chainId })
      const told = events.map(
        ({ logIndex, vault, kind, creditedTo, reason }) =>
          `log ${logIndex}, ${kind} of ${formatAddress(vault)}: ${reason === null ? `credited to ${creditedTo.join(', ')}` : `left out: ${reason}`}`,
      )
      answer({ events, lines }, events.length > 0 ? told : lines)
      if (events.length === 0 || events.some(({ reason }) => reason !== null)) process.exitCode = 1
    })
  },
}
