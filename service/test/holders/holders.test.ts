import { afterAll, describe, expect, it } from 'vitest'
import { createDerivation, derive, emptyState } from '../../src/derive/index.js'
import type { DeriveState, InteractionRow } from '../../src/derive/rows.js'
import { seededRandom, times } from '../seed.js'
import { counts, createHistory, gauge, type History, market, stake, type Transaction } from './histories.js'
import { createRecount, type Entry } from './recount.js'
import { createStreams } from './streams.js'

const holders = [stake, gauge, market] as string[]

/** What the code under test has, in the words of the second implementation. */
function show(state: DeriveState) {
  const holdings = [...state.holders].flatMap(([key, { shares, attributed, lots }]) => {
    const parts = [...lots, ['~', shares - attributed] as const].filter(([, n]) => n !== 0n).sort()
    return parts.length === 0 ? [] : [[key.slice(2), Object.fromEntries(parts.map(([id, n]) => [id, `${n}`]))] as const]
  })
  const held = [...state.held].flatMap(([key, { shares }]) => {
    const [, holder = '', account = ''] = key.split(':')
    return shares > 0n && account !== holder ? [[`${account} in ${holder}`, `${shares}`] as const] : []
  })
  const standings = holders.map((holder) => {
    const { phase = 'followed', ignored = 0 } = state.holderStates.get(`1:${holder}`) ?? {}
    return [holder, `${phase === 'counting'} ${ignored}`]
  })
  return {
    holdings: Object.fromEntries(holdings.sort(([a], [b]) => (a < b ? -1 : 1))),
    held: Object.fromEntries(held.sort()),
    standings: Object.fromEntries(standings),
  }
}

/** The place in its block of the first log of a transaction. */
const firstLog = ({ logs }: History['blocks'][number]['block'], index: number): number =>
  logs.findIndex(({ transactionIndex }) => transactionIndex === index)

const showEntry = ({ logIndex, kind, wallet, distributorId, assets }: InteractionRow) =>
  `${logIndex} ${kind} ${wallet} ${distributorId} ${assets}`
const tellEntry = ({ at, kind, wallet, code, assets }: Entry) => `${at} ${kind} ${wallet} ${code} ${assets}`

/** Wallets whose lots a transaction may lessen: who sends, who is named as going out or moving, and all where a holder broke. */
function mayLose({ facts }: Transaction): Set<string> {
  return new Set(
    facts.flatMap((fact) =>
      fact.kind === 'transfer' ? [fact.from] : fact.kind === 'out' || fact.kind === 'move' ? [fact.account] : [],
    ),
  )
}

type Seen = {
  transactions: number
  broken: number
  started: number
  lots: number
  entries: number
  paid: number
  doubted: number
}

function compare(history: History, seen: Seen): void {
  const derivation = createDerivation(history.config)
  const state = emptyState()
  const recount = createRecount(history.rules)
  const streams = createStreams(history, 15)
  let before = show(state)
  for (const { block, transactions } of history.blocks) {
    const rows = derive(block, derivation, state)
    const entries = transactions.flatMap(({ facts }, index) =>
      recount.transact(block.timestamp, facts).map((entry) => ({ ...entry, at: entry.at + firstLog(block, index) })),
    )
    expect({ block: block.number, entries: rows.interactions.map(showEntry).sort() }).toEqual({
      block: block.number,
      entries: entries.map(tellEntry).sort(),
    })
    seen.entries += entries.length
    const now = show(state)
    const told = { holdings: recount.holdings(), held: recount.held() }
    expect({ block: block.number, ...now, standings: {} }).toEqual({ block: block.number, ...told, standings: {} })
    streams.tell(block.timestamp, rows, told.holdings)
    for (const holder of holders) {
      const [was, is] = [before.standings[holder], now.standings[holder]]
      if (was?.startsWith('true') && is?.startsWith('false')) seen.broken += 1
      if (was?.startsWith('false') && is?.startsWith('true')) seen.started += 1
    }
    const broke = holders.some((h) => before.standings[h]?.startsWith('true') && now.standings[h]?.startsWith('false'))
    const touched = new Set(transactions.flatMap((each) => [...mayLose(each)]))
    for (const change of rows.lotChanges)
      if (change.after < change.before && !broke && !touched.has(change.wallet))
        throw new Error(`block ${block.number}: ${change.wallet} lost ${change.before - change.after} by another's act`)
    seen.transactions += transactions.length
    seen.lots += rows.lotChanges.length
    before = now
  }
  const [paid, due] = streams.count()
  expect(paid).toEqual(due)
  seen.paid += Object.keys(due).length
  seen.doubted += recount.doubted()
  expect(show(state).standings).toEqual({ ...show(state).standings, ...recount.standings() })
}

describe('histories of staking, a gauge and collateral', () => {
  const seen: Seen = { transactions: 0, broken: 0, started: 0, lots: 0, entries: 0, paid: 0, doubted: 0 }
  const random = seededRandom()
  const runs = 20 * times

  it('are counted as the definitions say by a second implementation, with holders that lie, and nobody loses by another’s act', () => {
    for (let run = 0; run < runs; run++) compare(createHistory(random, { length: 40, lies: run % 4 !== 0 }), seen)
    expect(seen.broken).toBeGreaterThan(runs / 2)
    expect(seen.started).toBeGreaterThan(runs)
    expect(seen.lots).toBeGreaterThan(runs * 20)
    expect(seen.entries).toBeGreaterThan(runs * 10)
    expect(seen.paid).toBeGreaterThan(runs * 3)
    expect(seen.doubted).toBeGreaterThan(runs / 4)
  }, 300_000)

  afterAll(() => {
    const acts = [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
    console.log(`holders: ${runs} histories, ${JSON.stringify(seen)}; ${acts}`)
  })
})
