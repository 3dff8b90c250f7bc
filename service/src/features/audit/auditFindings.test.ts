import { describe, expect, it } from 'vitest'
import { habits as fifthHabits } from '../../../test/audit/fifthHabits.js'
import { drawMarket as drawFifth, seeds as fifthSeeds, ways as fifthWays } from '../../../test/audit/fifthMonths.js'
import { drawBase, honest, washes } from '../../../test/audit/fittedMonths.js'
import { habits as fourthHabits } from '../../../test/audit/fourthHabits.js'
import { drawMarket as drawFourth, fourthSeeds, ways as fourthWays } from '../../../test/audit/fourthMonths.js'
import { openMonth } from '../../../test/audit/month.js'
import { drawMarket, habits, ways } from '../../../test/audit/shownMonths.js'
import { habits as sixthHabits } from '../../../test/audit/sixthHabits.js'
import { drawMarket as drawSixth, seeds as sixthSeeds, ways as sixthWays } from '../../../test/audit/sixthMonths.js'
import {
  drawMarket as drawThird,
  habits as thirdHabits,
  thirdSeeds,
  ways as thirdWays,
} from '../../../test/audit/thirdMonths.js'
import { createRandom, type Random } from '../../../test/simulation/random.js'
import { auditMonths } from '../../../test/sizes.js'
import type { FindingCode } from '../metrics/index.js'
import { auditMonth, type MonthAudit } from './auditFindings.js'
import { readAuditLimits } from './auditLimits.js'

const limits = readAuditLimits(undefined)
const strengths = [0.01, 0.05, 0.2]
/** Of fewer than 100, as small a part may be above `look`. */
const months = auditMonths
const aboveMax = Math.floor((2 * months) / 100)

/** Which finding each kind of washing is, in the set that the thresholds were fixed on and in the other. */
const fittedCodes: Record<keyof typeof washes, FindingCode> = {
  'in and out within minutes': 'inAndOut',
  'two wallets in turn': 'loop',
  'a ring of wallets': 'loop',
  'a signature used again': 'replayedSignature',
  'wallets that one sender pays for': 'paidByOneSender',
  'dust in many wallets': 'belowFloor',
  'a staged price': 'staged',
  'deposits at the ends of buckets': 'bucketEnd',
}
const shownCodes: Record<keyof typeof ways, FindingCode> = {
  'bursts of passes': 'inAndOut',
  'two friends and the same money': 'loop',
  'a circle without an order': 'loop',
  'old signatures beside good ones': 'replayedSignature',
  'crowds that one payer makes': 'paidByOneSender',
  'crumbs for strangers': 'belowFloor',
  'prices made for an hour': 'staged',
  'there at midnight': 'bucketEnd',
}

const thirdCodes: Record<keyof typeof thirdWays, FindingCode> = {
  'in for some blocks': 'inAndOut',
  'money between two': 'loop',
  'money in a ring': 'loop',
  'signatures used again': 'replayedSignature',
  'wallets of one payer': 'paidByOneSender',
  'dust for many': 'belowFloor',
  'a snapshot that was staged': 'staged',
  'in time for the bucket': 'bucketEnd',
}

/** The kinds of the fourth, fifth and sixth set, which are of people who knew nothing of the auditor. */
const strangerCodes: Record<keyof typeof fifthWays, FindingCode> = {
  churn: 'inAndOut',
  passToAndFro: 'loop',
  passRound: 'loop',
  replay: 'replayedSignature',
  payForMany: 'paidByOneSender',
  scatter: 'belowFloor',
  stage: 'staged',
  straddle: 'bucketEnd',
}

/** A month with washing, beside what it is without. `strength`: the part of its USD-days that is washed. */
function audit(draw: (washed: number) => ReturnType<typeof openMonth>, strength: number): MonthAudit {
  const honestUsdDays = Number(auditMonth(draw(0).finish(), limits).usdDays) / 1e18
  return auditMonth(draw((honestUsdDays * strength) / (1 - strength)).finish(), limits)
}

const drawFitted = (kind: string, seed: number) => (usdDays: number) => {
  const [month, random] = [openMonth(), createRandom(seed)]
  const vaults = drawBase(month, random)
  if (usdDays > 0) washes[kind]?.(month, { vaults, random, usdDays })
  return month
}
/** Draws a month of a set without washing, and with so many USD-days of it. */
function drawOf<Drawn extends { month: ReturnType<typeof openMonth> }>(
  drawMarketOf: (random: Random) => Drawn,
  waysOf: Record<string, (drawn: Drawn, usdDays: number) => void>,
) {
  return (way: string, seed: number) => (usdDays: number) => {
    const drawn = drawMarketOf(createRandom(seed))
    if (usdDays > 0) waysOf[way]?.(drawn, usdDays)
    return drawn.month
  }
}

