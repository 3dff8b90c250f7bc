import { openCatalogue } from '../features/catalogue/index.js'
import { type RecomputeWhat, recomputePoint } from '../features/history/index.js'
import { isRpcUrl } from '../kernel/config.js'
import { withContext } from './command.js'
import { answer, type Command, parseFlags, parseWhole, requireFlag, UsageError } from './terminal.js'
import { openUnlisted } from './unlisted.js'

const usage = `openearn recompute apr|apy|tvl CHAIN_ID VAULT --at RFC3339 [--apy-interval SECONDS] [--rpc URL]
  counts a served point again: its readings, every step, and the digits that are served
  --at: the timestamp of the point; --rpc: vault and blocks are read from this node instead of our tables (an archive node
  for an old point). The exit code is 1 where the digits differ.`

/** `openearn recompute` of one point of a vault's history. */
export function recomputeHistory(what: RecomputeWhat): Command {
  return { usage, run: (words) => run(what, words) }
}

async function run(what: RecomputeWhat, words: string[]): Promise<void> {
  const options = { at: { type: 'string' }, 'apy-interval': { type: 'string' }, rpc: { type: 'string' } } as const
  const { values, positionals } = parseFlags(words, options, 2)
  const chainId = parseWhole(positionals[0], 1)
  const vaultAddress = positionals[1]
  if (chainId === undefined || vaultAddress === undefined || !/^0[xX][0-9a-fA-F]{40}$/.test(vaultAddress))
    throw new UsageError(`recompute: give the chain id and the address of the vault\n${usage}`)
  const at = requireFlag(values.at, 'at')
  const apyInterval = parseWhole(values['apy-interval'], 1)
  if (values['apy-interval'] !== undefined && apyInterval === undefined)
    throw new UsageError('--apy-interval must be a whole number from 1')
  if (values.rpc !== undefined && !isRpcUrl(values.rpc)) throw new UsageError('--rpc must be an http or https url')
  await withContext(async (ctx) => {
    const catalogue = await openCatalogue(ctx)
    try {
      const input = { chainId, vaultAddress, at, ...(apyInterval === undefined ? {} : { apyInterval }) }
      const chain = values.rpc === undefined ? undefined : openUnlisted(chainId, [values.rpc])
      const found = await recomputePoint({ ...ctx, catalogue }, what, input, chain)
      answer(
        found,
        [
          ...found.inputs.flatMap((reading, index) => [
            found.inputs.length === 1 ? 'reading' : ['from', 'to'][index],
            ...Object.entries(reading).map(([name, value]) => `  ${name.padEnd(15)}${value ?? 'none'}`),
          ]),
          ...found.arithmetic,
          `recomputed: ${JSON.stringify(found.recomputed)}`,
          `served:     ${JSON.stringify(found.served)}`,
          found.equal ? 'equal' : 'NOT EQUAL',
        ].flatMap((line) => line ?? []),
      )
      if (!found.equal) process.exitCode = 1
    } finally {
      await catalogue.close()
    }
  })
}
