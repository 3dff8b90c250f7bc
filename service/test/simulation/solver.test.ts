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

const base: Behaviour = {
  ...{ kind: 'honest', estimate: 210_000n, mined: 'filled', turnGas: 0n, isShared: false, scheme: 'eip712' },
  ...{ pool: '', isListed: true, isSpeck: false, worthUsd: 500 },
}

/** What strangers try, each in equal parts. */
function listTricks(hostilePool: string, honestPool: (random: Random) => string) {
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
    // Nothing is sent for these.
    () => ({ ...hostile, kind: 'hangs', estimate: 'hangs' }),
    (random) => ({ kind: 'hangs in a listed pool', scheme: 'eip1271', pool: honestPool(random), estimate: 'hangs' }),
    () => ({ ...hostile, kind: 'too dear', estimate: 1_500_000n }),
    (random) => ({ kind: 'would revert', pool: honestPool(random), estimate: 'reverts', worthUsd: 20 }),
    () => ({ ...hostile, kind: 'would revert in its own pool', estimate: 'reverts' }),
  ]
  return tricks
}

type Outcome = { delays: number[]; unfilled: number; model: Model; contractDelays: number[]; contractUnfilled: number }

async function play(isAttacked: boolean, limits: Partial<SolverLimits>): Promise<Outcome> {
  const random = createRandom(seed)
  const model = await openModel(random, limits)
  for (let index = 0; index < keys; index++) await model.addOrganization()
  const pair = (a: string, b: string) => [a, b].sort().join(' ')
  const pools = Array.from({ length: 5 }, () => pair(model.addressOf(), model.addressOf()))
  const honestPool = (of: Random) => pools[of.int(0, pools.length - 1)] ?? ''
  const tricks = listTricks(pair(...model.unlisted), honestPool)
  const strangers = createRandom(seed + 1)
  if (isAttacked) {
    model.paid.byStrangers += setUp.pool * gasPrice
    let owner: string | undefined
    for (let index = 0; index < strangersOrders; index++) {
      const trick = tricks[index % tricks.length]?.(strangers)
      // Of three orders of a trick one owner: each owner is paid for.
      const isNew = index % (3 * tricks.length) < tricks.length
      const scheme = trick?.scheme ?? 'eip712'
      if (isNew) model.paid.byStrangers += (scheme === 'eip1271' ? setUp.contract : setUp.key) * gasPrice
      owner = isNew ? undefined : owners.get(index % tricks.length)
      const added = await model.add({ ...base, ...trick } as Behaviour, {
        ...{ isHonest: false, organization: index },
        ...(owner === undefined ? {} : { owner }),
      })
      owners.set(index % tricks.length, added.owner)
    }
  }
  const honest: Played[] = []
  for (let block = 0; block < blocks; block++) {
    if (block % 4 === 0) {
      const scheme = block % 20 === 0 ? 'eip1271' : 'eip712'
      const worthUsd = random.int(100, 5_000)
      const behaviour: Behaviour = { ...base, scheme, pool: honestPool(random), worthUsd }
      honest.push(await model.add(behaviour, { isHonest: true, organization: random.int(0, keys - 1) }))
    }
    await model.look()
    await model.mine()
  }
  for (let block = 0; block < 5; block++) {
    await model.look()
    await model.mine()
  }
  const delayOf = ({ id, submittedAt }: Played) => (model.filledAt.get(id) ?? Number.NaN) - submittedAt
  const own = (scheme: string) => honest.filter((order) => order.scheme === scheme).map(delayOf)
  const filled = (delays: number[]) => delays.filter((delay) => !Number.isNaN(delay))
  const [byKey, byContract] = [own('eip712'), own('eip1271')]
  return {
    ...{ delays: filled(byKey), unfilled: byKey.length - filled(byKey).length, model },
    ...{ contractDelays: filled(byContract), contractUnfilled: byContract.length - filled(byContract).length },
  }
}

const owners = new Map<number, string>()
const mean = (all: readonly number[]) => all.reduce((sum, each) => sum + each, 0) / all.length
const ether = (wei: bigint) => (Number(wei / 10n ** 12n) / 1e6).toFixed(4)

it.each([
  { name: 'where the operator takes any token', limits: { tokens: 'any' } as const },
  { name: 'where only listed tokens are taken', limits: {} },
])(
  `${strangersOrders} orders of a stranger with ${keys} keys for ${blocks} blocks delay honest orders to no more than twice, cost the solver no more than its share and the stranger more ($name)`,
  { timeout: 60_000 + 40_000 * times },
  async ({ limits }) => {
    owners.clear()
    const quiet = await play(false, limits)
    await quiet.model.close()
    const attacked = await play(true, limits)
    const { paid } = attacked.model
    await attacked.model.close()
    const share = 10n ** 18n / 10n
    console.log(
      [
        `${strangersOrders} orders, ${blocks} blocks, tokens ${'tokens' in limits ? limits.tokens : 'listed'}:`,
        `honest by key: ${attacked.delays.length} filled, mean delay ${mean(quiet.delays).toFixed(2)} blocks quiet and ${mean(attacked.delays).toFixed(2)} attacked, worst ${Math.max(...quiet.delays)} and ${Math.max(...attacked.delays)};`,
        `honest by contract: ${attacked.contractDelays.length} filled, ${attacked.contractUnfilled} not, mean ${mean(quiet.contractDelays).toFixed(2)} and ${mean(attacked.contractDelays).toFixed(2)};`,
        `solver paid ${ether(paid.onStrangers)} for strangers (${paid.reverts} reverts; share ${ether(share)}) and ${ether(paid.onHonest)} for honest orders; strangers paid ${ether(paid.byStrangers)}`,
      ].join(' '),
    )
    expect([quiet.unfilled, quiet.contractUnfilled, attacked.unfilled]).toEqual([0, 0, 0])
    expect(mean(attacked.delays)).toBeLessThanOrEqual(2 * mean(quiet.delays))
    expect(paid.onStrangers).toBeLessThanOrEqual(share)
    expect(paid.byStrangers).toBeGreaterThan(paid.onStrangers)
  },
)
