import { describe, expect, it } from 'vitest'
import { recount } from './recount.js'
import { limit, seeds } from './seeds.js'
import { writeSchedule } from './traffic/schedule.js'
import { config } from './traffic/world.js'

describe('the second derivation over random traffic', () => {
  it(
    'sum up: lots never exceed a balance, kept marks never what a wallet gained',
    () => {
      for (const seed of seeds) {
        const { lots, balances, gains } = recount(writeSchedule(seed), config)
        for (const [key, of] of lots) {
          const sum = Object.values(of).reduce((all, lot) => all + lot, 0n)
          expect(sum <= balances.get(key)!, `seed ${seed}: lots of ${key}`).toBe(true)
        }
        for (const { wallet, gained, kept } of gains)
          expect(kept <= gained, `seed ${seed}: marks of ${wallet}`).toBe(true)
      }
    },
    limit,
  )
})
