import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  decodeRewardFile,
  hashFile,
  type JudgedRewards,
  judgeRewards,
  type RewardFile,
  RewardFileError,
  readRewards,
  sortFiles,
} from '../features/streams/rewards/index.js'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import { createOutbound } from '../kernel/outbound.js'
import { type Chains, openChains } from '../rpc/chains.js'
import { createNode } from '../rpc/node.js'
import { createRpc } from '../rpc/rpc.js'
import { answer, UsageError } from './terminal.js'

/** Parses a reward file. Throws UsageError if it is malformed. */
export function readReward(name: string, text: string): RewardFile {
  try {
    return { name, hash: hashFile(text), ...decodeRewardFile(text) }
  } catch (error) {
    throw error instanceof RewardFileError ? new UsageError(`${name}: ${error.message}`) : error
  }
}

/**
 * Counts the roots of reward files of one stream again, each from the state of the one before; with nodes also against what
 * they tell. Says what is only believed. Exit code 1: something differs; 3: nothing does, and something is believed.
 */
export async function recomputeFiles(
  paths: readonly string[],
  { rpc = [], terms }: { rpc?: readonly string[] | undefined; terms?: string | undefined },
): Promise<void> {
  if (terms !== undefined && !/^0x[0-9a-f]{64}$/.test(terms))
    throw new UsageError('--terms must be the SHA-256 that `streams recompute` prints of the terms: 0x and 64 digits')
  const texts = (await Promise.all(paths.map(listFiles))).flat()
  const files = sortFiles(await Promise.all(texts.map(async (path) => readReward(path, await readFile(path, 'utf8')))))
  const [first] = files
  if (!first) throw new UsageError('there is no reward file in what --file names')
  const stranger = files.find(({ inputs }) => inputs.terms.streamId !== first.inputs.terms.streamId)
  if (stranger)
    throw new UsageError(`${first.name} and ${stranger.name} are of two streams: give the files of one at a time`)
  const chains = await openNodes(rpc)
  const { target } = first.inputs.origin
  if (rpc.length > 0 && !chains.has(target.chainId))
    throw new UsageError(`the stream pays the holders of a token on chain ${target.chainId}: no --rpc is of that chain`)
  const found = await readRewards({ chains, clock: systemClock, log: silentLog }, files)
  report(judgeRewards(files, { found, terms }))
}

/** A file, or every .json of a folder. */
async function listFiles(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  return (await readdir(path)).filter((name) => name.endsWith('.json')).map((name) => join(path, name))
}

/** The chains of some urls, each asked which it is. */
async function openNodes(urls: readonly string[]): Promise<Chains> {
  const outbound = createOutbound(systemClock)
  const byChain = new Map<number, string[]>()
  for (const url of urls) {
    const chainId = await createNode(createRpc(outbound, [url])).chainId()
    byChain.set(chainId, [...(byChain.get(chainId) ?? []), url])
  }
  const settings = [...byChain].map(([chainId, rpcUrls]) => ({
    ...{ chainId, name: `chain ${chainId}`, rpcUrls, nativeSymbol: '', confirmations: 1, finalityDepth: 64 },
    ...{ pollIntervalMs: 1_000, reorgRecheckSeconds: 0, entryPoints: [] },
  }))
  return openChains(outbound, settings)
}

function report({ files, believed, terms }: JudgedRewards): void {
  const isProved = believed.length === 0
  const kept = isProved ? 'as kept' : 'as kept, if the beliefs below hold'
  const lines = files.flatMap(({ name, root, total, problems }) => [
    `${name}  ${root ?? 'no root'}  ${total}  ${problems.length > 0 ? 'DIFFERS' : kept}`,
    ...problems.map((problem) => `  ${problem}`),
  ])
  const shown = files.map(({ leaves: _, total, problems, ...file }) => ({
    ...{ ...file, total: String(total), same: problems.length === 0, problems },
  }))
  answer({ terms, files: shown, believed }, [...lines, ...believed.map((line) => `believed: ${line}`)])
  if (files.some(({ problems }) => problems.length > 0)) process.exitCode = 1
  else if (!isProved) process.exitCode = 3
}
