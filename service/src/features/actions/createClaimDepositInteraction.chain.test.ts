import { decodeSuffix } from '@openearn/attribution'
import { asyncVaultAbi } from '@openearn/contracts'
import { type Address, decodeFunctionData, erc20Abi, parseAbi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode, type World, type WorldVault } from '../../../test/actionWorld.js'
import { openStories, type tellStories } from '../../../test/asyncStories.js'
import { refused } from '../../../test/refused.js'
import { listActions } from '../plans/index.js'

const user = account(1)
const usd = 1_000_000n
const share = 10n ** 18n
let world: World
let token: Address
let vault: WorldVault
let story: ReturnType<typeof tellStories>

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
})
afterAll(() => world.close())
beforeEach(async () => {
  vault = await world.asyncVault(token)
})

const suffixOf = (answer: Awaited<ReturnType<typeof story.claim>>) =>
  decodeSuffix(Buffer.from(answer.body.transactions.at(-1).transaction.data.slice(2), 'hex'))

describe('200', () => {
  it('claims all that is settled, for the distributor of the request, and the ledger has it once', async () => {
    await world.send(await story.deposit(vault, 100n * usd), user)
    expect(await story.entries(vault)).toEqual([])
    await story.settle(vault, 'settleDeposit')
    const plan = await story.claim(vault)
    expect(plan.status).toBe(200)
    expect(plan.body.transactions).toHaveLength(1)
    const [{ type, description, transaction }] = plan.body.transactions
    expect(type).toBe('claimDeposit')
    expect(description).toBe(
      `Claim the shares of 100 TUSD (${token}) deposited into Yield vault (${vault.address}); they go to ${user.address}.`,
    )
    expect(decodeFunctionData({ abi: asyncVaultAbi, data: transaction.data })).toEqual({
      functionName: 'deposit',
      args: [100n * usd, user.address, user.address],
    })
    expect(suffixOf(plan)).toMatchObject({ appCode: world.distributorId })
    expect(plan.body.simulation.assetChanges).toMatchObject([{ amount: String(100n * share) }])
    await world.send(plan, user)
    expect(await world.balance(vault.address, user.address)).toBe(100n * share)
    expect(await story.entries(vault)).toMatchObject([
      {
        interaction: 'deposit',
        amountRaw: String(100n * usd),
        distributorId: world.distributorId,
        attribution: 'signed',
      },
    ])
    expect((await listActions(world.earn.db, [plan.body.actionId]))[0]).toMatchObject({
      kind: 'claimDeposit',
      amount: String(100n * usd),
      amountUsd: '100',
    })
  })

  it('works before the request was watched, without a suffix when nobody is known to have brought it', async () => {
    await world.send(await story.deposit(vault, 100n * usd), user)
    await story.settle(vault, 'settleDeposit')
    const plan = await story.claim(vault)
    expect(suffixOf(plan)).toBeUndefined()
    expect(suffixOf(await story.claim(vault, { distributorId: world.distributorId }))).toBeDefined()
    await world.send(plan, user)
    expect(await story.entries(vault)).toMatchObject([{ distributorId: world.distributorId }])
  })

  it('carries no suffix for a request that a distributor of another organization brought, whoever the key is for', async () => {
    const { earn } = world
    const other = await earn.organization()
    const keys = [
      await earn.key({ kind: 'publishable', organizationId: other }),
      await earn.key({
        kind: 'publishable',
        organizationId: other,
        distributorId: await earn.distributor(undefined, other),
      }),
    ]
    await world.refresh()
    await world.send(await story.deposit(vault, 100n * usd), user)
    await story.settle(vault, 'settleDeposit')
    await world.sync()
    const input = { params: { opportunityId: vault.opportunityId }, body: { userAddress: user.address } }
    for (const key of keys) {
      const plan = await earn.call('CreateClaimDepositInteraction', { ...input, key })
      expect(plan.status).toBe(200)
      expect(suffixOf(plan)).toBeUndefined()
    }
    expect(suffixOf(await story.claim(vault))).toMatchObject({ appCode: world.distributorId })
  })

  it('carries no suffix for a request nobody brought, whoever brought another of the wallet', async () => {
    const separate = await world.asyncVault(token, { separateIds: true })
    const abi = parseAbi(['function requestDeposit(uint256 assets, address controller, address owner)'])
    await world.send(await story.deposit(separate, 10n * usd), user)
    const approve = [separate.address, 20n * usd]
    await world.write(token, erc20Abi, 'approve', approve, user)
    await world.write(separate.address, abi, 'requestDeposit', [20n * usd, user.address, user.address], user)
    for (const id of [1n, 2n]) await story.settle(separate, 'settleDeposit', id)
    await world.sync()
    expect(suffixOf(await story.claim(separate, { requestId: '2' }))).toBeUndefined()
    expect(suffixOf(await story.claim(separate, { requestId: '1' }))).toMatchObject({ appCode: world.distributorId })
  })

  it('claims the request named, or all of them, where requests have ids of their own', async () => {
    const separate = await world.asyncVault(token, { separateIds: true })
    for (const amount of [10n, 20n]) await world.send(await story.deposit(separate, amount * usd), user)
    await world.sync()
    expect((await story.claim(separate)).body.reason).toBe('NOT_CLAIMABLE')
    for (const id of [1n, 2n]) await story.settle(separate, 'settleDeposit', id)
    const amountOf = async (changes = {}) =>
      decodeFunctionData({
        abi: asyncVaultAbi,
        data: (await story.claim(separate, changes)).body.transactions[0].transaction.data,
      }).args?.[0]
    expect(await amountOf({ requestId: '2' })).toBe(20n * usd)
    expect(await amountOf()).toBe(30n * usd)
    await world.send(await story.claim(separate), user)
    expect(await world.balance(separate.address, user.address)).toBe(30n * share)
  })

  it('works on an opportunity that is no longer offered', async () => {
    await world.send(await story.deposit(vault, 100n * usd), user)
    await story.settle(vault, 'settleDeposit')
    await world.earn.db`update opportunities set active = false where id = ${vault.opportunityId}`
    await world.refresh()
    expect((await story.claim(vault)).status).toBe(200)
  })

  it('succeeds on the chain once, however many claims of one deposit are built and sent', async () => {
    await world.send(await story.deposit(vault, 100n * usd), user)
    await story.settle(vault, 'settleDeposit')
    const plans = await Promise.all(Array.from({ length: 100 }, () => story.claim(vault)))
    expect(plans.every((plan) => plan.status === 200)).toBe(true)
    const { client } = world.anvil
    const first = await client.getTransactionCount({ address: user.address })
    await client.setAutomine(false)
    const hashes = await Promise.all(
      plans.map((plan, i) => {
        const { to, data } = plan.body.transactions[0].transaction
        return client.sendTransaction({ account: user, to, data, gas: 250_000n, nonce: first + i })
      }),
    )
    await client.setAutomine(true)
    await client.mine({ blocks: 1 })
    const receipts = await Promise.all(hashes.map((hash) => world.anvil.mined(hash)))
    expect(receipts.filter((receipt) => receipt.status === 'success')).toHaveLength(1)
    expect(receipts.filter((receipt) => receipt.status === 'reverted')).toHaveLength(99)
    expect(await world.balance(vault.address, user.address)).toBe(100n * share)
    expect(await story.entries(vault)).toHaveLength(1)
    expect((await story.claim(vault)).body.reason).toBe('NOTHING_PENDING')
  }, 60_000)
})

