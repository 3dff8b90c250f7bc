import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { type Address, isAddress } from 'viem'
import { describeProbe, draftEntry } from '../features/catalogue/import/index.js'
import type { Clock } from '../kernel/clock.js'
import { type Bounds, fewHalvings, findFirstBlocks, noOldStates, ProbeError, probeVaults } from '../probing/index.js'
import type { Chain } from '../rpc/chains.js'
import { parseWhole, UsageError } from './terminal.js'

type Draft = ReturnType<typeof draftEntry>
/** A vault to probe, by the line of the file it stands in. */
export type ToProbe = { chainId: number; address: `0x${string}` }
/** The findings about one vault, as they are stored between two runs. */
type Found = ToProbe & { head: number; draft?: Draft; notes: string[]; kind: string; holds: string }

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
  /** The file with the findings, one a line: vaults in it are not probed again. */
  progressFile: string
  clock: Clock
  openChain(chainId: number): Promise<Chain>
  /** Prices of whole units of assets, by their addresses, as far as they are known. */
  findPrices(chainId: number, assets: readonly Address[]): Promise<ReadonlyMap<string, string>>
  /** Says a line of the table. */
  say(line: string): void
  /** Vaults probed together; their findings are stored at once. */
  perRound?: number
}

/**
 * Probes every vault and drafts one catalogue file of them. A vault that cannot be listed is told and left out; a node that
 * fails ends the run, and the next one goes on from there. The blocks they are read from are looked for in the end, all of a
 * chain together.
 */
export async function probeAll(asked: ProbeAll): Promise<Draft> {
  const { vaults, progressFile, clock, openChain, findPrices, say, perRound = 20 } = asked
  const progress = await readProgress(progressFile)
  const { known } = progress
  const left = vaults.filter((each) => !known.has(keyOf(each)))
  const before = vaults.length - left.length
  if (before > 0) say(`${before} of ${vaults.length} are known from before`)
  const chains = new Map<number, Chain>()
  const startedMs = clock.now().getTime()
  let done = 0
  for (const round of listRounds(left, perRound)) {
    const chain = await openChain(round.chainId)
    chains.set(round.chainId, chain)
    const found = await probeRound(chain, round.vaults, findPrices)
    await appendFile(progressFile, found.map((each) => `${JSON.stringify(each)}\n`).join(''))
    for (const each of found) known.set(keyOf(each), each)
    const seconds = Math.max(0.001, (clock.now().getTime() - startedMs) / 1000)
    for (const each of found) {
      done += 1
      const rate = (done / seconds).toFixed(1)
      const secondsLeft = Math.ceil((seconds / done) * (left.length - done))
      say(`${formatRow(each)}  [${before + done}/${vaults.length}, ${rate} a second, ${secondsLeft} s left]`)
      for (const note of each.notes) say(`    ${note}`)
    }
  }
  const drafts: Draft[] = []
  for (const chainId of new Set(vaults.map((each) => each.chainId))) {
    const found = vaults.flatMap((each) => (each.chainId === chainId ? (known.get(keyOf(each)) ?? []) : []))
    const drafted = found.filter(({ draft }) => draft !== undefined)
    if (drafted.length === 0) continue
    say(`looking for the first blocks of ${drafted.length} vaults on chain ${chainId}`)
    const chain = chains.get(chainId) ?? (await openChain(chainId))
    const starts = await findStarts(chain, drafted, { progress, progressFile })
    for (const each of drafted) if (each.draft) drafts.push(withStartBlock(each.draft, starts.get(listedAt(each))))
    const without = drafted.filter((each) => starts.get(listedAt(each)) === undefined)
    for (const { address } of without) say(`    ${address}: ${noOldStates}`)
  }
  const joined = joinDrafts(drafts)
  for (const line of describeFloors(joined)) say(line)
  return joined
}

/** How many of the drafts have an LP floor, and the assets without a price of the others. */
function describeFloors({ opportunities = [] }: Draft): string[] {
  const without = opportunities.filter(({ vault }) => vault.lpFloor === undefined)
  const assets = [...new Set(without.map(({ vault }) => `${vault.chainId}:${vault.asset}`))]
  const others = assets.length === 0 ? [] : [`no LP floor, for want of a price: vaults of ${assets.join(', ')}`]
  return [`LP floor of a cent's worth: ${opportunities.length - without.length} of ${opportunities.length}`, ...others]
}

