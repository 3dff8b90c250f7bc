import { afterAll, beforeAll, expect, it } from 'vitest'
import { tell } from '../../src/features/events/index.js'
import { tellEntries } from '../../src/features/ledger/index.js'
import { systemClock } from '../../src/kernel/clock.js'
import { type Database, inTransaction } from '../../src/postgres/pool.js'
import { findDepth } from '../../src/sync/storeDepths.js'
import { flushEvents } from '../flushEvents.js'
import type { Outcome } from './playedChain.js'
import { playForks, playPair } from './schedule.js'
import { openWorld, organizationId, type World } from './simulate.js'
import { rebuild } from './underTest.js'

/** Seeds of chains that fork again and again, and of pairs of chains with kills, sources that join and repairs. */
const seeds = Number(process.env['TOLD_SEEDS'] ?? 8)
const forks = 3

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world?.close())

type Row = { type: string; position: number; data: { id: string; blockNumber: number } & Record<string, unknown> }

/** What a log gave. Prices and finality may be known later than an entry. */
const factOf = ({ amountInUsd: _usd, finality: _finality, ...fact }: Row['data']) => JSON.stringify(fact)

/** The entries a reader of the feed holds, by id. Throws where the feed tells something twice, or takes back what it did not tell. */
async function replay(db: Database, chainId: number): Promise<{ held: Map<string, string>; retracted: number }> {
  await flushEvents(db)
  const rows = await db<Row[]>`select type, position, data from feed where chain_id = ${chainId} order by position`
  const held = new Map<string, string>()
  let retracted = 0
  for (const { type, position, data } of rows) {
    const isHeld = held.has(data.id)
    if (type === 'interaction.confirmed') {
      if (isHeld) throw new Error(`${data.id} was told twice, at ${position}`)
      held.set(data.id, factOf(data))
    } else {
      if (!isHeld) throw new Error(`${data.id} was taken back at ${position}, and not told before`)
      held.delete(data.id)
      retracted += 1
    }
  }
  return { held, retracted }
}

/** Tells what an operator's command changed since the last step, as the next step does. */
async function tellRest(db: Database, chainId: number): Promise<number> {
  const depth = await findDepth(db, chainId)
  if (!depth) throw new Error('the chain was never followed')
  const { blockNumber: tip, confirmed: confirmedTo } = depth
  const reaction = tellEntries(tell, systemClock)
  await inTransaction(db, async (tx) => reaction.onWritten?.(tx, { chainId, tip, confirmedTo, head: 0 }))
  return confirmedTo
}

async function findDifference(db: Database, { chainId }: Outcome): Promise<string[]> {
  const confirmedTo = await tellRest(db, chainId)
  const { held } = await replay(db, chainId)
  const rows = await db<{ id: string; fact: Record<string, string | number | boolean> }[]>`
    select i.id, jsonb_build_object('interaction', i.kind, 'txHash', i.transaction_hash, 'blockNumber', i.block_number,
      'logIndex', i.log_index, 'amountRaw', i.assets::text, 'distributorId', i.distributor_id, 'isSwap', i.is_swap,
      'attribution', i.attribution) as fact
    from interactions i where i.chain_id = ${chainId} and i.block_number <= ${confirmedTo}`
  const differences: string[] = []
  for (const { id, fact } of rows) {
    const told = held.get(id)
    if (told === undefined) differences.push(`${id} of block ${fact['blockNumber']} stands and was not told`)
    else {
      const data = JSON.parse(told) as Record<string, unknown>
      for (const [name, value] of Object.entries(fact))
        if (data[name] !== value) differences.push(`${id} ${name}: told ${data[name]}, stands ${value}`)
    }
    held.delete(id)
  }
  for (const id of held.keys()) differences.push(`${id} was told and does not stand`)
  return differences
}

it('every entry is told once and in order through reorganisations, kills, joins, repairs and rebuilds: the feed replayed is the ledger', async () => {
  const { db, watching } = world
  let [told, retracted, reorgs] = [0, 0, 0]
  const check = async (outcome: Outcome, when: string) => {
    expect(await findDifference(db, outcome), when).toEqual([])
  }
  /** What a chain that is at rest is told of by a rebuild: its differences, and nothing where there are none. */
  const finish = async (outcome: Outcome, when: string) => {
    const { chainId } = outcome
    await check(outcome, when)
    await rebuild({ db, chainId })
    await check(outcome, `${when}, rebuilt`)
    const after = await replay(db, chainId)
    await rebuild({ db, chainId })
    await check(outcome, `${when}, rebuilt again`)
    expect(await replay(db, chainId), `${when}: a rebuild that differs in nothing tells nothing`).toEqual(after)
    told += after.held.size
    retracted += after.retracted
    reorgs += outcome.reorgs.length
  }
  for (let seed = 1; seed <= seeds; seed++) {
    let last: Outcome | undefined
    for await (const outcome of playForks({ db, watching, organizationId }, seed, forks)) {
      await check(outcome, `seed ${seed} after ${outcome.reorgs.length} reorgs`)
      last = outcome
    }
    if (last) await finish(last, `seed ${seed}`)
    const pair = await playPair({ db, watching, organizationId }, seed)
    for (const outcome of pair.chains) await finish(outcome, `seed ${seed}, chain ${outcome.chainId}`)
  }
  console.log(`${seeds} seeds: ${reorgs} reorganisations, ${told} entries stand, ${retracted} were taken back`)
  expect(retracted).toBeGreaterThan(0)
  expect(told).toBeGreaterThan(0)
}, 600_000)