describe('400 INVALID_ARGUMENT', () => {
  it('has nothing to claim where nothing was requested, on a synchronous vault, and after the claim', async () => {
    refused(await story.claim(vault), 'NOTHING_PENDING')
    refused(await story.claim(await world.vault(token)), 'NOTHING_PENDING')
    await world.send(await story.deposit(vault, 100n * usd), user)
    await story.settle(vault, 'settleDeposit')
    await world.send(await story.claim(vault), user)
    refused(await story.claim(vault), 'NOTHING_PENDING')
  })

  it('asks to wait while the deposit is pending', async () => {
    await world.send(await story.deposit(vault, 100n * usd), user)
    refused(await story.claim(vault), 'NOT_CLAIMABLE', true)
  })

  it('has nothing to claim of a deposit that is being cancelled', async () => {
    await world.send(await story.deposit(vault, 100n * usd), user)
    await world.send(await story.cancel(vault), user)
    refused(await story.claim(vault), 'NOTHING_PENDING')
  })

  it('refuses malformed members', async () => {
    for (const changes of [
      { userAddress: 'me' },
      { requestId: -1 },
      { requestId: 'abc' },
      { requestId: String(2n ** 256n) },
    ])
      refused(await story.claim(vault, changes), undefined)
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses a distributor of another organization', async () => {
    const foreign = await world.earn.distributor(undefined, await world.earn.organization())
    await world.refresh()
    expect((await story.claim(vault, { distributorId: foreign })).body).toMatchObject({
      code: 403,
      status: 'PERMISSION_DENIED',
    })
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no such opportunity, distributor or member', async () => {
    const unknown = { ...vault, opportunityId: '00000000-0000-4000-8000-000000000000' }
    expect((await story.claim(unknown)).body).toMatchObject({ code: 404, error: 'no such opportunity' })
    expect((await story.claim(vault, { distributorId: 'nobody' })).body.error).toBe('no such distributor')
    const answer = await story.claim(vault, { userAddress: account(5).address })
    expect(answer.body).toMatchObject({ code: 404, status: 'NOT_FOUND', error: 'membership not found' })
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so when the chain cannot be read', async () => {
    const answer = await world.withNode(goneNode, () => story.claim(vault))
    expect(answer.body).toMatchObject({ code: 503, status: 'UNAVAILABLE', context: { retryable: true } })
  })
})
