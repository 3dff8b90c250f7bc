import { type Clock, systemClock } from '../src/kernel/clock.js'

/** A clock on which time passes `times` as fast: who waits an hour by it waits an hour divided by `times`. */
export function hurriedClock(times: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonicMs: () => systemClock.monotonicMs() * times,
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  }
}
