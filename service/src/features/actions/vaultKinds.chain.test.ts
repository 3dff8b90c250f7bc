import { depositRouterAbi, standardizedYieldAbi, yieldVaultAbi } from '@openearn/contracts'
import { type Address, decodeFunctionData, erc20Abi, erc4626Abi, formatUnits } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { openStories, type tellStories } from '../../../test/asyncStories.js'
import { RpcError } from '../../rpc/rpc.js'
import { listEvents, readVaultStates, vaultKinds } from '../../vaults/index.js'
import { listLots } from '../positions/index.js'

const user = account(1)
const usd = 1_000_000n
let world: World
let token: Address
let story: ReturnType<typeof tellStories>

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
})
afterAll(() => world.close())

/** What a plan moved, by balances before and after. */
async function moved(vault: WorldVault, plan: Awaited<ReturnType<typeof story.deposit>>) {
  const read = async () => ({
    assets: await world.balance(token, user.address),
    shares: await world.balance(vault.address, user.address),
  })
  const before = await read()
  await world.send(plan, user)
  const after = await read()
  return { assets: after.assets - before.assets, shares: after.shares - before.shares }
}

/** Lots of the user in a vault. */
async function lotsOf(vault: WorldVault) {
  const lots = await listLots(world.earn.db, [user.address.toLowerCase()])
  return lots
    .filter(({ vaultAddress }) => vaultAddress === vault.address.toLowerCase())
    .map(({ distributorId, shares }) => ({ distributorId, shares }))
}

/** A redemption asked for is refused as pending, and as a lack of balance where it is for more. */
async function expectPending(vault: WorldVault, shares: bigint): Promise<void> {
  const [same, more] = [await story.withdraw(vault, shares), await story.withdraw(vault, shares + 1n)]
  expect(same.body).toMatchObject({ code: 400, reason: 'NOT_CLAIMABLE', context: { retryable: true } })
  expect(more.body).toMatchObject({ code: 400, reason: 'INSUFFICIENT_BALANCE', context: { retryable: false } })
}

/** Yield makes shares and assets differ, with a remainder. */
const gift = (vault: WorldVault) => world.mint(token, vault.address, 7_777_777n)

