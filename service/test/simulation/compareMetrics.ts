import { startsOf } from '../../src/features/metrics/buckets.js'
import { listCounts } from '../../src/features/metrics/counts.js'
import { readLps } from '../../src/features/metrics/storeLps.js'
import { listTopWallets, readAttributedTvl } from '../../src/features/metrics/storeSeries.js'
import { listSeriesVaults, type SeriesVault } from '../../src/features/metrics/storeVaults.js'
import type { Database } from '../../src/postgres/pool.js'
import { floorsOf, start, tokenDecimals } from './model.js'
import type { Outcome } from './playedChain.js'
import { createRandom, type Random } from './random.js'
import { recount } from './recount.js'

/** What a wallet held of a vault after a transaction, in all and of each distributor. */
type State = { time: number; held: Map<string, Map<string, bigint>> }
type Snapshot = { vault: string; time: number; numerator: bigint; exponent: number; micros: bigint | null }

/** Extra digits of the USD sums. */
const dollar = 10n ** 18n

/** Every state there was up to a block, one a transaction. */
function listStates({ blocks, rules }: Outcome, top: number): State[] {
  const states: State[] = []
  recount(
    blocks.filter(({ number }) => number <= top),
    rules,
    ({ timestamp }, positions) => {
      const held = new Map<string, Map<string, bigint>>()
      for (const [key, { free, lots }] of positions) {
        const sum = [...lots.values()].reduce((all, lot) => all + lot, 0n)
        held.set(key, new Map([['', sum + free], ['*', sum], ...lots]))
      }
      states.push({ time: timestamp, held })
    },
  )
  return states
}

const floorAt = (vault: string, time: number) => floorsOf(vault).findLast(({ from }) => from <= time)?.shares ?? 1n

/** Who is an LP of one of the vaults just before an instant, and who ever was, looking at every state there was. */
function countNaively(states: readonly State[], scope: string, vaults: readonly string[], end: number) {
  const [active, participated] = [new Set<string>(), new Set<string>()]
  const past = states.filter(({ time }) => time < end)
  past.forEach(({ time, held }, index) => {
    const until = Math.min(past[index + 1]?.time ?? end, end)
    for (const [key, shares] of held) {
      const [vault = '', wallet = ''] = key.split(' ')
      if (!vaults.includes(vault) || wallet === vault) continue
      const own = shares.get(scope) ?? 0n
      const instants = [time, ...floorsOf(vault).map(({ from }) => from)].filter(
        (at) => at === time || (at > time && at < until),
      )
      if (instants.some((at) => own > 0n && own >= floorAt(vault, at))) participated.add(wallet)
      if (index === past.length - 1 && own > 0n && own >= floorAt(vault, end - 1)) active.add(wallet)
    }
  })
  return { active: active.size, participated: participated.size }
}

const newestOf = (snapshots: readonly Snapshot[], vault: string, end: number) =>
  snapshots
    .filter((each) => each.vault === vault && each.time < end)
    .sort((a, b) => a.time - b.time)
    .at(-1)

function priceShares(shares: bigint, snapshot: Snapshot | undefined): bigint {
  if (!snapshot || snapshot.micros === null) return 0n
  return (shares * snapshot.numerator * snapshot.micros * dollar) / 10n ** BigInt(snapshot.exponent + tokenDecimals + 6)
}

function sumNaively(
  states: readonly State[],
  snapshots: readonly Snapshot[],
  scope: string,
  vaults: readonly string[],
  end: number,
) {
  const last = states.findLast(({ time }) => time < end)
  return vaults.reduce((sum, vault) => {
    const shares = [...(last?.held ?? [])].reduce(
      (all, [key, own]) => (key.startsWith(`${vault} `) ? all + (own.get(scope) ?? 0n) : all),
      0n,
    )
    return sum + priceShares(shares, newestOf(snapshots, vault, end))
  }, 0n)
}