/** Months of each kind at each strength, of which those are found that have the finding of their kind, with its transactions. */
function findWashing(
  codes: Record<string, FindingCode>,
  draw: (kind: string, seed: number) => (usdDays: number) => ReturnType<typeof openMonth>,
  firstSeed: number,
) {
  const tried = Object.entries(codes).flatMap(([kind, code], place) =>
    strengths.map((strength, index) => {
      const { findings } = audit(draw(kind, firstSeed + place * 10 + index), strength)
      const found = findings.find((finding) => finding.code === code && finding.level !== 'note')
      return { kind, strength, isFound: (found?.transactions.length ?? 0) > 0 }
    }),
  )
  const missed = tried.filter(({ isFound }) => !isFound).map(({ kind, strength }) => `${kind} at ${strength}`)
  return { tried: tried.length, found: tried.length - missed.length, missed }
}

function judgeHonest(
  kinds: Record<string, (random: Random) => ReturnType<typeof openMonth>>,
  months: number,
  firstSeed: number,
) {
  const above: string[] = []
  let refused = 0
  for (let index = 0; index < months; index++) {
    const names = Object.keys(kinds)
    const name = names[index % names.length] ?? ''
    const month = kinds[name]?.(createRandom(firstSeed + index))
    if (!month) continue
    for (const { code, level } of auditMonth(month.finish(), limits).findings) {
      if (level !== 'note') above.push(`${name}, month ${index}: ${code}`)
      if (level === 'refuse') refused += 1
    }
  }
  return { months, aboveLook: above.length, refused, above }
}

const noMonth = () => openMonth()

const onMonth = (draw: (month: ReturnType<typeof openMonth>, random: Random) => void) => (random: Random) => {
  const month = openMonth()
  draw(month, random)
  return month
}

/** In the sixth set somebody pays for many who do nothing themselves, as a present or for wallets of his own: as a cheat does. */
const { gifts = noMonth, treasury = noMonth, ...sixthOthers } = sixthHabits

describe('the thresholds of audits', () => {
  it('find washing of the months that they were fixed on, and pass the honest ones', { timeout: 400_000 }, () => {
    const washing = findWashing(fittedCodes, drawFitted, 9_000)
    const honestKinds = Object.fromEntries(Object.entries(honest).map(([name, draw]) => [name, onMonth(draw)]))
    const passed = judgeHonest(honestKinds, 21, 70_000)
    console.info(`fixed on: ${JSON.stringify({ washing, passed })}`)
    expect(washing).toEqual({ tried: 24, found: 24, missed: [] })
    expect(passed).toMatchObject({ aboveLook: 0, refused: 0 })
  })

  const sets = [
    {
      name: 'shown',
      codes: shownCodes,
      draw: drawOf(drawMarket, ways),
      seeds: { washing: 52_000, honest: 410_000 },
      habits,
    },
    { name: 'third', codes: thirdCodes, draw: drawOf(drawThird, thirdWays), seeds: thirdSeeds, habits: thirdHabits },
    {
      name: 'fourth',
      codes: strangerCodes,
      draw: drawOf(drawFourth, fourthWays),
      seeds: fourthSeeds,
      habits: fourthHabits,
    },
    { name: 'fifth', codes: strangerCodes, draw: drawOf(drawFifth, fifthWays), seeds: fifthSeeds, habits: fifthHabits },
    {
      name: 'sixth',
      codes: strangerCodes,
      draw: drawOf(drawSixth, sixthWays),
      seeds: sixthSeeds,
      habits: sixthOthers,
    },
  ]
  for (const { name, codes, draw, seeds, habits: own } of sets) {
    it(`find at least 23 of 24 washed months of the ${name} set, from 1 % of the USD-days on, with transactions`, {
      timeout: 400_000,
    }, () => {
      const washing = findWashing(codes, draw, seeds.washing)
      console.info(`${name} set: ${JSON.stringify(washing)}`)
      expect(washing.tried).toBe(24)
      expect(washing.found).toBeGreaterThanOrEqual(23)
    })

    it(`tell of at most two of 100 honest months of the ${name} set, and refuse none`, { timeout: 400_000 }, () => {
      const passed = judgeHonest(own, months, seeds.honest)
      console.info(`${name} set: ${JSON.stringify(passed)}`)
      expect(passed.aboveLook).toBeLessThanOrEqual(aboveMax)
      expect(passed.refused).toBe(0)
    })
  }

  it('tell at most to look where one gives presents to many, or fills many wallets of his own', {
    timeout: 400_000,
  }, () => {
    const passed = judgeHonest({ gifts, treasury }, months, sixthSeeds.honest)
    console.info(`sixth set, presents and treasuries: ${JSON.stringify({ ...passed, above: passed.above.length })}`)
    expect(passed.aboveLook).toBeGreaterThan(0)
    expect(passed.refused).toBe(0)
    const codes = new Set(passed.above.map((each) => each.split(': ')[1]))
    expect([...codes].every((code) => code === 'paidByOneSender' || code === 'belowFloor')).toBe(true)
  })
})
