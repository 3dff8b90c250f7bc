import { describe, expect, it } from 'vitest'
import { findWithholding } from '../../snapshots/index.js'
import { listPastInstants } from './history.js'

const day = 86_400
const midnight = 1_760_000_000 - (1_760_000_000 % day)

describe('the past of the devnet', () => {
  it('ends so late that a vault read at its last quarter of an hour is served for half an hour, at whatever minute it begins', () => {
    for (let minute = 0; minute < 24 * 60; minute++) {
      const now = midnight + minute * 60
      const instants = listPastInstants(now - 60 * day, now)
      expect(instants.every((instant, index) => index === 0 || instant > instants[index - 1]!)).toBe(true)
      const read = Math.floor((now - 1) / 900) * 900
      const newest = instants.findLast((instant) => instant <= read)!
      expect(newest).toBeLessThan(now)
      const state = {
        ...{ isReadable: true, isMapped: true, isPaused: false, dustFloor: 1n, confirmationSeconds: 0 },
        ...{ newest: { atMs: newest * 1_000, totalSupply: 1n }, snapshotIntervalSeconds: 900 },
      }
      expect(findWithholding(state, (now + 1_600) * 1_000)).toBeUndefined()
    }
  })
})
