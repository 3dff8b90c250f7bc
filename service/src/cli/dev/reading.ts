import { listVaultStatus } from '../../features/status/index.js'
import { findNextInstant, listAllStreams, listTaken } from '../../features/streams/index.js'
import { type Clock, fromUnixSeconds, toUnixSeconds } from '../../kernel/clock.js'
import type { Config } from '../../kernel/config.js'
import type { Context } from '../../postgres/context.js'
import { devnetChainId } from '../../rpc/devnet.js'
import { listHistoryProgress } from '../../snapshots/index.js'
import { findVaultKind } from '../../vaults/index.js'

type Base = Pick<Context, 'db' | 'clock'> & { config: Pick<Config, 'streamSnapshotSeconds'> }

export const allThere = 'all of the demo is there: deposits, sixty days of history, rewards'

/**
 * Says once that nothing of the demo is unread any more. Everything can be used before that; answers lack what is unread.
 * A stop ends the waiting without a word.
 */
export async function sayWhenAllThere(of: {
  look: () => Promise<readonly string[]>
  say: (line: string) => void
  clock: Clock
  signal: AbortSignal
}): Promise<void> {
  const { look, say, clock, signal } = of
  const start = clock.monotonicMs()
  while ((await look()).length > 0) {
    await clock.sleep(1_000, signal)
    if (signal.aborted) return
  }
  say(`${allThere} (${Math.ceil((clock.monotonicMs() - start) / 1_000)} s after ready)`)
}

/** The parts of the demo that are still being read, in words; none once all is there. */
export async function listUnread(ctx: Base): Promise<string[]> {
  const parts = await Promise.all([listDeposits(ctx), listReadings(ctx), listSnapshots(ctx)])
  return parts.flat()
}

const many = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

async function listFigured({ db, clock }: Base) {
  const vaults = await listVaultStatus(db, clock.now(), { chainId: devnetChainId })
  return vaults.filter(({ kind }) => findVaultKind(kind)?.readFigures)
}

async function listDeposits(ctx: Base): Promise<string[]> {
  const vaults = (await listFigured(ctx)).filter(({ synced }) => synced !== true)
  return vaults.length === 0 ? [] : [`the deposits of ${many(vaults.length, 'vault')}`]
}

/** The past of vaults: its gaps are noted with the first reading of the present. */
async function listReadings(ctx: Base): Promise<string[]> {
  const vaults = await listFigured(ctx)
  const now = ctx.clock.now().getTime()
  const isNoted = vaults.some(
    ({ lastSnapshotAt, snapshotIntervalSeconds }) =>
      lastSnapshotAt !== null && lastSnapshotAt.getTime() > now - 2_000 * snapshotIntervalSeconds,
  )
  if (!isNoted) return ['the past of the vaults']
  return (await listHistoryProgress(ctx.db))
    .filter(({ chainId, reason }) => chainId === devnetChainId && reason === null)
    .map(({ vaults: count, percent, secondsLeft }) => {
      const left = secondsLeft === null ? '' : `, about ${secondsLeft} s left`
      return `the past of ${many(count, 'vault')} (${Math.floor(percent)} %${left})`
    })
}

/** Reward streams whose newest due snapshot is not taken: it rests on the past of their vaults. */
async function listSnapshots({ db, clock, config }: Base): Promise<string[]> {
  const now = clock.now()
  const every = config.streamSnapshotSeconds
  const newestDue = fromUnixSeconds(findNextInstant(toUnixSeconds(now), every) - every)
  const streams = (await listAllStreams(db)).filter(({ startsAt }) => startsAt < newestDue)
  const taken = await listTaken(
    db,
    streams.map(({ id }) => id),
  )
  const awaited = streams.filter(({ id, endsAt }) => {
    const due = endsAt !== null && endsAt < newestDue ? endsAt : newestDue
    const newest = taken.get(id)?.newest
    return newest === undefined || newest.at < toUnixSeconds(due)
  })
  return awaited.length === 0 ? [] : [`the rewards of ${many(awaited.length, 'stream')}`]
}
