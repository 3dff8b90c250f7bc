import { describe, expect, it } from 'vitest'
import { differ, tell } from './compare.js'
import { limit, seeds } from './seeds.js'
import { writeSchedule } from './traffic/schedule.js'

describe('derived rows', () => {
  it(
    'are those of a second derivation written from the text alone, over random traffic with and without traces',
    async () => {
      const told: string[] = []
      for (const seed of seeds) {
        const blocks = writeSchedule(seed)
        if ((await differ(blocks)) && told.length < Number(process.env.RECOUNT_TOLD ?? 3))
          told.push(await tell(seed, blocks))
      }
      expect(told.join('\n')).toBe('')
    },
    limit,
  )
})
