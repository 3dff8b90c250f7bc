import { afterAll, beforeAll, expect, it } from 'vitest'
import { findFlowsDifferences } from './compareFlows.js'
import { findMetricsDifferences } from './compareMetrics.js'
import type { Outcome } from './playedChain.js'
import { playForks } from './schedule.js'
import { openWorld, organizationId, type World } from './simulate.js'
import { rebuild } from './underTest.js'

const seeds = Number(process.env['METRICS_SEEDS'] ?? 6)
const forks = 3

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world?.close())

it('LP counts, attributed TVL, top wallets, flows and what wallets earned equal a naive recount before and after each reorg, and after a rebuild', async () => {
  const { db, watching } = world
  const depths: number[] = []
  let changed = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const check = async (outcome: Outcome, when: string) => {
      // Other times, selections and prices at every look.
      const draw = seed * 100 + outcome.reorgs.length
      const differences = [
        ...(await findMetricsDifferences(db, outcome, draw)),
        ...(await findFlowsDifferences(db, outcome, draw)),
      ]
      expect(differences, `seed ${seed} ${when} ${outcome.reorgs.length} reorgs`).toEqual([])
    }
    let last: Outcome | undefined
    for await (const outcome of playForks({ db, watching, organizationId }, seed, forks)) {
      await check(outcome, 'after')
      const hashes = new Set(outcome.blocks.map(({ hash }) => hash))
      const gone = last?.blocks.filter(({ hash }) => !hashes.has(hash)) ?? []
      // A reorg that took back what the metrics had counted, of confirmed blocks.
      const confirmed = (last?.blocks.at(-1)?.number ?? 0) - outcome.confirmations + 1
      if (gone.some(({ number, transactions }) => number <= confirmed && transactions.length > 0)) changed += 1
      last = outcome
    }
    if (!last) throw new Error('nothing was played')
    depths.push(...last.reorgs)
    await rebuild({ db, chainId: last.chainId })
    await check(last, 'rebuilt after')
  }
  console.log(`${seeds} chains, ${depths.length} reorgs followed, ${changed} of confirmed transactions`)
  expect(depths.length).toBeGreaterThanOrEqual(seeds)
  expect(changed).toBeGreaterThanOrEqual(seeds / 2)
}, 600_000)