/** Observations of prices that come and go, as a vault's snapshots. */
async function observe(db: Database, random: Random, vaults: readonly SeriesVault[]): Promise<Snapshot[]> {
  const snapshots: (Snapshot & { id: number; number: number })[] = []
  for (const { id, address } of vaults)
    for (let number = random.int(0, 3); number < 12; number += random.int(1, 5))
      snapshots.push({
        ...{ id, vault: address, number, time: start + number * 100 + random.int(-200, 99) },
        ...{ numerator: BigInt(random.int(1, 3)) * 10n ** 17n + BigInt(random.int(0, 10 ** 6)) },
        ...{ exponent: random.pick([18, 18, 6]), micros: random.chance(0.2) ? null : BigInt(random.int(1, 3_000_000)) },
      })
  await db`delete from vault_snapshots where vault_id = any(${vaults.map(({ id }) => id)}::int[])`
  // A vault has one snapshot of an instant.
  const own = snapshots.filter(
    ({ id, time }, at) => !snapshots.slice(0, at).some((each) => each.id === id && each.time === time),
  )
  for (const { id, number, time, numerator, exponent, micros } of own)
    await db`
      insert into vault_snapshots (vault_id, block_number, block_timestamp, price_exponent, total_assets, total_supply,
        price_numerator, price_usd, block_hash)
      values (${id}, ${number}, ${new Date(time * 1000)}, ${exponent}, 0, 0, ${numerator},
        ${micros === null ? null : `${micros}e-6`}::numeric, decode(repeat('00', 32), 'hex'))`
  return own
}

/** Differences between series of metrics and a naive recount at random times; empty when there is none. */
export async function findMetricsDifferences(db: Database, played: Outcome, seed: number): Promise<string[]> {
  const random = createRandom(seed)
  const rows = await db<{ id: number }[]>`select id from vaults where chain_id = ${played.chainId}`
  const all = await listSeriesVaults(
    db,
    rows.map(({ id }) => id),
  )
  const confirmed = (played.blocks.at(-1)?.number ?? 0) - played.confirmations + 1
  const [derived] = await db<{ to: number }[]>`
    select derived_to as to from projections where chain_id = ${played.chainId} and name = 'metrics'`
  // A fork to a shorter branch takes nothing back of what was confirmed before it and is on the branch too.
  const top = Math.max(confirmed, derived?.to ?? -1)
  const states = listStates(played, top)
  const snapshots = await observe(db, random, all)
  const found: string[] = []
  const same = (what: string, actual: unknown, wanted: unknown) => {
    if (String(actual) !== String(wanted)) found.push(`${what}: ${actual} instead of ${wanted}`)
  }
  same('derived up to', (derived?.to ?? -1) >= confirmed && top < confirmed + played.confirmations, true)
  for (const step of [900, 60, 1_800, random.int(7, 400)]) {
    const first = Math.floor((start + random.int(-300, 900)) / step)
    const buckets = { step, first, last: first + random.int(0, Math.min(20, Math.ceil(1_500 / step))) }
    const vaults = all.filter(() => random.chance(0.7))
    const names = vaults.map(({ address }) => address)
    const distributorId = random.pick(['alpha', 'Beta_2', 'gamma-3'])
    const tvl = await readAttributedTvl(db, { distributorId, vaults }, buckets)
    const counts = listCounts(buckets, await readLps(db, { scope: distributorId, vaults }, buckets))
    const [one] = all.filter(() => random.chance(0.5))
    const scope = random.pick(['', '*'])
    const ofOne = one && listCounts(buckets, await readLps(db, { scope, vaults: [one] }, buckets))
    startsOf(buckets).forEach((_, index) => {
      const end = (first + index + 1) * step
      const at = `${distributorId} ${names.length} vaults, step ${step}, before ${end - start}`
      same(`TVL ${at}`, tvl.get(first + index) ?? 0n, sumNaively(states, snapshots, distributorId, names, end))
      const wanted = countNaively(states, distributorId, names, end)
      same(`active ${at}`, counts[index]?.active, wanted.active)
      same(`participated ${at}`, counts[index]?.participated, wanted.participated)
      if (!one || !ofOne) return
      const ofVault = countNaively(states, scope, [one.address], end)
      same(`active "${scope}" ${at}`, ofOne[index]?.active, ofVault.active)
      same(`participated "${scope}" ${at}`, ofOne[index]?.participated, ofVault.participated)
    })
  }
  for (const distributorId of ['alpha', 'Beta_2']) {
    const worth = new Map<string, bigint>()
    for (const [key, own] of states.at(-1)?.held ?? []) {
      const [vault = '', wallet = ''] = key.split(' ')
      const value = priceShares(own.get(distributorId) ?? 0n, newestOf(snapshots, vault, Infinity))
      if (value > 0n) worth.set(wallet, (worth.get(wallet) ?? 0n) + value)
    }
    const wanted = [...worth].sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x < y ? 1 : -1)).slice(0, 5)
    const top = await listTopWallets(db, { distributorId, vaults: all }, 5)
    same(
      `top wallets of ${distributorId}`,
      top.map(({ wallet, value }) => `${wallet} ${value}`),
      wanted.map(([wallet, value]) => `${wallet} ${value}`),
    )
  }
  return found
}
