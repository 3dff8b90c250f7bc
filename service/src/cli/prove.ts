import { writeFile } from 'node:fs/promises'
import { getAttributionProof } from '../features/attribution/index.js'
import { openCatalogue } from '../features/catalogue/index.js'
import { createOutbound } from '../kernel/outbound.js'
import { openChains } from '../rpc/chains.js'
import { readChains } from '../server/readChains.js'
import { chooseChain } from './attribution.js'
import { withContext } from './command.js'
import { answer, type Command, parseFlags, print, UsageError } from './terminal.js'

const usage = `openearn prove TX_HASH [--chain CHAIN_ID] [--out FILE]

Proves the ledger entries of a transaction: the header of its block, and the transaction and its receipt with the nodes of their
tries. Anybody checks it with \`verifyProof\` of the sdk, from the block hash alone. --chain may be left out where only one chain
is watched; without --out the proof is printed.`

export const prove: Command = {
  usage,
  run: async (words) => {
    const flags = { chain: { type: 'string' }, out: { type: 'string' } } as const
    const { values, positionals } = parseFlags(words, flags, 1)
    const [txHash = ''] = positionals
    if (!/^0[xX][0-9a-fA-F]{64}$/.test(txHash)) throw new UsageError(`prove: give a transaction hash\n${usage}`)
    await withContext(async (ctx) => {
      const chains = openChains(createOutbound(ctx.clock), await readChains(ctx))
      const chainId = chooseChain('prove', [...chains.keys()], values.chain)
      const catalogue = await openCatalogue(ctx)
      try {
        const proof = await getAttributionProof({ ...ctx, chains, catalogue }, { txHash, chainId })
        const text = JSON.stringify(proof, null, 2)
        if (values.out === undefined) return print(text)
        await writeFile(values.out, `${text}\n`)
        const count = proof.entries.length
        answer({ file: values.out, entries: count, blockHash: proof.blockHash }, [
          `${count} ${count === 1 ? 'entry' : 'entries'} of block ${proof.blockHash}, in ${values.out}`,
        ])
      } finally {
        await catalogue.close()
      }
    })
  },
}