describe('each vault kind, from the plan to the ledger, agrees with the balances to the unit', () => {
  it('erc4626: deposit and withdraw', async () => {
    const vault = await world.vault(token)
    const deposit = await moved(vault, await story.deposit(vault, 123_456_789n))
    expect(deposit.assets).toBe(-123_456_789n)
    await gift(vault)
    await world.anvil.pass(86_400)
    const withdraw = await moved(vault, await story.withdraw(vault, deposit.shares / 3n))
    expect(withdraw.shares).toBe(-(deposit.shares / 3n))
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(-deposit.assets), attribution: 'signed' },
      { interaction: 'withdraw', amountRaw: String(withdraw.assets), attribution: 'signed' },
    ])
  })

  it.each([
    ['erc7540', 0n, 0n],
    ['lagoon', 1n, 2n],
  ] as const)('%s: request, claim, request to redeem, claim', async (kind, depositId, redeemId) => {
    const vault = await world.asyncVault(token, { kind })
    const request = await moved(vault, await story.deposit(vault, 123_456_789n))
    expect(request).toEqual({ assets: -123_456_789n, shares: 0n })
    await world.sync()
    await story.settle(vault, 'settleDeposit', depositId)
    const claim = await moved(vault, await story.claim(vault))
    expect(claim.assets).toBe(0n)
    await gift(vault)

    const part = claim.shares / 3n
    const redeem = await story.withdraw(vault, part)
    expect(redeem.body.transactions[0].description).toMatch(/^Request to redeem/)
    expect(await moved(vault, redeem)).toEqual({ assets: 0n, shares: -part })
    await story.settle(vault, 'settleRedeem', redeemId)

    // Claimable shares count as balance: a part is claimed, more than there is asks for a new request.
    const first = await story.withdraw(vault, part / 2n)
    expect(decodeFunctionData({ abi: erc4626Abi, data: first.body.transactions[0].transaction.data })).toEqual({
      functionName: 'redeem',
      args: [part / 2n, user.address, user.address],
    })
    expect(first.body.transactions[0].description).toMatch(/^Claim the TUSD/)
    const half = await moved(vault, first)
    const rest = await moved(vault, await story.withdraw(vault, part - part / 2n))
    expect(half.shares + rest.shares).toBe(0n)

    const left = claim.shares - part
    await moved(vault, await story.withdraw(vault, left))
    await world.sync()
    await expectPending(vault, left)
    expect((await story.withdraw(vault, claim.shares)).body.reason).toBe('INSUFFICIENT_BALANCE')
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(-request.assets) },
      { interaction: 'withdraw', amountRaw: String(half.assets) },
      { interaction: 'withdraw', amountRaw: String(rest.assets) },
    ])
  })

  it('erc7540-deposit: deposits wait, redemptions do not', async () => {
    const vault = await world.asyncVault(token, { kind: 'erc7540-deposit' })
    await world.send(await story.deposit(vault, 1000n * usd), user)
    await world.sync()
    await story.settle(vault, 'settleDeposit')
    const claim = await moved(vault, await story.claim(vault))
    const withdraw = await moved(vault, await story.withdraw(vault, claim.shares))
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(1000n * usd) },
      { interaction: 'withdraw', amountRaw: String(withdraw.assets) },
    ])
  })

  it('erc7540-redeem: redemptions wait, deposits do not', async () => {
    const vault = await world.asyncVault(token, { kind: 'erc7540-redeem' })
    const deposit = await moved(vault, await story.deposit(vault, 1000n * usd))
    await world.send(await story.withdraw(vault, deposit.shares), user)
    await expectPending(vault, deposit.shares)
    await story.settle(vault, 'settleRedeem')
    const withdraw = await moved(vault, await story.withdraw(vault, deposit.shares))
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(1000n * usd) },
      { interaction: 'withdraw', amountRaw: String(withdraw.assets) },
    ])
    expect((await story.claim(vault)).body.reason).toBe('NOTHING_PENDING')
  })
})

