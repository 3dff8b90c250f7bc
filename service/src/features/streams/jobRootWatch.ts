import type { Chain } from '../../rpc/chains.js'
import type { StreamJobContext } from './jobSnapshots.js'
import { openRoot, type RootClaim } from './rewards/countRoot.js'
import { countSafely, describeCounted, listClaims, storedSource, withNode } from './rewards/lookAtRoot.js'
import { contradicts, follow, isDue, judgeReadings, type RootReading } from './rewards/rootVerdict.js'
import { findClaimsPause } from './roles.js'
import { listRootReadings, type RootKey, recordRootReading } from './storeRootReadings.js'
import { listStreams } from './storeStreams.js'
import { vetoTaken } from './veto.js'

export type RootWatchSettings = {
  /** Whether a root is vetoed that two readings of nodes contradict; else there is an alarm only. */
  vetoes: boolean
  /** Each url of a chain as a chain of its own, by a name. */
  nodesOf(chain: Chain): ReadonlyMap<string, Chain>
}

/** Wallets that a log line names at most. */
const namedMax = 20

/**
 * Looks at the newest root of each stream before it is committed, and at the newest root on its chain that is not ours: counts
 * it again from the stored facts and at each url, tells what differs, and by the settings vetoes a root of ours.
 */
export async function runRootWatch(ctx: StreamJobContext, settings: RootWatchSettings): Promise<void> {
  const { db, log } = ctx
  for (const stream of await listStreams(db, {})) {
    try {
      for (const claim of await listClaims(ctx, stream)) await watchRoot(ctx, claim, settings)
    } catch (error) {
      log.warn({ err: error, streamId: stream.id }, 'the root of a stream could not be looked at')
    }
  }
}

async function watchRoot(ctx: StreamJobContext, claim: RootClaim, settings: RootWatchSettings): Promise<void> {
  const { db, clock } = ctx
  const { stream, at, root, total, snapshot } = claim
  const chain = ctx.chains.get(stream.targetChainId)
  if (root === null || !chain) return
  const key = { streamId: stream.id, at, root, total }
  const recheckMs = chain.reorgRecheckSeconds * 1_000
  const readings = new Map(await listRootReadings(db, key, snapshot?.rootedAt ?? new Date(0)))
  const nodes = settings.nodesOf(chain)
  const due = [storedSource, ...nodes.keys()].filter((source) =>
    isDue(claim, readings.get(source), { now: clock.now(), recheckMs }),
  )
  if (due.length === 0) return
  const open = await openRoot(ctx, claim)
  const lines: string[] = []
  for (const source of due) {
    const node = nodes.get(source)
    const counted = node ? await countSafely(ctx, open, { source, chains: withNode(ctx.chains, node) }) : open.stored
    const { result, problems } = counted
    const told = { source, kind: node ? 'node' : 'stored', result, problems, readAt: clock.now() } as const
    const reading = follow(readings.get(source), told)
    await recordRootReading(db, key, reading)
    readings.set(source, reading)
    lines.push(...describeCounted(claim, source, counted))
  }
  const now = [...readings.values()].filter(({ source }) => source === storedSource || nodes.has(source))
  await conclude(ctx, { claim, key, lines, readings: now, recheckMs }, settings)
}

type Looked = { claim: RootClaim; key: RootKey; lines: string[]; readings: readonly RootReading[]; recheckMs: number }

async function conclude(ctx: StreamJobContext, looked: Looked, { vetoes }: RootWatchSettings): Promise<void> {
  const { db, clock, log, chains } = ctx
  const { claim, key, lines, readings, recheckMs } = looked
  const { stream, snapshot } = claim
  const { streamId, at, root } = key
  const verdict = judgeReadings(claim, readings, { recheckMs })
  const told = { streamId, at, root, found: lines.slice(0, namedMax), more: Math.max(0, lines.length - namedMax) }
  if (verdict === 'right' || (verdict === 'open' && snapshot)) {
    const isOurs = snapshot !== undefined
    if (verdict === 'right')
      log[isOurs ? 'info' : 'warn']({ streamId, at, root, isOurs }, 'a root is counted again: it is right')
    return
  }
  if (verdict === 'veto' && vetoes && snapshot && (await vetoTaken(db, snapshot, clock.now()))) {
    log.error(
      { ...told, isLast: snapshot.isLast },
      'the root of a snapshot is not what the facts come to: it is vetoed',
    )
    return
  }
  // A source that says again what it said before is no news, nor that one cannot tell of a root of ours.
  const isNew = ({ since, readAt }: RootReading) => since.getTime() === readAt.getTime()
  if (!readings.some((reading) => isNew(reading) && (!snapshot || contradicts(claim, reading)))) return
  const pause = await findClaimsPause(chains, stream)
  log.error(
    { ...told, veto: snapshot && `openearn streams veto ${streamId}`, pause },
    snapshot
      ? 'the root of a snapshot is not what the facts come to: veto it, or pause the claims if it is committed'
      : 'a root on the chain is not ours, and not what the facts come to: pause the claims unless it is known',
  )
}
