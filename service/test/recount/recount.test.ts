import { describe, expect, it } from 'vitest'
import { vaultKinds } from '../../src/vaults/index.js'
import { configOf, deriveBoth, tell } from './compare.js'
import { limit, schedulesThatDiffered, seeds } from './seeds.js'
import { writeSchedule } from './traffic/schedule.js'

describe('derived rows', () => {
  it(
    'are those of a second derivation written from the text alone, over random traffic with and without traces',
    () => {
      const told: string[] = []
      const sums: string[] = []
      const played = new Set<string>()
      let different = 0
      for (const seed of seeds) {
        const blocks = writeSchedule(seed)
        const { product, recount, sums: wrong, played: of } = deriveBoth(blocks, configOf(seed))
        for (const what of of) played.add(what)
        sums.push(...wrong.map((line) => `seed ${seed}: ${line}`))
        if (product.length + recount.length === 0) continue
        different += 1
        if (told.length < Number(process.env.RECOUNT_TOLD ?? 3)) told.push(tell(seed, blocks))
      }
      console.log(`${seeds.length} schedules from ${seeds[0]}: ${different} differ, ${sums.length} sums are wrong`)
      // Per wallet and vault: lots and the rest are the balance, kept marks at most what was gained; all of it is the supply.
      expect(sums).toEqual([])
      expect(told.join('\n')).toBe('')
      // Each kind that is listed to be served has entries of both sides, and so have settlements of our order book.
      if (seeds.length < 1_000) return
      const served = vaultKinds.filter(({ plans }) => plans !== undefined).map(({ name }) => `of ${name}`)
      const all = [...served, 'by a settlement'].flatMap((what) => [`deposit ${what}`, `withdraw ${what}`])
      expect([...played].sort()).toEqual(all.sort())
    },
    limit,
  )

  it('are the same for the schedules that once differed', () => {
    const different = schedulesThatDiffered.filter((seed) => {
      const { product, recount } = deriveBoth(writeSchedule(seed), configOf(seed))
      return product.length + recount.length > 0
    })
    expect(different).toEqual([])
  }, 60_000)
})