describe('erc5115: a vault that takes and pays several tokens', () => {
  it('carries a minimum in both calls, and the ledger has what moved in its asset', async () => {
    const second = await world.token({ decimals: 18, pegUsd: '1' })
    await world.mint(second, user.address, 10n ** 24n)
    const vault = await world.severalTokenVault(token, second)
    const first = await story.deposit(vault, 123_456_789n)
    const deposit = await moved(vault, first)
    expect(deposit).toEqual({ assets: -123_456_789n, shares: 123_456_789n * 10n ** 12n })
    const leastOf = (plan: typeof first, at: number) =>
      decodeFunctionData({ abi: standardizedYieldAbi, data: plan.body.transactions.at(-1).transaction.data }).args?.[at]
    // Half a percent where nothing is said.
    expect(leastOf(first, 3)).toBe((deposit.shares * 9_950n) / 10_000n)
    await gift(vault)
    const plan = await story.deposit(vault, 100n * 10n ** 18n, { tokenIn: second, slippageBps: 100 })
    const quoted = BigInt(plan.body.simulation.assetChanges[1].amount)
    const { args } = decodeFunctionData({ abi: standardizedYieldAbi, data: plan.body.transactions[1].transaction.data })
    expect(args).toEqual([user.address, second, 100n * 10n ** 18n, (quoted * 9_900n) / 10_000n])
    const least = formatUnits((quoted * 9_900n) / 10_000n, 18)
    expect(plan.body.transactions[1].description).toContain(` for at least ${least} yTUSD (`)
    await world.send(plan, user)
    await world.sync()
    // Whichever token was given, the shares are of who brought them; only the asset makes entries.
    expect(await lotsOf(vault)).toEqual([
      { distributorId: world.distributorId, shares: String(deposit.shares + quoted) },
    ])

    const shares = deposit.shares / 3n
    const nothing = await story.withdraw(vault, shares)
    expect(nothing.body).toMatchObject({ code: 400, context: { violations: [{ path: 'body.tokenOut' }] } })
    const before = await world.balance(second, user.address)
    const out = await story.withdraw(vault, shares, { tokenOut: second })
    expect(leastOf(out, 3)).toBe((BigInt(out.body.simulation.assetChanges[1].amount) * 9_950n) / 10_000n)
    await world.send(out, user)
    expect(String((await world.balance(second, user.address)) - before)).toBe(
      out.body.simulation.assetChanges[1].amount,
    )
    const withdraw = await moved(vault, await story.withdraw(vault, shares, { tokenOut: token }))
    expect(withdraw.shares).toBe(-shares)
    await world.sync()
    const left = deposit.shares + quoted - 2n * shares
    expect(await lotsOf(vault)).toEqual([{ distributorId: world.distributorId, shares: String(left) }])
    expect((await story.withdraw(vault, shares, { tokenOut: vault.address })).body.reason).toBe('TOKEN_NOT_ACCEPTED')
    expect(await story.entries(vault)).toMatchObject([
      { interaction: 'deposit', amountRaw: String(123_456_789n), attribution: 'signed' },
      { interaction: 'withdraw', amountRaw: String(withdraw.assets), attribution: 'signed' },
    ])
  })

  it('has snapshots by its exchange rate', async () => {
    const second = await world.token({ decimals: 18, pegUsd: '1' })
    const vault = await world.severalTokenVault(token, second)
    await world.send(await story.deposit(vault, 1000n * usd), user)
    await world.mint(token, vault.address, 250n * usd)
    const { hash } = await world.anvil.client.getBlock()
    const chain = world.earn.ctx.chains.get(world.chainId)!
    const receipt = { receiptToken: vault.address, receiptDecimals: 18 }
    const [state] = await readVaultStates(chain, [{ address: vault.address, ...receipt, kind: 'erc5115' }], hash)
    expect(state).toMatchObject({ depositOpen: true, withdrawOpen: true })
    expect(state?.figures).toEqual({
      totalAssets: 1250n * usd,
      totalSupply: 1000n * 10n ** 18n,
      // A share is worth 1.25 of a token with 6 decimals; 12 digits more are kept.
      priceNumerator: 1_250_000n * 10n ** 12n,
      priceExponent: 30,
    })
  })

  it('reverts on the chain when the price has moved further than the slippage allowed', async () => {
    const second = await world.token({ decimals: 18, pegUsd: '1' })
    const vault = await world.severalTokenVault(token, second)
    await world.send(await story.deposit(vault, 1000n * usd), user)
    const plan = await story.withdraw(vault, 10n ** 18n, { tokenOut: token, slippageBps: 10 })
    await world.send(plan, user)
    const stale = await story.deposit(vault, 1000n * usd, { slippageBps: 10 })
    await world.mint(token, vault.address, 100n * usd)
    await expect(world.send(stale, user)).rejects.toThrow(/reverted/)
  })
})

