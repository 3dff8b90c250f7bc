import type { Clock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'

/** How often the progress of a chain that catches up is logged. */
const everyMs = 10_000

/**
 * The progress of a chain that catches up, at most every 10 s: percent, blocks a second since the start, and seconds left at that
 * rate. Undefined in between, and before there is a rate.
 */
export function createProgress(clock: Pick<Clock, 'monotonicMs'>) {
  let start: { block: number; atMs: number } | undefined
  let saidMs = Number.NEGATIVE_INFINITY
  return (block: number, head: number): string | undefined => {
    const nowMs = clock.monotonicMs()
    if (!start || block < start.block || block >= head) {
      start = block >= head ? undefined : { block, atMs: nowMs }
      return undefined
    }
    const seconds = (nowMs - start.atMs) / 1000
    const done = block - start.block
    if (nowMs - saidMs < everyMs || seconds <= 0 || done === 0) return undefined
    saidMs = nowMs
    const percent = Math.floor((done / (head - start.block)) * 100)
    const left = Math.ceil(((head - block) * seconds) / done)
    return `catching up: ${percent} %, block ${block} of ${head}, ${Math.round(done / seconds)} blocks a second, ${left} s left`
  }
}

/** Logged at once, and again once a minute while it lasts. */
const repeatMs = 60_000

export function createAlarmLog(log: Log, clock: Pick<Clock, 'monotonicMs'>) {
  let said: { reason: string; atMs: number } | undefined
  return (about: object, reason: string): void => {
    const atMs = clock.monotonicMs()
    if (said?.reason === reason && atMs - said.atMs < repeatMs) return
    said = { reason, atMs }
    log.error(about, reason)
  }
}