/** Vaults of one chain, `perRound` at once. */
function listRounds(vaults: readonly ToProbe[], perRound: number): { chainId: number; vaults: ToProbe[] }[] {
  return [...new Set(vaults.map(({ chainId }) => chainId))].flatMap((chainId) => {
    const own = vaults.filter((each) => each.chainId === chainId)
    const rounds = Array.from({ length: Math.ceil(own.length / perRound) }, (_, at) => at * perRound)
    return rounds.map((from) => ({ chainId, vaults: own.slice(from, from + perRound) }))
  })
}

async function probeRound(
  chain: Chain,
  vaults: readonly ToProbe[],
  findPrices: ProbeAll['findPrices'],
): Promise<Found[]> {
  const { head, found } = await probeVaults(
    chain,
    vaults.map(({ address }) => address),
  )
  const assets = found.flatMap((each) => (each instanceof ProbeError ? [] : [each.asset.address]))
  const prices = assets.length === 0 ? undefined : await findPrices(chain.chainId, assets)
  return vaults.map(({ chainId, address }, index) => {
    const probed = found[index]
    if (!probed || probed instanceof ProbeError)
      return { chainId, address, head, notes: [probed?.message ?? 'it did not answer'], kind: 'none', holds: '' }
    const holds = describeProbe(probed).find((line) => line.startsWith('holds: ')) ?? ''
    const draft = draftEntry(chainId, probed.address, probed, prices?.get(probed.asset.address.toLowerCase()))
    return { chainId, address, head, draft, notes: probed.notes, kind: probed.kind, holds: holds.slice(7) }
  })
}

/** The contract a finding is listed at, where the address that was asked about is only a part of it. */
function listedAt({ address, draft }: Found): Address {
  return (draft?.opportunities?.[0]?.vault.address ?? address).toLowerCase() as Address
}

type Progress = Awaited<ReturnType<typeof readProgress>>

/** The first blocks of vaults of a chain, from where the search stood, up to the newest block one was probed at. */
async function findStarts(
  chain: Chain,
  found: readonly Found[],
  { progress, progressFile }: { progress: Progress; progressFile: string },
): Promise<Map<Address, number | undefined>> {
  const { chainId } = chain
  return findFirstBlocks(chain, found.map(listedAt), Math.max(...found.map(({ head }) => head)), {
    halvings: fewHalvings,
    known: progress.bounds.get(chainId) ?? new Map(),
    record: (bounds) => appendFile(progressFile, `${JSON.stringify({ chainId, bounds: [...bounds] })}\n`),
  })
}

function withStartBlock(draft: Draft, startBlock: number | undefined): Draft {
  if (startBlock === undefined) return draft
  const opportunities = (draft.opportunities ?? []).map((entry) => ({
    ...entry,
    vault: { ...entry.vault, startBlock },
  }))
  return { ...draft, opportunities }
}

function formatRow({ chainId, address, kind, holds }: Found): string {
  return `${String(chainId).padEnd(8)} ${address}  ${kind.padEnd(15)} ${holds}`
}

/** Reads the findings of an interrupted run, and the state of its search for first blocks; an incomplete last line is probed again. */
async function readProgress(file: string) {
  let text = ''
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole !== text) await writeFile(file, whole)
  const known = new Map<string, Found>()
  const bounds = new Map<number, Map<Address, Bounds>>()
  for (const line of whole.split('\n').filter(Boolean)) {
    const kept = JSON.parse(line) as Found | { chainId: number; bounds: [Address, Bounds][] }
    if ('bounds' in kept) bounds.set(kept.chainId, new Map([...(bounds.get(kept.chainId) ?? []), ...kept.bounds]))
    else known.set(keyOf(kept), kept)
  }
  return { known, bounds }
}

/** One file of all drafts: each token and each vault once, each slug its own. Of two drafts of a vault the one that knows its escrow stays. */
export function joinDrafts(drafts: readonly Draft[]): Draft {
  const tokens = new Map(
    drafts.flatMap((draft) => draft.tokens ?? []).map((token) => [`${token.chainId}:${token.address}`, token]),
  )
  const taken = new Set<string>()
  const vaults = new Map<string, NonNullable<Draft['opportunities']>[number]>()
  for (const entry of drafts.flatMap((draft) => draft.opportunities ?? [])) {
    const key = `${entry.vault.chainId}:${entry.vault.address.toLowerCase()}`
    const known = vaults.get(key)
    if (known === undefined || (known.vault.escrow === undefined && entry.vault.escrow !== undefined))
      vaults.set(key, entry)
  }
  const opportunities = [...vaults.values()].map((entry) => {
    let slug = entry.slug
    for (let n = 2; taken.has(slug); n++) slug = `${entry.slug}-${n}`
    taken.add(slug)
    return { ...entry, slug }
  })
  return { tokens: [...tokens.values()], opportunities }
}
