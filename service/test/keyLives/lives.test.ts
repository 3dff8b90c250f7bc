import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../contracts/test/patience.js'
import { openTestDatabase, type TestDatabase } from '../database.js'
import { seededKey, seededRandom, times } from '../seed.js'
import { type Life, playLife } from './playLife.js'

/** With `TEST_TIMES=1000` a thousand; always a few. */
const count = Math.max(8, times)
const together = 8

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

describe('a key that sends', () => {
  it(
    'has each of its transactions mined once or told failed, is never stuck, and spends no more than each may cost, whatever happens to chain, nodes and itself',
    async () => {
      const lives = Array.from({ length: count }, (_, at) => ({ at, random: seededRandom(), key: seededKey() }))
      const played: Life[] = []
      const bad: { life: number; of: Life }[] = []
      await Promise.all(
        Array.from({ length: together }, async () => {
          for (let next = lives.shift(); next; next = lives.shift()) {
            const life = await playLife(test.db, next.random, next.key, next.at)
            played.push(life)
            if (life.stuck.length + life.wrong.length + life.aboveCap.length > 0) bad.push({ life: next.at, of: life })
          }
        }),
      )
      const sum = (of: (life: Life) => number) => played.reduce((all, life) => all + of(life), 0)
      process.stdout.write(
        `${played.length} lives, ${sum(({ sent }) => sent)} transactions: ${sum(({ confirmed }) => confirmed)} mined once, ` +
          `${sum(({ toldFailed }) => toldFailed)} told failed, ${sum(({ stuck }) => stuck.length)} stuck, ` +
          `${sum(({ wrong }) => wrong.length)} wrong, ${sum(({ aboveCap }) => aboveCap.length)} above their cap, ` +
          `${sum(({ releases }) => releases)} releases by the operator\n`,
      )
      expect(bad).toEqual([])
      expect(sum(({ confirmed }) => confirmed)).toBeGreaterThan(sum(({ sent }) => sent) / 4)
    },
    patient(count * 60_000),
  )
})
