import { type Address, zeroAddress } from 'viem'
import type { Log } from '../kernel/log.js'
import type { Database } from '../postgres/pool.js'
import type { Chain } from '../rpc/chains.js'
import { multicallMany } from '../rpc/manyReads.js'
import { combine, multicall, readContract } from '../rpc/multicall.js'
import type { Header } from '../rpc/raw.js'
import { askFeed, askRound, type Feed, feedAbi, judgeRound, observeFeed, toSource } from './feeds.js'
import { recordObservations } from './store.js'
import { listFeedHistories, recordWalk, type Walk } from './storeSources.js'

/** A proxy's round: the phase above, the round of that phase's aggregator below. */
const phaseBits = 64n
const roundMask = (1n << phaseBits) - 1n
/** The most rounds of an aggregator: a larger number is wrong. */
const roundsMax = 10n ** 9n
const roundsPerCall = 200n

/**
 * Reads some of the past of each feed, newest round first, through all phases, until `since` or a round that is read
 * already: rounds that came while nobody watched are read so too. Rounds that do not respond are left out. Returns whether
 * there is more.
 */
export async function readFeedHistory(
  { db, log }: { db: Database; log: Log },
  chain: Chain,
  { top, since }: { top: Header; since: number },
): Promise<boolean> {
  let more = false
  for (const history of await listFeedHistories(db, chain.chainId)) {
    try {
      if (await readSome(db, chain, history, { top, since })) more = true
    } catch (error) {
      log.warn({ err: error, chainId: chain.chainId, token: history.address }, 'the past of a feed could not be read')
    }
  }
  return more
}

/** The walk that goes on, or one from the latest round down to those that are read. */
function openWalk(walk: Walk | undefined, latest: bigint): Walk {
  if (!walk) return { next: latest, newest: latest, stop: 0n }
  if (walk.next !== null) return walk
  return latest > walk.newest ? { next: latest, newest: latest, stop: walk.newest } : walk
}

async function readSome(
  db: Database,
  chain: Chain,
  history: Feed & { walk: Walk | undefined },
  { top, since }: { top: Header; since: number },
): Promise<boolean> {
  const source = toSource(history)
  const at = { blockHash: top.hash }
  const { answer: latest } = await multicall(chain, askFeed(history), at)
  const { decimals, round } = latest
  if (!round || decimals === undefined) {
    const walk = history.walk ?? { next: null, newest: 0n, stop: 0n }
    await recordWalk(db, history, { source, walk, problem: judgeRound(latest, top) })
    return false
  }
  const walk = openWalk(history.walk, round[0])
  if (walk.next === null) return false
  const from = walk.next
  const left = [from & roundMask, from - walk.stop, roundsPerCall].reduce((least, each) =>
    each < least ? each : least,
  )
  const ids = Array.from({ length: Number(left) }, (_, index) => from - BigInt(index))
  const reads = ids.map((id) => askRound(history, id))
  const { answers } = await multicallMany(chain, reads, at, Number(roundsPerCall))
  const told = answers.flatMap((read, index) =>
    observeFeed(history, { decimals, round: read?.answer }, top, ids[index]),
  )
  await recordObservations(db, told)
  const isPast = told.some(({ observedAt }) => observedAt.getTime() < since * 1_000)
  const below = from - left
  const start: PhaseStart =
    isPast || below <= walk.stop
      ? { next: null }
      : (below & roundMask) > 0n
        ? { next: below }
        : await findPhaseBefore(chain, history, from >> phaseBits, at)
  const next = start.next !== null && start.next > walk.stop ? start.next : null
  await recordWalk(db, history, { source, walk: { ...walk, next }, problem: start.problem })
  return next !== null
}

/** The round at which reading of the phase before begins; null: no such phase. */
type PhaseStart = { next: bigint | null; problem?: string }

/** The last round of the newest phase before one that has rounds; phases that say nothing sensible are passed over. */
async function findPhaseBefore(
  chain: Chain,
  { feed }: Feed,
  phase: bigint,
  at: { blockHash: string },
): Promise<PhaseStart> {
  let problem: string | undefined
  for (let before = phase - 1n; before > 0n; before -= 1n) {
    const asked = readContract(feed, feedAbi, 'phaseAggregators', [Number(before)])
    const { answer: aggregator } = await multicall(chain, asked, at)
    const last = isThere(aggregator) ? await readLastRound(chain, aggregator, at) : undefined
    if (last !== undefined && last > 0n && last <= roundsMax)
      return { next: (before << phaseBits) | last, ...(problem ? { problem } : {}) }
    problem = `phase ${before} of the feed does not answer: its rounds are missing`
  }
  return { next: null, ...(problem ? { problem } : {}) }
}

const isThere = (address: Address | undefined): address is Address => address !== undefined && address !== zeroAddress

async function readLastRound(chain: Chain, aggregator: Address, at: { blockHash: string }) {
  const { answer } = await multicall(chain, combine({ last: readContract(aggregator, feedAbi, 'latestRound', []) }), at)
  return answer.last
}
