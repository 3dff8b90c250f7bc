import { readFile } from 'node:fs/promises'
import { openCatalogue } from '../features/catalogue/index.js'
import { findClaimsPause, findStream } from '../features/streams/index.js'
import {
  countSafely,
  describeCounted,
  follow,
  judgeReadings,
  listClaims,
  openRoot,
  type RootClaim,
  type RootVerdict,
  storedSource,
  withNode,
} from '../features/streams/rewards/index.js'
import { formatTs, fromUnixSeconds } from '../kernel/clock.js'
import { createOutbound } from '../kernel/outbound.js'
import { listNodes, openChains } from '../rpc/chains.js'
import type { ServiceContext } from '../server/operations.js'
import { readChains } from '../server/readChains.js'
import { withContext } from './command.js'
import { readReward } from './streamProof.js'
import { answer, parseFlags, UsageError } from './terminal.js'

type WatchContext = Pick<ServiceContext, 'db' | 'clock' | 'log' | 'config' | 'chains' | 'catalogue'>

/**
 * Counts the newest root of a stream again, and those on its chain that are not ours: from the stored facts and at each url.
 * Exit code 1: a source contradicts a root; 3: no source does, and one cannot tell or no node was asked.
 */
export async function watchRoots(id: string, words: string[]): Promise<void> {
  const flags = { rpc: { type: 'string', multiple: true }, file: { type: 'string' } } as const
  const { rpc, file } = parseFlags(words, flags).values
  await withContext(async (plain) => {
    const stream = await findStream(plain.db, id)
    if (!stream || stream.confirmedAt === null) throw new UsageError(`there is no confirmed stream ${id}`)
    const settings = (await readChains(plain)).map((chain) =>
      rpc && chain.chainId === stream.targetChainId ? { ...chain, rpcUrls: rpc } : chain,
    )
    const catalogue = await openCatalogue(plain)
    try {
      const ctx = { ...plain, chains: openChains(createOutbound(plain.clock), settings), catalogue }
      const claims = await listClaims(ctx, stream)
      if (claims.length === 0)
        throw new UsageError('the stream has no root yet: the tree of its first snapshot is to come')
      const leaves = file === undefined ? undefined : await readLeaves(file)
      report(await inTurn(claims.map((claim) => () => look(ctx, leaves ? withLeaves(claim, leaves) : claim))))
    } finally {
      await catalogue.close()
    }
  })
}

async function inTurn<T>(works: readonly (() => Promise<T>)[]): Promise<T[]> {
  const done: T[] = []
  for (const work of works) done.push(await work())
  return done
}

type Leaves = NonNullable<RootClaim['leaves']>

const readLeaves = async (path: string): Promise<{ root: string | null; leaves: Leaves }> =>
  readReward(path, await readFile(path, 'utf8')).result

/** A root that is not ours, with the leaves of its reward file. */
const withLeaves = (claim: RootClaim, file: { root: string | null; leaves: Leaves }): RootClaim =>
  claim.leaves === undefined && file.root === claim.root ? { ...claim, leaves: file.leaves } : claim

type Look = {
  claim: RootClaim
  verdict: RootVerdict
  isNodeTold: boolean
  sources: { source: string; root: string | null; total: bigint | null; found: string[] }[]
  pause: Awaited<ReturnType<typeof findClaimsPause>>
}

async function look(ctx: WatchContext, claim: RootClaim): Promise<Look> {
  const chain = ctx.chains.get(claim.stream.targetChainId)
  if (!chain) throw new UsageError(`chain ${claim.stream.targetChainId} has no RPC url`)
  const open = await openRoot(ctx, claim)
  const counted = [{ source: storedSource, kind: 'stored' as const, ...open.stored }]
  const seen: (Omit<(typeof counted)[number], 'kind'> & { kind: 'stored' | 'node' })[] = [...counted]
  for (const [source, node] of listNodes(chain, 'roots counted again')) {
    const told = await countSafely(ctx, open, { source, chains: withNode(ctx.chains, node) })
    seen.push({ source, kind: 'node', ...told })
  }
  const readAt = ctx.clock.now()
  const readings = seen.map(({ leaves: _, ...each }) => follow(undefined, { ...each, readAt }))
  const verdict = judgeReadings(claim, readings, { recheckMs: chain.reorgRecheckSeconds * 1_000 })
  const isWell = verdict === 'right' || verdict === 'open'
  return {
    ...{ claim, verdict, isNodeTold: seen.some(({ kind, result }) => kind === 'node' && result !== undefined) },
    sources: seen.map((each) => ({
      ...{ source: each.source, root: each.result?.root ?? null, total: each.result?.total ?? null },
      found: describeCounted(claim, each.source, each),
    })),
    pause: isWell ? undefined : await findClaimsPause(ctx.chains, claim.stream),
  }
}

const verdicts: Readonly<Record<RootVerdict, string>> = {
  right: 'right',
  open: 'NOT COUNTED by every source',
  alarm: 'DIFFERS',
  veto: 'DIFFERS, by two nodes that agree',
}

function report(looks: readonly Look[]): void {
  const lines = looks.flatMap(({ claim, verdict, sources, pause }) => {
    const { at, root, total, snapshot, stream } = claim
    const told = sources.flatMap(({ source, found }) => (found.length > 0 ? found : [`${source}: as it is`]))
    return [
      `${formatTs(fromUnixSeconds(at))}  ${root}  ${total}  ${snapshot ? 'ours' : 'not ours'}  ${verdicts[verdict]}`,
      ...told.map((line) => `  ${line}`),
      ...(pause && snapshot ? [`  before it is committed: openearn streams veto ${stream.id}`] : []),
      ...(pause ? [`  once it is on the chain, as ${pause.holders.join(' or ')}: ${pause.command}`] : []),
    ]
  })
  const shown = looks.map(({ claim, isNodeTold: _, ...each }) => ({
    ...{ at: formatTs(fromUnixSeconds(claim.at)), root: claim.root, total: claim.total },
    ...{ ours: claim.snapshot !== undefined, ...each },
  }))
  answer(shown, lines)
  if (looks.some(({ verdict }) => verdict === 'alarm' || verdict === 'veto')) process.exitCode = 1
  else if (looks.some(({ verdict, isNodeTold }) => verdict === 'open' || !isNodeTold)) process.exitCode = 3
}
