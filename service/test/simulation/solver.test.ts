import { expect, it } from 'vitest'
import type { SolverLimits } from '../../src/features/solver/index.js'
import { seed, times } from '../seed.js'
import { createRandom, type Random } from './random.js'
import { type Behaviour, gasPrice, type Model, openModel, type Played } from './solverChain.js'

/**
 * A stranger with the keys of ten organizations, many orders at once and a pool of its own, against the solver's own code
 * over a played chain. `TEST_TIMES=25` plays the whole of it: 1,000 orders for 1,000 blocks.
 */
const blocks = Math.min(1_000, 40 * times)
const strangersOrders = Math.min(1_000, 60 * times)
const keys = 10

/** Gas of a stranger's set-up, an estimate: a token and its pool; an owner that is funded and approves. */
const setUp = { pool: 3_500_000n, key: 117_000n, contract: 160_000n }

/**
 * Gas of a Safe that its owner changes in the block of its settlement, as `wallets.chain.test.ts` measures it, by the change that
 * costs the solver most: the funds are gone.
 */
const safe = { setUp: 405_000n, turn: 61_000n, estimate: 416_000n, revert: 193_000n }

const base: Behaviour = {
  ...{ kind: 'honest', estimate: 210_000n, mined: 'filled', turnGas: 0n, isShared: false, scheme: 'eip712' },
  ...{ wallet: 'unknown', pool: '', isListed: true, isSpeck: false, worthUsd: 500 },
}

/** Attacks in equal parts: with keys and a hostile pool, or with contract wallets that burn gas or flip as well. */
function listTricks(hostilePool: string, honestPool: (random: Random) => string, withWallets: boolean) {
  const hostile: Partial<Behaviour> = { pool: hostilePool, isListed: false }
  const tricks: ((random: Random) => Partial<Behaviour>)[] = [
    // Fills worth nothing, again and again.
    () => ({ ...hostile, kind: 'refills itself', isSpeck: true, turnGas: 0n }),
    (random) => ({
      kind: 'refills itself with a listed token',
      pool: honestPool(random),
      isSpeck: true,
      turnGas: 45_000n,
    }),
    // One switch lets all of a block use up their gas.
    () => ({
      ...hostile,
      kind: 'passes, then reverts',
      estimate: 800_000n,
      mined: { revertGas: 1_000_000n },
      turnGas: 26_000n,
      isShared: true,
    }),
    (random) => ({
      kind: 'wallet that passes, then reverts',
      scheme: 'eip1271',
      pool: honestPool(random),
      estimate: 800_000n,
      mined: { revertGas: 1_000_000n },
      turnGas: 26_000n,
      isShared: true,
      worthUsd: 60,
    }),
    (random) => ({
      kind: 'takes its funds away',
      pool: honestPool(random),
      mined: { revertGas: 90_000n },
      turnGas: 35_000n,
      worthUsd: 20,
    }),
    (random) => ({
      kind: 'known wallet that flips',
      scheme: 'eip1271',
      wallet: 'known',
      pool: honestPool(random),
      estimate: safe.estimate,
      mined: { revertGas: safe.revert },
      turnGas: safe.turn,
      worthUsd: 60,
    }),
    // Nothing is sent for these.
    () => ({ ...hostile, kind: 'hangs', estimate: 'hangs' }),
    (random) => ({ kind: 'hangs in a listed pool', scheme: 'eip1271', pool: honestPool(random), estimate: 'hangs' }),
    () => ({ ...hostile, kind: 'too dear', estimate: 1_500_000n }),
    (random) => ({ kind: 'would revert', pool: honestPool(random), estimate: 'reverts', worthUsd: 20 }),
    () => ({ ...hostile, kind: 'would revert in its own pool', estimate: 'reverts' }),
  ]
  return withWallets ? tricks : tricks.filter((trick) => trick(createRandom(seed)).scheme !== 'eip1271')
}

/** Honest orders: of a key, of a contract wallet whose code is known, and of one that nobody vouches for. */
const groups = ['key', 'known', 'unknown'] as const
type Group = (typeof groups)[number]
type Outcome = { of: Record<Group, { delays: number[]; unfilled: number }>; model: Model }

const behaviours: Record<Group, Partial<Behaviour>> = {
  key: {},
  known: { scheme: 'eip1271', wallet: 'known', estimate: safe.estimate },
  unknown: { scheme: 'eip1271', wallet: 'unknown', estimate: safe.estimate },
}
/** Every fourth block has an honest order, every fifth of them one of a known wallet; those of unknown ones come besides. */
const groupOf = (block: number): Group | undefined =>
  block % 20 === 10 ? 'unknown' : block % 4 !== 0 ? undefined : block % 20 === 0 ? 'known' : 'key'

