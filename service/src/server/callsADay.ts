import { daySeconds } from '../kernel/clock.js'
import { steady } from './watch.js'

/** Calls of watching for each 200 final blocks, or each second look at them: their logs and a header. */
const callsAgain = 2
/** Of final blocks one in a hundred is compared with its header again. */
const comparedShare = 0.01

export type ChainPace = {
  /** Mean time from a block to the next. */
  blockSeconds: number
  pollSeconds: number
  /** A url tells of new heads over WebSocket: between them a chain is polled at half its pace. */
  isAnnounced: boolean
}

/**
 * Estimates the calls that a chain costs its node in a day, by job, while its vaults (at most 150) are idle: every block is read
 * once, and a look without a new block is a call too. Events cost more calls.
 */
export function estimateCallsADay({
  blockSeconds,
  pollSeconds,
  isAnnounced,
}: ChainPace): Readonly<Record<Job, number>> {
  const blocks = daySeconds / Math.max(blockSeconds, 0.05)
  const looks = daySeconds / (isAnnounced ? 2 * pollSeconds : pollSeconds)
  const again = Math.max((daySeconds * 1_000) / steady.againMs, blocks / steady.againBlocks)
  const final = (daySeconds * 1_000) / steady.finalMs
  return {
    watch: Math.round(Math.max(blocks, looks) + final + callsAgain * again + comparedShare * blocks),
    // Once a minute, and once an hour as many trials as four vaults each take.
    'capability and TVL': 1_440 + 24 * 40,
    // Every quarter of an hour: the block of the instant, and all vaults at it.
    'vault snapshots': 96 * 8,
    'reconciliation of balances': 144 * 4,
  }
}

type Job = 'watch' | 'capability and TVL' | 'vault snapshots' | 'reconciliation of balances'

/** The same in words. */
export function describeCallsADay(pace: ChainPace): string {
  const jobs = estimateCallsADay(pace)
  const sum = Object.values(jobs).reduce((total, each) => total + each, 0)
  const spell = (calls: number) => (Math.round(calls / 100) * 100).toLocaleString('en')
  const parts = Object.entries(jobs).map(([job, calls]) => `${job} ${spell(calls)}`)
  return `a block every ${pace.blockSeconds.toFixed(1)} s: following it costs its node about ${spell(sum)} calls a day (${parts.join(', ')}), plus those for events in your vaults`
}
