import { writeFile } from 'node:fs/promises'
import { openCatalogue } from '../features/catalogue/index.js'
import { toVerificationContext } from '../features/catalogue/operator/index.js'
import { withContext } from './command.js'
import { answer, type Command, parseFlags, parseWhole, print, UsageError } from './terminal.js'

const usage = `openearn trust export [FILE] [--chain CHAIN_ID]

Writes the facts that plans are compared with: the vaults, routers, wrappers, further contracts and attribution signers of each
chain, or of one. A program ships the file and gives it to the sdk as \`createEarnClient({ trust })\`: then a plan with another vault,
router or signer reaches no wallet, whatever the service says. Read it before you ship it; without FILE it is printed.`

export const trust: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb !== 'export') throw new UsageError(`trust: say export\n${usage}`)
    const { values, positionals } = parseFlags(words, { chain: { type: 'string' } }, 1)
    const only = parseWhole(values.chain, 1)
    if (values.chain !== undefined && only === undefined) throw new UsageError('--chain must be the id of a chain')
    await withContext(async (ctx) => {
      const catalogue = await openCatalogue(ctx)
      try {
        const snapshot = catalogue.current()
        const known = [...snapshot.chains.values()].filter(({ active }) => active)
        const chosen = known.filter(({ chainId }) => only === undefined || chainId === only)
        if (chosen.length === 0)
          throw new UsageError(`trust: there is no active chain${only ? ` ${only}` : ''} in the catalogue`)
        const chains = chosen.map((chain) => toVerificationContext(snapshot, chain))
        await write({ version: 1, chains }, positionals[0])
      } finally {
        await catalogue.close()
      }
    })
  },
}

type File = { version: 1; chains: { chainId: number; vaults: unknown[]; signers: unknown[] }[] }

async function write(file: File, path: string | undefined): Promise<void> {
  const text = JSON.stringify(file, null, 2)
  if (path === undefined) return print(text)
  await writeFile(path, `${text}\n`)
  answer(
    { file: path, chains: file.chains.map(({ chainId }) => chainId) },
    file.chains.map(
      ({ chainId, vaults, signers }) =>
        `chain ${chainId}: ${vaults.length} vaults, ${signers.length} signers, in ${path}`,
    ),
  )
}