async function play(attack: 'none' | 'keys' | 'wallets', limits: Partial<SolverLimits>): Promise<Outcome> {
  const random = createRandom(seed)
  const model = await openModel(random, limits)
  for (let index = 0; index < keys; index++) await model.addOrganization()
  const pair = (a: string, b: string) => [a, b].sort().join(' ')
  const pools = Array.from({ length: 5 }, () => pair(model.addressOf(), model.addressOf()))
  const honestPool = (of: Random) => pools[of.int(0, pools.length - 1)] ?? ''
  const tricks = listTricks(pair(...model.unlisted), honestPool, attack === 'wallets')
  const strangers = createRandom(seed + 1)
  if (attack !== 'none') {
    model.paid.byStrangers += setUp.pool * gasPrice
    let owner: string | undefined
    for (let index = 0; index < strangersOrders; index++) {
      const trick = tricks[index % tricks.length]?.(strangers)
      // Of three orders of a trick one owner: each owner is paid for.
      const isNew = index % (3 * tricks.length) < tricks.length
      const scheme = trick?.scheme ?? 'eip712'
      const ofContract = trick?.wallet === 'known' ? safe.setUp : setUp.contract
      if (isNew) model.paid.byStrangers += (scheme === 'eip1271' ? ofContract : setUp.key) * gasPrice
      owner = isNew ? undefined : owners.get(index % tricks.length)
      const added = await model.add({ ...base, ...trick } as Behaviour, {
        ...{ isHonest: false, organization: index },
        ...(owner === undefined ? {} : { owner }),
      })
      owners.set(index % tricks.length, added.owner)
    }
  }
  const honest: { group: Group; order: Played }[] = []
  for (let block = 0; block < blocks; block++) {
    const group = groupOf(block)
    if (group) {
      const worthUsd = random.int(100, 5_000)
      const behaviour: Behaviour = { ...base, ...behaviours[group], pool: honestPool(random), worthUsd }
      const organization = random.int(0, keys - 1)
      honest.push({ group, order: await model.add(behaviour, { isHonest: true, organization }) })
    }
    await model.look()
    await model.mine()
  }
  for (let block = 0; block < 5; block++) {
    await model.look()
    await model.mine()
  }
  const of = (group: Group) => {
    const own = honest.flatMap((each) => (each.group === group ? [each.order] : []))
    const delays = own.flatMap(({ id, submittedAt }) => {
      const filledAt = model.filledAt.get(id)
      return filledAt === undefined ? [] : [filledAt - submittedAt]
    })
    return { delays, unfilled: own.length - delays.length }
  }
  return { of: { key: of('key'), known: of('known'), unknown: of('unknown') }, model }
}

const owners = new Map<number, string>()
const mean = (all: readonly number[]) => all.reduce((sum, each) => sum + each, 0) / all.length
const tellMean = (all: readonly number[]) => (all.length === 0 ? 'none' : mean(all).toFixed(2))
const ether = (wei: bigint) => (Number(wei / 10n ** 12n) / 1e6).toFixed(4)

it.each([
  { name: 'any token, contract wallets', attack: 'wallets' as const, limits: { tokens: 'any' } as const },
  { name: 'listed tokens, contract wallets', attack: 'wallets' as const, limits: {} },
  { name: 'any token, keys and a pool', attack: 'keys' as const, limits: { tokens: 'any' } as const },
  { name: 'listed tokens, keys and a pool', attack: 'keys' as const, limits: {} },
])(
  `${strangersOrders} orders of a stranger with ${keys} keys for ${blocks} blocks delay honest orders to no more than twice, cost the solver no more than its shares, and the stranger more ($name)`,
  { timeout: 60_000 + 40_000 * times },
  async ({ name, attack, limits }) => {
    owners.clear()
    const quiet = await play('none', limits)
    await quiet.model.close()
    const attacked = await play(attack, limits)
    const { paid } = attacked.model
    await attacked.model.close()
    // Of a day's spending of 1: `usualLimits`.
    const share = 10n ** 18n / 10n
    const lossShare = 10n ** 18n / 4n
    const worst = (all: readonly number[]) => (all.length === 0 ? 'none' : Math.max(...all))
    const tell = (group: Group) => {
      const [calm, own] = [quiet.of[group], attacked.of[group]]
      return [
        `honest by ${group === 'key' ? 'key' : `${group} contract`}: ${own.delays.length} filled, ${own.unfilled} not,`,
        `mean delay ${tellMean(calm.delays)} blocks quiet and ${tellMean(own.delays)} attacked,`,
        `worst ${worst(calm.delays)} and ${worst(own.delays)};`,
      ].join(' ')
    }
    console.log(
      [
        `${strangersOrders} orders, ${blocks} blocks, ${name}:`,
        ...groups.map(tell),
        `solver paid ${ether(paid.onStrangers)} for strangers (${paid.reverts} reverts), of it ${ether(paid.onRisky)} for risky orders (share ${ether(share)}) and ${ether(paid.onStrangers - paid.onRisky)} for others (share ${ether(lossShare)}), and ${ether(paid.onHonest)} for honest ones; strangers paid ${ether(paid.byStrangers)}`,
      ].join(' '),
    )
    expect(groups.map((group) => quiet.of[group].unfilled)).toEqual([0, 0, 0])
    // A stranger with wallets of his own stops those that nobody vouches for: docs/orders.md.
    for (const group of attack === 'keys' ? groups : (['key', 'known'] as const)) {
      expect([group, attacked.of[group].unfilled]).toEqual([group, 0])
      expect(mean(attacked.of[group].delays)).toBeLessThanOrEqual(2 * mean(quiet.of[group].delays))
    }
    expect(paid.onStrangers - paid.onRisky).toBeLessThanOrEqual(lossShare)
    expect(paid.onRisky).toBeLessThanOrEqual(share)
    expect(paid.byStrangers).toBeGreaterThan(paid.onStrangers)
  },
)
