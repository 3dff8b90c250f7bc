import { type AttributionContext, checkAttribution } from '../features/attribution/index.js'
import { openCatalogue } from '../features/catalogue/index.js'
import { createOutbound } from '../kernel/outbound.js'
import { openChains } from '../rpc/chains.js'
import { readChains } from '../server/readChains.js'
import { withContext } from './command.js'
import { answer, type Command, parseFlags, UsageError } from './terminal.js'

const usage = `openearn attribution check TX_HASH [--chain CHAIN_ID]

Explains step by step why a transaction was, or was not, credited to a distributor. --chain may be left out where only
one chain is watched. Exits with 1 when it was not. It looks through no forwarder declared for the chain: what these brought
the ledger may credit where this does not.`

export const attribution: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb !== 'check') throw new UsageError(`attribution: say check\n${usage}`)
    const { values, positionals } = parseFlags(words, { chain: { type: 'string' } }, 1)
    const txHash = requireTxHash('attribution check', positionals)
    await openAttribution('attribution check', values.chain, async (ctx, chainId) => {
      const { attributed, lines } = await checkAttribution(ctx, { txHash, chainId })
      answer({ attributed, lines }, lines)
      if (!attributed) process.exitCode = 1
    })
  },
}

/** The transaction that the first word of a command names. */
export function requireTxHash(command: string, [txHash = '']: readonly string[]): string {
  if (!/^0[xX][0-9a-fA-F]{64}$/.test(txHash)) throw new UsageError(`${command}: give a transaction hash`)
  return txHash
}

/** Runs a command about a transaction of one chain, with what its attribution is judged by. */
export async function openAttribution(
  command: string,
  chain: string | undefined,
  work: (ctx: AttributionContext, chainId: number) => Promise<void>,
): Promise<void> {
  await withContext(async (ctx) => {
    const chains = openChains(createOutbound(ctx.clock), await readChains(ctx))
    const chainId = chooseChain(command, [...chains.keys()], chain)
    const catalogue = await openCatalogue(ctx)
    try {
      await work({ ...ctx, chains, catalogue }, chainId)
    } finally {
      await catalogue.close()
    }
  })
}

/** The chain a command is about: the one it names, or the only one that is watched. */
export function chooseChain(command: string, known: readonly number[], given: string | undefined): number {
  if (given === undefined) {
    const [only] = known
    if (known.length === 1 && only !== undefined) return only
    throw new UsageError(`${command}: --chain is missing; watched are ${known.join(', ') || 'none'}`)
  }
  const chainId = known.find((id) => String(id) === given)
  if (chainId === undefined) throw new UsageError(`${command}: the chain ${given} is not watched`)
  return chainId
}
