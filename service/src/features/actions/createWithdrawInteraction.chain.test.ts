import { testTokenAbi, yieldVaultAbi } from '@openearn/contracts'
import { type Address, decodeFunctionData, erc4626Abi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'
import { refused } from '../../../test/refused.js'
import { RpcError } from '../../rpc/rpc.js'
import { listActions } from '../plans/index.js'

const user = account(1)
const stranger = account(2)
const usd = 1_000_000n
const share = 10n ** 18n
let world: World
let token: Address
let vault: WorldVault

beforeAll(async () => {
  world = await openWorld()
  await world.join(user.address)
})
afterAll(() => world.close())

// Every test has a vault of its own, in which the user holds 100 shares.
beforeEach(async () => {
  token = await world.token({ pegUsd: '1' })
  vault = await world.vault(token)
  await world.mint(token, user.address, 1000n * usd)
  const plan = await world.earn.call('CreateDepositInteraction', {
    params: { opportunityId: vault.opportunityId },
    body: {
      userAddress: user.address,
      tokenIn: token,
      amount: String(100n * usd),
      distributorId: world.distributorId,
    },
  })
  await world.send(plan, user)
})

const withdraw = (changes: Record<string, unknown> = {}, id = vault.opportunityId) =>
  world.earn.call('CreateWithdrawInteraction', {
    params: { opportunityId: id },
    body: {
      userAddress: user.address,
      amount: String(40n * share),
      distributorId: world.distributorId,
      ...changes,
    },
  })

describe('200', () => {
  it('gives one redemption to the wallet itself, and what the simulation says is what is mined', async () => {
    const plan = await withdraw()
    expect(plan.status).toBe(200)
    expect(plan.body.transactions).toHaveLength(1)
    const [{ type, description, transaction }] = plan.body.transactions
    expect(type).toBe('withdraw')
    expect(description).toBe(
      `Redeem 40 yTUSD (${vault.address}) at Yield vault (${vault.address}); the TUSD (${token}) goes to ${user.address}.`,
    )
    expect(decodeFunctionData({ abi: erc4626Abi, data: transaction.data })).toEqual({
      functionName: 'redeem',
      args: [40n * share, user.address, user.address],
    })
    const changes = Object.fromEntries(
      plan.body.simulation.assetChanges.map((change: { token: { address: string }; amount: string }) => [
        change.token.address,
        BigInt(change.amount),
      ]),
    )
    expect(changes[vault.address]).toBe(-40n * share)
    const before = await world.balance(token, user.address)
    await world.send(plan, user)
    expect(await world.balance(vault.address, user.address)).toBe(60n * share)
    const gained = (await world.balance(token, user.address)) - before
    expect(gained - changes[token]).toBeGreaterThanOrEqual(0n)
    expect(gained - changes[token]).toBeLessThanOrEqual(100n)
  })

  it('is recorded with its value, and leaves no trace of an approval', async () => {
    const plan = await withdraw({ simulate: false })
    expect(plan.body.simulation.status).toBe('skipped')
    expect(plan.body.transactions[0].transaction.gasLimit).toBe('900000')
    const action = (await listActions(world.earn.db, [plan.body.actionId]))[0]
    expect(action).toMatchObject({ kind: 'withdraw', tokenIn: vault.address.toLowerCase(), tokenInDecimals: 18 })
    expect(Number(action?.amountUsd)).toBeCloseTo(40, 3)
  })

  it('takes the asset of the vault as tokenOut', async () => {
    expect((await withdraw({ tokenOut: token })).status).toBe(200)
  })

  it('lets everybody leave an opportunity that is no longer offered', async () => {
    await world.earn.db`update opportunities set active = false where id = ${vault.opportunityId}`
    await world.refresh()
    expect((await withdraw()).status).toBe(200)
  })

  it('takes everything the wallet holds', async () => {
    await world.send(await withdraw({ amount: String(100n * share) }), user)
    expect(await world.balance(vault.address, user.address)).toBe(0n)
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each([
    ['amount', 1],
    ['amount', '0'],
    ['userAddress', 'me'],
    ['tokenOut', '0x12'],
    ['slippageBps', 1.5],
    ['distributorId', undefined],
  ])('refuses a malformed %s', async (name, value) => {
    const body = refused(await withdraw({ [name]: value }), undefined)
    expect(body.context.violations[0].path).toBe(`body.${name}`)
  })

  it('says insufficient token balance when the wallet has fewer shares', async () => {
    const body = refused(await withdraw({ amount: String(100n * share + 1n) }), 'INSUFFICIENT_BALANCE')
    expect(body.error).toBe('insufficient token balance')
    await world.join(account(3).address)
    refused(await withdraw({ userAddress: account(3).address }), 'INSUFFICIENT_BALANCE')
  })

  it('refuses another token than the vault pays', async () => {
    refused(await withdraw({ tokenOut: vault.address }), 'TOKEN_NOT_ACCEPTED')
  })

  it('refuses fewer shares than the minimum', async () => {
    await world.earn.db`update opportunities set min_withdraw_amount = 50.5 where id = ${vault.opportunityId}`
    await world.refresh()
    refused(await withdraw({ amount: String(50n * share) }), 'BELOW_MINIMUM')
    expect((await withdraw({ amount: String(51n * share) })).status).toBe(200)
  })

  it('refuses dust that would give nothing', async () => {
    refused(await withdraw({ amount: '1' }), 'BELOW_MINIMUM')
  })

  it('refuses a vault whose withdrawals are paused, by the operator or by itself', async () => {
    await world.write(vault.address, yieldVaultAbi, 'setWithdrawalsPaused', [true])
    refused(await withdraw(), 'WITHDRAW_DISABLED')
    await world.write(vault.address, yieldVaultAbi, 'setWithdrawalsPaused', [false])
    await world.earn.db`
      update opportunities set withdraw_enabled = false, withdraw_disabled_reason = 'Audit'
      where id = ${vault.opportunityId}`
    await world.refresh()
    expect(refused(await withdraw(), 'WITHDRAW_DISABLED').error).toBe('Audit')
  })

  it('says which transaction would revert, and why', async () => {
    await world.anvil.pass(3600)
    await world.write(token, testTokenAbi, 'setMinter', [vault.address, false])
    const body = refused(await withdraw(), 'SIMULATION_REVERTED')
    expect(body.context.transactionIndex).toBe(0)
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses a distributor of another organization', async () => {
    const foreign = await world.earn.distributor(undefined, await world.earn.organization())
    await world.refresh()
    expect((await withdraw({ distributorId: foreign })).body).toMatchObject({ code: 403, status: 'PERMISSION_DENIED' })
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no such opportunity, distributor or member', async () => {
    expect((await withdraw({}, '00000000-0000-4000-8000-000000000000')).body.error).toBe('no such opportunity')
    expect((await withdraw({ distributorId: 'nobody' })).body.error).toBe('no such distributor')
    const answer = await withdraw({ userAddress: stranger.address })
    expect(answer.body).toMatchObject({ code: 404, status: 'NOT_FOUND', error: 'membership not found' })
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so when the node refuses to answer', async () => {
    const busy = () => async () => {
      throw new RpcError(-32000, 'busy', undefined)
    }
    const answer = await world.withNode(busy, () => withdraw({ simulate: false }))
    expect(answer.body).toMatchObject({ code: 503, status: 'UNAVAILABLE', context: { retryable: true } })
  })
})
