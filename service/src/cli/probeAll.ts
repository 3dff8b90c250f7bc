import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { isAddress } from 'viem'
import { describeProbe, draftEntry } from '../features/catalogue/index.js'
import type { Clock } from '../kernel/clock.js'
import { EarnError } from '../kernel/errors.js'
import type { Chain } from '../rpc/chains.js'
import { type ProbedVault, ProbeError, probeVault } from '../vaults/index.js'
import { parseWhole, UsageError } from './command.js'

type Draft = ReturnType<typeof draftEntry>
/** A vault to probe, by the line of the file it stands in. */
export type ToProbe = { chainId: number; address: `0x${string}` }
/** What was found of one, as it is kept between two runs. */
type Found = ToProbe & { draft?: Draft; notes: string[]; kind: string; holds: string }

/** The vaults of a file: a chain id and an address a line, what follows a # left out. */
export function parseProbeFile(text: string): ToProbe[] {
  const found = text.split('\n').flatMap((line, at) => {
    const words = line
      .replace(/#.*$/, '')
      .trim()
      .split(/[\s,;]+/)
    if (words.length === 1 && words[0] === '') return []
    const [chainText, address, more] = words
    const chainId = parseWhole(chainText, 1)
    if (chainId === undefined || address === undefined || !isAddress(address, { strict: false }) || more !== undefined)
      throw new UsageError(`catalogue probe: line ${at + 1} is no chain id and address`)
    return [{ chainId, address: address.toLowerCase() as `0x${string}` }]
  })
  return [...new Map(found.map((each) => [keyOf(each), each])).values()]
}

const keyOf = ({ chainId, address }: ToProbe) => `${chainId}:${address}`

export type ProbeAll = {
  vaults: readonly ToProbe[]
  /** Where what was found is kept, a line a vault: what stands there is not asked again. */
  progressFile: string
  clock: Clock
  openChain(chainId: number): Promise<Chain>
  /** Says a line of the table. */
  say(line: string): void
}

/**
 * Probes every vault and drafts one catalogue file of them. A vault that cannot be listed is told and left out; a node that
 * fails ends the run, and the next one goes on from there.
 */
export async function probeAll({ vaults, progressFile, clock, openChain, say }: ProbeAll): Promise<Draft> {
  const known = await readProgress(progressFile)
  const left = vaults.filter((each) => !known.has(keyOf(each)))
  if (left.length < vaults.length) say(`${vaults.length - left.length} of ${vaults.length} are known from before`)
  const startedMs = clock.now().getTime()
  for (const [at, each] of left.entries()) {
    const found = await probeOne(await openChain(each.chainId), each)
    await appendFile(progressFile, `${JSON.stringify(found)}\n`)
    known.set(keyOf(each), found)
    const msEach = (clock.now().getTime() - startedMs) / (at + 1)
    const secondsLeft = Math.ceil((msEach * (left.length - at - 1)) / 1000)
    say(`${formatRow(found)}  [${at + 1 + vaults.length - left.length}/${vaults.length}, ${secondsLeft} s left]`)
    for (const note of found.notes) say(`    ${note}`)
  }
  return joinDrafts(vaults.flatMap((each) => known.get(keyOf(each))?.draft ?? []))
}

async function probeOne(chain: Chain, { chainId, address }: ToProbe): Promise<Found> {
  try {
    const probed: ProbedVault = await probeVault(chain, address)
    const holds = describeProbe(probed).find((line) => line.startsWith('holds: ')) ?? ''
    const draft = draftEntry(chainId, address, probed)
    return { chainId, address, draft, notes: probed.notes, kind: probed.kind, holds: holds.slice(7) }
  } catch (error) {
    if (error instanceof ProbeError || (error instanceof EarnError && error.code !== 503))
      return { chainId, address, notes: [error.message], kind: 'none', holds: '' }
    throw error
  }
}

function formatRow({ chainId, address, kind, holds }: Found): string {
  return `${String(chainId).padEnd(8)} ${address}  ${kind.padEnd(15)} ${holds}`
}

/** What an interrupted run found; its last line may be cut, and is asked again. */
async function readProgress(file: string): Promise<Map<string, Found>> {
  let text = ''
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole !== text) await writeFile(file, whole)
  const lines = whole.split('\n').filter(Boolean)
  return new Map(lines.map((line) => JSON.parse(line) as Found).map((found) => [keyOf(found), found]))
}

/** One file of all drafts: each token once, each slug its own. */
export function joinDrafts(drafts: readonly Draft[]): Draft {
  const tokens = new Map(
    drafts.flatMap((draft) => draft.tokens ?? []).map((token) => [`${token.chainId}:${token.address}`, token]),
  )
  const taken = new Set<string>()
  const opportunities = drafts
    .flatMap((draft) => draft.opportunities ?? [])
    .map((entry) => {
      let slug = entry.slug
      for (let n = 2; taken.has(slug); n++) slug = `${entry.slug}-${n}`
      taken.add(slug)
      return { ...entry, slug }
    })
  return { tokens: [...tokens.values()], opportunities }
}
