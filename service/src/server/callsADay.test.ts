import { expect, it } from 'vitest'
import { describeCallsADay, estimateCallsADay } from './callsADay.js'

const sum = (pace: Parameters<typeof estimateCallsADay>[0]) =>
  Object.values(estimateCallsADay(pace)).reduce((total, each) => total + each, 0)

it('an idle chain of 2 s blocks costs at most 50,000 calls a day, polled at its pace or told of its heads', () => {
  for (const isAnnounced of [true, false]) {
    const pace = { blockSeconds: 2, pollSeconds: 2, isAnnounced }
    expect(estimateCallsADay(pace).watch).toBeGreaterThan(43_200)
    expect(sum(pace)).toBeLessThanOrEqual(50_000)
  }
})

it('every block is read once, and a look between two blocks is a call too: half as many where heads are announced', () => {
  const slow = { blockSeconds: 12, pollSeconds: 2 }
  const polled = estimateCallsADay({ ...slow, isAnnounced: false }).watch
  const announced = estimateCallsADay({ ...slow, isAnnounced: true }).watch
  expect(polled - announced).toBe(21_600)
  expect(estimateCallsADay({ blockSeconds: 0.25, pollSeconds: 2, isAnnounced: true }).watch).toBeGreaterThan(345_600)
})

it('is told in one sentence, by job', () => {
  expect(describeCallsADay({ blockSeconds: 2, pollSeconds: 2, isAnnounced: false })).toMatch(
    /^a block every 2\.0 s: .* about 4\d,\d00 calls a day \(watch 4\d,\d00, capability and TVL 2,400, vault snapshots \d+, .*\), plus those for events in your vaults$/,
  )
})
