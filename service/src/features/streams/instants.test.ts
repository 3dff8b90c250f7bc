import { describe, expect, it } from 'vitest'
import { findDueInstant, findNextInstant, findUsedUpEnd, type SnapshotCourse } from './instants.js'

const course = (changes: Partial<SnapshotCourse>): SnapshotCourse => ({
  ...{ startAt: 1_000, endAt: null, lastAt: null, isLastTaken: false, everySeconds: 600, finalAt: 1_801 },
  ...changes,
})

describe('the instant a snapshot of a stream is due of', () => {
  it.each<[string, Partial<SnapshotCourse>, number | undefined]>([
    ['the newest of the grid that is final', {}, 1_800],
    ['not one whose own second may still get a block', { finalAt: 1_800 }, 1_200],
    ['none before the first after the start', { finalAt: 1_200 }, undefined],
    ['none at the start itself', { startAt: 1_200, finalAt: 1_300 }, undefined],
    ['none twice', { lastAt: 1_800 }, undefined],
    ['only the newest of those that were missed', { lastAt: 1_200, finalAt: 6_100 }, 6_000],
    ['the end once it is reached, off the grid', { endAt: 1_700 }, 1_700],
    ['none beyond the end', { endAt: 1_700, lastAt: 1_700, finalAt: 9_000 }, undefined],
    ['the grid while the end is ahead', { endAt: 1_801 }, 1_800],
    ['none after the last was taken', { isLastTaken: true, endAt: 1_700 }, undefined],
  ])('is %s', (_what, changes, due) => {
    expect(findDueInstant(course(changes))).toBe(due)
  })

  it('is moved, where a stream is ended early, to the next of the grid and never to now', () => {
    expect([1_199, 1_200, 1_201].map((now) => findNextInstant(now, 600))).toEqual([1_200, 1_800, 1_800])
  })
})

describe('the end of a stream without one', () => {
  const usedUp = { hasEnd: false, usedUpAt: 1_000, now: 5_000, usedUpSeconds: 4_000, everySeconds: 600 }
  it.each<[string, Partial<typeof usedUp> | { usedUpAt: null }, number | undefined]>([
    ['is the next instant of the grid once its budget has been used up for so long', {}, 5_400],
    ['is not set a second before', { now: 4_999 }, undefined],
    ['is not set while there is budget', { usedUpAt: null }, undefined],
    ['is not moved where it was set', { hasEnd: true }, undefined],
    ['is after now where now is an instant', { now: 5_400 }, 6_000],
  ])('%s', (_what, changes, end) => {
    expect(findUsedUpEnd({ ...usedUp, ...changes })).toBe(end)
  })
})
