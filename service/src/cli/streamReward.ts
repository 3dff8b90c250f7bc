import { writeFile } from 'node:fs/promises'
import { proveReward, type Unproved } from '../features/streams/rewards/index.js'
import { formatTs } from '../kernel/clock.js'
import { withContext } from './command.js'
import { answer, parseFlags, print, UsageError } from './terminal.js'

const reasons: Readonly<Record<Unproved, string>> = {
  'no root': 'no root of the stream is confirmed and claimable yet',
  'no file': 'no reward file is kept of the root that the contract holds: `openearn streams files` shows what is kept',
  'nothing earned': 'the wallet has earned nothing in the stream by its last root',
}

/**
 * Writes the proof of a wallet's reward that `verifyReward` of the sdk checks; with --leaf without the reward file, whose inputs
 * are those of all holders.
 */
export async function proveWallet(id: string, words: string[]): Promise<void> {
  const flags = { out: { type: 'string' }, leaf: { type: 'boolean' } } as const
  const { values, positionals } = parseFlags(words, flags, 1)
  const wallet = positionals[0]?.toLowerCase() ?? ''
  if (!/^0x[0-9a-f]{40}$/.test(wallet)) throw new UsageError('streams prove: name the wallet by its address')
  await withContext(async ({ db }) => {
    const found = await proveReward(db, id, wallet)
    if (typeof found === 'string') throw new UsageError(reasons[found])
    const { root, at, hash, text: file, cumulative, path } = found
    const proof = { version: 1, wallet, cumulative: String(cumulative), path }
    const text = JSON.stringify(values.leaf ? proof : { ...proof, file }, null, 2)
    if (values.out === undefined) return print(text)
    await writeFile(values.out, `${text}\n`)
    const told = `${cumulative} of ${wallet} by the root ${root} of ${formatTs(at)}`
    const of = values.leaf ? '' : `, with the reward file ${hash}`
    answer({ proof: values.out, root, file: values.leaf ? null : hash }, [`${told}${of}, in ${values.out}`])
  })
}
