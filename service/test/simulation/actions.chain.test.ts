import { asyncVaultAbi, yieldVaultAbi } from '@openearn/contracts'
import { type Address, erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { openWorld, type World, type WorldVault } from '../actionWorld.js'
import { tellStories } from '../asyncStories.js'
import type { Answer } from '../harness.js'
import { createRandom, type Random } from './random.js'

const runs = Number(process.env['ACTIONS'] ?? 320)
const seed = Number(process.env['ACTION_SEED'] ?? 7_540)
const users = [account(1), account(2)]

type Place = WorldVault & { kind: string }
let world: World
let places: Place[]

beforeAll(async () => {
  world = await openWorld()
  for (const user of users) await world.join(user.address)
  places = []
  // Shares are worth what gifts make them worth: nothing accrues between the simulated block and the mined one.
  for (const decimals of [6, 8, 18]) {
    const token = await world.token({ decimals, pegUsd: '1' })
    for (const user of users) await world.mint(token, user.address, 10n ** BigInt(decimals + 9))
    const vault = await world.vault(token)
    await world.write(vault.address, yieldVaultAbi, 'setAnnualRate', [0n])
    places.push({ ...vault, kind: 'erc4626' })
    for (const kind of ['erc7540', 'erc7540-deposit', 'erc7540-redeem', 'lagoon'] as const)
      places.push({ ...(await world.asyncVault(token, { kind })), kind })
  }
  const old = await world.token({ old: true })
  for (const user of users) await world.mint(old, user.address, 10n ** 15n)
  const reserve = await world.vault(old, { old: true })
  await world.write(reserve.address, yieldVaultAbi, 'setAnnualRate', [0n])
  places.push({ ...reserve, kind: 'erc4626' })
}, 120_000)
afterAll(() => world.close())

/** Something happens beside the actions: a gift, an allowance, a pause, a settlement. */
async function disturb(random: Random, place: Place, user: (typeof users)[number]): Promise<void> {
  const turn = random.next()
  if (turn < 0.25) await world.mint(place.asset, place.address, pickAmount(random, 10n ** BigInt(place.decimals + 3)))
  else if (turn < 0.4) {
    await world.write(place.asset, erc20Abi, 'approve', [place.address, 0n], user)
    await world.write(place.asset, erc20Abi, 'approve', [place.address, pickAmount(random, 10n ** 12n)], user)
  } else if (place.kind !== 'erc4626' && turn < 0.5) {
    await world.write(place.address, asyncVaultAbi, 'setPaused', [random.chance(0.3)])
  } else if (place.kind !== 'erc4626') await settleAll(place, user.address)
}

/** Settles whatever is pending under the first ids; most of the calls find nothing and revert. */
async function settleAll(place: Place, controller: Address): Promise<void> {
  const last = place.kind === 'lagoon' ? 60n : 0n
  for (let id = 0n; id <= last; id++)
    for (const [read, write] of [
      ['pendingDepositRequest', 'settleDeposit'],
      ['pendingRedeemRequest', 'settleRedeem'],
    ] as const) {
      const call = { address: place.address, abi: asyncVaultAbi, functionName: read, args: [id, controller] } as const
      if (place.kind === 'lagoon' && id === 0n) continue
      if ((await world.anvil.client.readContract(call)) > 0n)
        await world.write(place.address, asyncVaultAbi, write, [controller, id])
    }
}

it(`predicts what is mined: ${runs} random actions (seed ${seed})`, async () => {
  const random = createRandom(seed)
  const tally = new Map<string, number>()
  const count = (name: string) => tally.set(name, (tally.get(name) ?? 0) + 1)
  let compared = 0
  for (let turn = 0; compared < runs; turn++) {
    expect(turn, 'most actions should lead somewhere').toBeLessThan(runs * 20)
    const place = random.pick(places)
    const user = random.pick(users)
    if (random.chance(0.3)) await disturb(random, place, user)
    const { name, build } = await choose(random, place, user)
    const plan = await build({})
    if (plan.status === 400 && plan.body.reason !== 'SIMULATION_REVERTED') {
      count(`${name}: ${plan.body.reason}`)
      continue
    }
    compared += 1
    if (plan.status === 200) await compareSuccess(plan, place, user)
    else await compareRevert(await build({ simulate: false }), plan.body.context.transactionIndex, user)
    count(`${name}: ${plan.status === 200 ? 'mined as predicted' : 'reverted as predicted'}`)
  }
  const lines = [...tally].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, n]) => `  ${name} ${n}`)
  console.info(`${compared} actions compared with the chain, seed ${seed}:\n${lines.join('\n')}`)
}, 600_000)

