import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode, type World } from '../../../test/actionWorld.js'
import { openStories, type tellStories } from '../../../test/asyncStories.js'
import { refused } from '../../../test/refused.js'

const user = account(1)
const usd = 1_000_000n
let world: World
let token: Address
let story: ReturnType<typeof tellStories>

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
})
afterAll(() => world.close())

describe('200', () => {
  it('cancels in two steps where the vault does, and calling again returns the second', async () => {
    const vault = await world.asyncVault(token)
    const before = await world.balance(token, user.address)
    await world.send(await story.deposit(vault, 100n * usd), user)
    await world.sync()
    const plan = await story.cancel(vault)
    expect(plan.body.transactions).toMatchObject([
      {
        type: 'cancelDeposit',
        description: `Cancel the pending deposit of 100 TUSD (${token}) in Yield vault (${vault.address}); the TUSD (${token}) is refunded to ${user.address}.`,
      },
    ])
    await world.send(plan, user)
    expect((await story.cancel(vault)).body).toMatchObject({ reason: 'NOT_CLAIMABLE', context: { retryable: true } })
    await story.settle(vault, 'settleCancelDeposit')
    const second = await story.cancel(vault)
    expect(second.body.simulation.assetChanges).toMatchObject([
      { token: { address: token }, amount: String(100n * usd) },
    ])
    await world.send(second, user)
    expect(await world.balance(token, user.address)).toBe(before)
    expect((await story.cancel(vault)).body.reason).toBe('NOTHING_PENDING')
    expect(await story.entries(vault)).toEqual([])
  })

  it('cancels in one step where the vault does, and is paid back at once', async () => {
    const vault = await world.asyncVault(token, { kind: 'lagoon' })
    const before = await world.balance(token, user.address)
    await world.send(await story.deposit(vault, 100n * usd), user)
    const plan = await story.cancel(vault)
    expect(plan.body.simulation.assetChanges).toMatchObject([{ amount: String(100n * usd) }])
    await world.send(plan, user)
    expect(await world.balance(token, user.address)).toBe(before)
    await world.sync()
    const [open] = await world.earn.db`select count(*)::int as count from requests where remaining > 0`
    expect(open?.['count']).toBe(0)
    // And the next deposit of the same wallet is its own.
    await world.send(await story.deposit(vault, 50n * usd), user)
    await story.settle(vault, 'settleDeposit', 2n)
    await world.send(await story.claim(vault), user)
    expect(await story.entries(vault)).toMatchObject([{ amountRaw: String(50n * usd) }])
  })

  it('cancels the request named where requests have ids of their own', async () => {
    const vault = await world.asyncVault(token, { separateIds: true })
    for (const amount of [10n, 20n]) await world.send(await story.deposit(vault, amount * usd), user)
    const plan = await story.cancel(vault, { requestId: '2' })
    expect(plan.body.transactions[0].description).toContain('20 TUSD')
    await world.send(plan, user)
    await world.sync()
    expect((await story.cancel(vault)).body.transactions[0].description).toContain('10 TUSD')
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('has nothing to cancel: none requested, a synchronous vault, a vault that cancels nothing', async () => {
    refused(await story.cancel(await world.asyncVault(token)), 'NOTHING_PENDING')
    refused(await story.cancel(await world.vault(token)), 'NOTHING_PENDING')
    const final = await world.asyncVault(token, { final: true })
    await world.send(await story.deposit(final, 100n * usd), user)
    refused(await story.cancel(final), 'NOTHING_PENDING')
  })

  it('does not cancel what the vault has settled already, nor what was claimed', async () => {
    for (const kind of ['erc7540', 'lagoon'] as const) {
      const vault = await world.asyncVault(token, { kind })
      await world.send(await story.deposit(vault, 100n * usd), user)
      await story.settle(vault, 'settleDeposit', kind === 'lagoon' ? 1n : 0n)
      refused(await story.cancel(vault), 'NOTHING_PENDING')
      await world.send(await story.claim(vault), user)
      refused(await story.cancel(vault), 'NOTHING_PENDING')
    }
  })

  it('takes no new request while a cancellation waits', async () => {
    const vault = await world.asyncVault(token)
    await world.send(await story.deposit(vault, 100n * usd), user)
    await world.send(await story.cancel(vault), user)
    const again = await story.deposit(vault, 100n * usd)
    refused(again, 'SIMULATION_REVERTED')
    expect(again.body.error).toMatch(/CancellationPending\(\)/)
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses a distributor of another organization', async () => {
    const vault = await world.asyncVault(token)
    const foreign = await world.earn.distributor(undefined, await world.earn.organization())
    await world.refresh()
    expect((await story.cancel(vault, { distributorId: foreign })).status).toBe(403)
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no such opportunity or member', async () => {
    const vault = await world.asyncVault(token)
    const unknown = { ...vault, opportunityId: '00000000-0000-4000-8000-000000000000' }
    expect((await story.cancel(unknown)).body).toMatchObject({ code: 404, status: 'NOT_FOUND' })
    expect((await story.cancel(vault, { userAddress: account(5).address })).body.error).toBe('membership not found')
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so when the chain cannot be read', async () => {
    const vault = await world.asyncVault(token)
    const answer = await world.withNode(goneNode, () => story.cancel(vault))
    expect(answer.body).toMatchObject({ code: 503, status: 'UNAVAILABLE', context: { retryable: true } })
  })
})