describe('protect: a deposit for a least number of shares', () => {
  const protect = { protect: true }

  it('is refused without a router, and for every kind but erc4626', async () => {
    const vault = await world.vault(token)
    const without = await story.deposit(vault, 1000n * usd, protect)
    expect(without.body).toMatchObject({
      code: 400,
      error: 'protect: no deposit router is configured for this chain',
    })
    await world.depositRouter()
    for (const kind of ['erc7540', 'erc7540-redeem', 'lagoon'] as const) {
      const answer = await story.deposit(await world.asyncVault(token, { kind }), 1000n * usd, protect)
      expect(answer.body).toMatchObject({ code: 400, context: { kind } })
    }
  })

  it('goes through the router with the quote less the slippage, which keeps nothing, and is credited to the wallet', async () => {
    const router = await world.depositRouter()
    const vault = await world.vault(token)
    const plan = await story.deposit(vault, 123_456_789n, { ...protect, slippageBps: 100 })
    const [approval, main] = plan.body.transactions
    expect(decodeFunctionData({ abi: erc20Abi, data: approval.transaction.data }).args).toEqual([router, 123_456_789n])
    const quoted = BigInt(plan.body.simulation.assetChanges[1].amount)
    const least = (quoted * 9_900n) / 10_000n
    expect(main.transaction.to).toBe(router)
    expect(decodeFunctionData({ abi: depositRouterAbi, data: main.transaction.data }).args).toEqual([
      ...[vault.address, 123_456_789n, user.address, least],
    ])
    expect(approval.description).toContain(`Allow the deposit router (${router}) to take exactly`)
    expect(main.description).toContain(` through the deposit router (${router}) for at least `)
    expect(await moved(vault, plan)).toEqual({ assets: -123_456_789n, shares: quoted })
    expect(await world.balance(token, router)).toBe(0n)
    expect(await world.balance(vault.address, router)).toBe(0n)
    const args = [user.address, router] as const
    const allowance = { address: token, abi: erc20Abi, functionName: 'allowance', args } as const
    expect(await world.anvil.client.readContract(allowance)).toBe(0n)
    expect(await story.entries(vault)).toMatchObject([
      {
        interaction: 'deposit',
        amountRaw: '123456789',
        attribution: 'signed',
        isSwap: false,
        walletAddress: user.address,
      },
    ])
    expect(await lotsOf(vault)).toEqual([{ distributorId: world.distributorId, shares: String(quoted) }])
  })

  it('is credited by the calldata alone where no node tells how it ran', async () => {
    await world.depositRouter()
    const vault = await world.vault(token)
    const plan = await story.deposit(vault, 1000n * usd, protect)
    const entries = await world.withNode(
      (request) => async (asked) => {
        if (/^(debug|trace)_/.test(asked.method)) throw new RpcError(-32601, 'the method does not exist', undefined)
        return request(asked)
      },
      async () => {
        await world.send(plan, user)
        return story.entries(vault)
      },
    )
    expect(entries).toMatchObject([{ interaction: 'deposit', amountRaw: String(1000n * usd), attribution: 'signed' }])
  })

  it('reverts on the chain where fewer shares would come than the minimum', async () => {
    await world.depositRouter()
    const vault = await world.vault(token)
    await world.send(await story.deposit(vault, 1000n * usd), user)
    const stale = await story.deposit(vault, 1000n * usd, { ...protect, slippageBps: 10 })
    await gift(vault)
    await expect(world.send(stale, user)).rejects.toThrow(/reverted/)
  })
})

describe('a vault listed as another kind than it is', () => {
  it.each([
    ['erc7540-deposit', 'TOKEN_UNSUPPORTED'],
    ['erc7540-redeem', 'TOKEN_UNSUPPORTED'],
  ] as const)('is refused: %s', async (kind, reason) => {
    const vault = await world.asyncVault(token, { kind })
    const other = kind === 'erc7540-deposit' ? 'erc7540-redeem' : 'erc7540-deposit'
    await world.earn.db`update vaults set kind = ${other} where address = ${vault.address.toLowerCase()}`
    await world.refresh()
    expect((await story.deposit(vault, 1000n * usd)).body.reason).toBe(reason)
  })
})

