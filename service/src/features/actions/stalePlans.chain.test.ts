import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { WorldVault } from '../../../test/actionWorld.js'
import { openSwapWorld, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'
import type { Answer } from '../../../test/harness.js'
import { seededRandom, times } from '../../../test/seed.js'
import { waitForOutcome } from '../../cli/dev/receipt.js'

const user = account(1)
const mover = account(3)
const ether = 10n ** 18n
const usd = 10n ** 6n

/** 10 in CI, 100 in `npm run test:long`. */
const plans = 10 * times

let opened: SwapWorld<readonly [Wanted, Wanted]>
let world: typeof opened.world
let asset: Address
let other: Address
let vault: WorldVault

beforeAll(async () => {
  opened = await openSwapWorld({ pegUsd: '1' }, { decimals: 18 })
  ;({ world } = opened)
  ;[asset, other] = opened.tokens
  await opened.exchange.v2Pool(asset, other, 1_000_000n * usd, 500n * ether)
  await opened.exchange.v3Pool(asset, other, 3_000, 900_000n * usd, 455n * ether)
  for (const holder of [user, mover]) {
    await world.mint(asset, holder.address, 10_000_000n * usd)
    await world.mint(other, holder.address, 10_000n * ether)
    await world.join(holder.address)
  }
  vault = await world.vault(asset)
  await world.earn.db`update opportunities set routed_swap_enabled = true where id = ${vault.opportunityId}`
  await world.refresh()
})
afterAll(() => world.close())

const zapIn = () =>
  world.earn.call('CreateDepositInteraction', {
    params: { opportunityId: vault.opportunityId },
    body: {
      ...{ userAddress: user.address, tokenIn: other, amount: String(ether), mode: 'swap' },
      distributorId: world.distributorId,
    },
  })
const swap = () => opened.swap({ tokenIn: other, tokenOut: asset, amountIn: String(ether) })

/** Sends a plan however stale it is, up to the first transaction that reverts; whether all of it went through. */
async function sendAnyway({ body }: Answer): Promise<boolean> {
  const { client } = world.anvil
  for (const { transaction } of body.transactions) {
    const { to, data, value, gasLimit } = transaction as { to: Address; data: Hex; value: string; gasLimit: string }
    const gas = BigInt(gasLimit)
    const hash = await client.sendTransaction({ account: user, to, data, value: BigInt(value), gas })
    if ((await waitForOutcome(client, hash)).status !== 'success') return false
  }
  return true
}

const holdings = async () => ({
  asset: await world.balance(asset, user.address),
  other: await world.balance(other, user.address),
})

it(`gives at least the minimum of a stale plan, or costs gas alone: ${plans} plans with moved prices`, async () => {
  const random = seededRandom()
  const ends = { through: 0, reverted: 0 }
  for (let at = 0; at < plans; at++) {
    const zaps = at % 2 === 1
    const answer = zaps ? await zapIn() : await swap()
    expect(answer.status, answer.text).toBe(200)
    const quoted = answer.body.transactions.find(({ metadata }: { metadata?: object }) => metadata).metadata.amountOut
    const minimum = (BigInt(quoted) * 9_950n) / 10_000n
    // Somebody trades before: a little or much, in either direction.
    const [tokenIn, amountIn] = random.chance(0.5) ? [asset, 2_000n * usd] : [other, ether]
    const trade = { user: mover.address, tokenIn, tokenOut: tokenIn === asset ? other : asset, slippageBps: 5000 }
    const moved = await opened.swap({ ...trade, amountIn: String(amountIn * BigInt(random.int(1, 20))) })
    await world.send(moved, mover)
    const before = await holdings()
    const through = await sendAnyway(answer)
    const after = await holdings()
    ends[through ? 'through' : 'reverted'] += 1
    if (!through) expect(after).toEqual(before)
    else if (zaps) expect(after.asset).toBeGreaterThanOrEqual(before.asset)
    else expect(after.asset - before.asset).toBeGreaterThanOrEqual(minimum)
  }
  expect(ends.through).toBeGreaterThan(0)
  expect(ends.reverted).toBeGreaterThan(0)
}, 300_000)

it.each([
  ['a swap', swap],
  ['a deposit of another token', zapIn],
])('needs at most three round trips to the node for %s', async (_title, build) => {
  let waits = 0
  let open = 0
  const answer = await world.withNode(
    (request) => async (asked) => {
      // What is asked while another answer is awaited travels with it.
      if (open++ === 0) waits += 1
      try {
        return await request(asked)
      } finally {
        open -= 1
      }
    },
    build,
  )
  expect(answer.status, answer.text).toBe(200)
  expect(waits).toBeLessThanOrEqual(3)
})
