import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { formatUnits } from '../../src/kernel/amount.js'
import {
  byEarlierRule,
  capital,
  cheatOnce,
  D,
  few,
  openStagedWorld,
  other,
  type StagedWorld,
  usd,
  usdDaysOf,
} from './stagedWorld.js'

/** `examples/recount` against the service, on a chain where a price was staged. */

const file = new URL('../../../examples/recount/recount.mjs', import.meta.url)

let staged: StagedWorld
beforeAll(async () => {
  staged = await openStagedWorld()
})
afterAll(() => staged?.close())

it('counts the USD-days of a day from a node alone as the service does, to the digit, the paid price included', async () => {
  const vault = await staged.deployVault(staged.world.token)
  await cheatOnce(staged, vault)
  // Others deposit without a code, shares are sent on, and a part leaves: lots shrink in proportion.
  await staged.give(other, 5_000n * usd, [vault])
  await staged.world.deposit(other, 3_333n * usd, undefined, vault)
  await staged.redeem(vault, capital / 3n + 1n)
  const to = await staged.passInstant()
  const day = new Date(to * 1_000).toISOString().slice(0, 10)
  const from = Date.parse(`${day}T00:00:00Z`) / 1_000
  const of = { vault, from, to: from + 86_400, distributorId: D }
  const served = await usdDaysOf(staged, of)
  const { recount } = await import(file.href)
  const counted: bigint = await recount(staged.world.anvil.url, { vault, code: D, day, priceUsd: '1' })
  expect(formatUnits(counted, 18)).toBe(served)
  expect(Number(served)).toBeGreaterThan(50)
  // Without the paid price it would be another figure.
  expect(Number(await byEarlierRule(staged, () => usdDaysOf(staged, of)))).toBeGreaterThan(1_000 * Number(served))
  console.log(`recounted from a node alone: ${served} USD-days; a rest of ${few} units was staged`)
})

it('takes at most a hundred lines', async () => {
  expect((await readFile(file, 'utf8')).trimEnd().split('\n').length).toBeLessThanOrEqual(100)
})