describe('what goes wrong between plan and block', () => {
  it('a cap reached meanwhile reverts on the chain, and the next plan says what room is left', async () => {
    const vault = await world.vault(token)
    const plan = await story.deposit(vault, 1000n * usd)
    await world.write(vault.address, yieldVaultAbi, 'setDepositCap', [400n * usd])
    await expect(world.send(plan, user)).rejects.toThrow(/reverted/)
    expect((await story.deposit(vault, 2000n * usd)).body).toMatchObject({
      ...{ code: 400, reason: 'CAP_EXCEEDED' },
      context: { maximum: String(400n * usd) },
    })
  })

  it('a request below the minimum is refused, on the way in and on the way out', async () => {
    const vault = await world.asyncVault(token)
    await world.earn.db`
      update opportunities set min_deposit_amount_usd = 10, min_withdraw_amount = 5 where id = ${vault.opportunityId}`
    await world.refresh()
    expect((await story.deposit(vault, 10n * usd - 1n)).body.reason).toBe('BELOW_MINIMUM')
    expect((await story.deposit(vault, 10n * usd)).status).toBe(200)
    expect((await story.withdraw(vault, 5n * 10n ** 18n - 1n)).body.reason).toBe('BELOW_MINIMUM')
    expect((await story.withdraw(vault, 5n * 10n ** 18n)).body.reason).toBe('INSUFFICIENT_BALANCE')
  })

  it('a second claim of the same deposit finds nothing', async () => {
    const vault = await world.asyncVault(token, { kind: 'erc7540' })
    await world.send(await story.deposit(vault, 1000n * usd), user)
    await world.sync()
    await story.settle(vault, 'settleDeposit')
    const [claim, same] = [await story.claim(vault), await story.claim(vault)]
    await world.send(claim, user)
    await expect(world.send(same, user)).rejects.toThrow(/reverted/)
    await world.sync()
    expect((await story.claim(vault)).body).toMatchObject({ code: 400, reason: 'NOTHING_PENDING' })
  })

  it('a proxy whose code becomes that of another kind is refused', async () => {
    const vault = await world.asyncVault(token, { kind: 'erc7540-redeem' })
    expect((await story.deposit(vault, 1000n * usd)).status).toBe(200)
    const other = await world.asyncVault(token, { kind: 'erc7540' })
    const code = await world.anvil.client.getCode({ address: other.address })
    await world.anvil.client.setCode({ address: vault.address, bytecode: code! })
    expect((await story.deposit(vault, 1000n * usd)).body).toMatchObject({ code: 400, reason: 'TOKEN_UNSUPPORTED' })
  })
})

describe('other: a vault that is listed and watched only', () => {
  it('takes no plan, each refused with its reason, and what happens in it is credited where it tells of it', async () => {
    const vault = await world.vault(token)
    const plan = await story.deposit(vault, 1000n * usd)
    await world.earn.db`update vaults set kind = 'other' where address = ${vault.address.toLowerCase()}`
    await world.refresh()
    const refused = [
      await story.deposit(vault, 1000n * usd),
      await story.withdraw(vault, 1n),
      await story.claim(vault),
      await story.cancel(vault),
    ]
    expect(refused.map(({ body }) => [body.code, body.reason, body.error])).toEqual([
      [400, 'DEPOSIT_DISABLED', 'This vault is listed and watched only.'],
      [400, 'WITHDRAW_DISABLED', 'This vault is listed and watched only.'],
      [400, 'NOTHING_PENDING', 'this vault is listed and watched only: this service builds nothing for it'],
      [400, 'NOTHING_PENDING', 'this vault is listed and watched only: this service builds nothing for it'],
    ])
    await world.send(plan, user)
    expect(await story.entries(vault)).toMatchObject([{ interaction: 'deposit', amountRaw: String(1000n * usd) }])
    const { hash } = await world.anvil.client.getBlock()
    const receipt = { receiptToken: vault.address, receiptDecimals: 18 }
    const observed = { address: vault.address, ...receipt, kind: 'other' }
    const [state] = await readVaultStates(world.earn.ctx.chains.get(world.chainId)!, [observed], hash)
    expect(state?.figures).toBeUndefined()
    const status = await world.earn.call('GetIndexingStatus', { query: { vaultAddress: vault.address } })
    expect(status.body.vaults).toMatchObject([{ state: 'unsupported', reason: 'no reader for this kind of vault' }])
  })
})

it('every kind has a name of its own and says what it emits', () => {
  expect(new Set(vaultKinds.map(({ name }) => name)).size).toBe(vaultKinds.length)
  // A plain token tells of nothing but its transfers, which are followed of every share.
  const silent = vaultKinds.filter((kind) => listEvents(kind).length < 2)
  expect(silent.map(({ name }) => name)).toEqual(['erc20'])
})