async function choose(random: Random, place: Place, user: (typeof users)[number]) {
  const story = tellStories(world, user)
  const name = random.pick(['deposit', 'deposit', 'withdraw', 'withdraw', 'claim', 'cancel'] as const)
  const amount = pickAmount(random, 10n ** BigInt(place.decimals + 4))
  const held = await world.balance(place.address, user.address)
  const claimable = await world.anvil.client.readContract({
    address: place.address,
    abi: asyncVaultAbi,
    functionName: 'maxRedeem',
    args: [user.address],
  })
  const shares = pickAmount(random, random.pick([held, claimable]) || 1n)
  const { distributorId } = world
  const builds: Record<typeof name, (changes: object) => Promise<Answer>> = {
    deposit: (changes) => story.deposit(place, amount, { ...changes }),
    withdraw: (changes) => story.withdraw(place, shares, { ...changes }),
    claim: (changes) => story.claim(place, { distributorId, ...changes }),
    cancel: (changes) => story.cancel(place, { distributorId, ...changes }),
  }
  return { name: `${place.kind} ${name}`, build: builds[name] }
}

/** A whole number from 1 to `max`, small and large ones alike. */
function pickAmount(random: Random, max: bigint): bigint {
  const bits = random.int(1, max.toString(2).length)
  const value = (BigInt(random.int(0, 2 ** 48 - 1)) << BigInt(bits)) >> 48n
  return value < 1n ? 1n : value > max ? max : value
}

/** Every change predicted is the change mined, to the unit, and nothing else changes; the gas limits suffice. */
async function compareSuccess(plan: Answer, place: Place, user: (typeof users)[number]): Promise<void> {
  const { status, assetChanges } = plan.body.simulation
  expect(status).toBe('ok')
  const predicted = new Map<string, bigint>(
    assetChanges.map((change: { token: { address: string }; amount: string }) => [
      change.token.address,
      BigInt(change.amount),
    ]),
  )
  const read = async () =>
    new Map(
      await Promise.all(
        [place.asset, place.address].map(async (token) => [token, await world.balance(token, user.address)] as const),
      ),
    )
  const before = await read()
  await world.send(plan, user)
  for (const [token, after] of await read()) {
    const change = after - (before.get(token) ?? 0n)
    expect({ token, change }).toEqual({ token, change: predicted.get(token) ?? 0n })
  }
}

type Wire = { transaction: { to: Address; data: Hex; value: string; gasLimit: string } }

/** The transactions before the one named are mined; that one reverts. */
async function compareRevert(plan: Answer, failing: number, user: (typeof users)[number]): Promise<void> {
  const transactions = plan.body.transactions as Wire[]
  for (const [index, { transaction }] of transactions.entries()) {
    const { to, data, value, gasLimit } = transaction
    const hash = await world.anvil.client.sendTransaction({
      account: user,
      to,
      data,
      value: BigInt(value),
      gas: BigInt(gasLimit),
    })
    const receipt = await world.anvil.mined(hash)
    expect(receipt.status).toBe(index < failing ? 'success' : 'reverted')
    if (index === failing) return
  }
  throw new Error('the plan has fewer transactions than the simulation named')
}
