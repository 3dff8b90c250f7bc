import { openCatalogue } from '../features/catalogue/index.js'
import {
  type RecomputedBucket,
  recomputeDistributorLps,
  recomputeMetrics,
  recomputeVaultLps,
} from '../features/metrics/index.js'
import { withContext } from './command.js'
import { answer, type Command, parseFlags, parseWhole, requireFlag, UsageError } from './terminal.js'

const usage = `openearn recompute metrics DISTRIBUTOR --at RFC3339 [--step SECONDS]      a distributor's attributed TVL
openearn recompute lps DISTRIBUTOR --at RFC3339 [--step SECONDS]          a distributor's LPs
openearn recompute lps CHAIN_ID VAULT --at RFC3339 [--step SECONDS]       a vault's LPs
  counts a served bucket again from every change of a lot or a balance before its end, not from the sums that are kept
  --at: an instant of the bucket; --step: its seconds, 900 unless told. The exit code is 1 where the digits differ.`

/** `openearn recompute` of one bucket of metrics or LPs. */
export function recomputeBucket(what: 'lps' | 'metrics'): Command {
  return { usage, run: (words) => run(what, words) }
}

async function run(what: 'lps' | 'metrics', words: string[]): Promise<void> {
  const options = { at: { type: 'string' }, step: { type: 'string' } } as const
  const { values, positionals } = parseFlags(words, options, what === 'lps' ? 2 : 1)
  const [first, vaultAddress] = positionals
  if (first === undefined) throw new UsageError(`recompute ${what}: say of whom\n${usage}`)
  const at = requireFlag(values.at, 'at')
  const step = parseWhole(values.step, 1)
  if (values.step !== undefined && step === undefined) throw new UsageError('--step must be a whole number from 1')
  const chainId = parseWhole(first, 1)
  if (vaultAddress !== undefined) {
    if (chainId === undefined || !/^0[xX][0-9a-fA-F]{40}$/.test(vaultAddress))
      throw new UsageError(`recompute lps: give the chain id and the address of the vault\n${usage}`)
    if (step !== undefined && step % 900 !== 0) throw new UsageError('--step must be a multiple of 900 for a vault')
  }
  await withContext(async (ctx) => {
    const catalogue = await openCatalogue(ctx)
    try {
      const bucket = { at, ...(step === undefined ? {} : { step }) }
      const own = { ...ctx, catalogue }
      const found =
        vaultAddress !== undefined && chainId !== undefined
          ? await recomputeVaultLps(own, { chainId, vaultAddress, ...bucket })
          : await (what === 'lps' ? recomputeDistributorLps : recomputeMetrics)(own, {
              distributorId: first,
              ...bucket,
            })
      answer(found, describe(found))
      if (!found.equal) process.exitCode = 1
    } finally {
      await catalogue.close()
    }
  })
}

function describe({ from, to, inputs, arithmetic, recomputed, served, equal }: RecomputedBucket): string[] {
  return [
    `bucket ${from} to ${to}`,
    ...inputs.flatMap((input) =>
      Object.entries(input).map(([name, value]) => `  ${name.padEnd(15)}${value ?? 'none'}`),
    ),
    ...arithmetic,
    `recomputed: ${JSON.stringify(recomputed)}`,
    `served:     ${JSON.stringify(served)}`,
    equal ? 'equal' : 'NOT EQUAL',
  ]
}
