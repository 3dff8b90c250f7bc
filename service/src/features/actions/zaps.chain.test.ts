import { asyncVaultAbi, depositRouterAbi, standardizedYieldAbi } from '@openearn/contracts'
import { verifyPlan } from '@openearn/sdk/verify'
import { type Address, decodeFunctionData, erc20Abi, erc4626Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { listToken, type WorldVault } from '../../../test/actionWorld.js'
import { openSwapWorld, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'
import { typesOf } from '../../../test/depositWorld.js'
import type { Answer } from '../../../test/harness.js'
import { rebuildChain } from '../../../test/pipeline.js'
import { refused } from '../../../test/refused.js'
import { systemClock } from '../../kernel/clock.js'

const user = account(1)
const ether = 10n ** 18n
const usd = 10n ** 6n

type Opened = SwapWorld<readonly [Wanted, Wanted, Wanted]>
let opened: Opened
let world: Opened['world']
let weth: Address
/** What vaults take, a token with pools, and one without any. */
let asset: Address
let other: Address
let lonely: Address
let vault: WorldVault

beforeAll(async () => {
  opened = await openSwapWorld({ pegUsd: '1' }, { decimals: 18, pegUsd: '2000' }, {})
  ;({ world, weth } = opened)
  ;[asset, other, lonely] = opened.tokens
  const { exchange } = opened
  await exchange.v2Pool(asset, other, 1_000_000n * usd, 500n * ether)
  await exchange.v3Pool(asset, other, 3_000, 900_000n * usd, 455n * ether)
  await exchange.v2Pool(weth, asset, 1_000n * ether, 2_000_000n * usd)
  await world.mint(other, user.address, 1_000n * ether)
  await world.mint(lonely, user.address, 1_000n * usd)
  await world.join(user.address)
  vault = await zapVault(await world.vault(asset, { minDepositUsd: '1' }))
})
afterAll(() => world.close())

async function zapVault(made: WorldVault): Promise<WorldVault> {
  await world.earn.db`update opportunities set routed_swap_enabled = true where id = ${made.opportunityId}`
  await world.refresh()
  return made
}

type Body = Record<string, string | number | boolean>

const deposit = (changes: Body = {}, { opportunityId } = vault) =>
  world.earn.call('CreateDepositInteraction', {
    params: { opportunityId },
    body: {
      ...{ userAddress: user.address, tokenIn: other, amount: String(ether), mode: 'swap' },
      ...{ distributorId: world.distributorId, ...changes },
    },
  })

const withdraw = (changes: Body = {}, { opportunityId } = vault) =>
  world.earn.call('CreateWithdrawInteraction', {
    params: { opportunityId },
    body: { userAddress: user.address, tokenOut: other, distributorId: world.distributorId, ...changes } as Body,
  })

const balances = async () => ({
  asset: await world.balance(asset, user.address),
  other: await world.balance(other, user.address),
  shares: await world.balance(vault.address, user.address),
  native: await world.anvil.client.getBalance({ address: user.address }),
})

/** Sends a plan; what the wallet has more of, the gas it paid left out. */
async function changesOf(answer: Answer) {
  const before = await balances()
  const receipts = await world.send(answer, user)
  const paid = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
  const after = await balances()
  return {
    asset: after.asset - before.asset,
    other: after.other - before.other,
    shares: after.shares - before.shares,
    native: after.native - before.native + paid,
    receipts,
  }
}

const swapOf = (answer: Answer) =>
  answer.body.transactions.find(
    ({ type, metadata }: { type: string; metadata?: object }) => type === 'swap' && metadata,
  )
const quotedOut = (answer: Answer) => BigInt(swapOf(answer).metadata.amountOut)
const minimumOf = (amountOut: bigint, slippageBps = 50n) => (amountOut * (10_000n - slippageBps)) / 10_000n

async function entriesOf(transactionHash: string) {
  await world.sync()
  return world.earn.db`
    select kind, distributor_id as "distributorId", attribution, assets, is_swap as "isSwap" from interactions
    where transaction_hash = ${transactionHash} order by log_index`
}

/** How often something waits for its node. */
async function countTrips<T>(make: () => Promise<T>): Promise<{ made: T; trips: number }> {
  let open = 0
  let trips = 0
  const made = await world.withNode(
    (request) => async (call) => {
      if (open++ === 0) trips += 1
      try {
        return await request(call)
      } finally {
        open -= 1
      }
    },
    make,
  )
  return { made, trips }
}

/** What of a quoted redemption is swapped: all but one part in ten thousand, rounded up. */
const swappedOf = (quoted: bigint) => (quoted * 9_999n) / 10_000n

const previewRedeem = (of: WorldVault, shares: bigint) =>
  world.anvil.client.readContract({
    address: of.address,
    abi: erc4626Abi,
    functionName: 'previewRedeem',
    args: [shares],
  })

describe('a deposit of another token', () => {
  it('swaps it, deposits exactly the minimum, leaves the rest in the wallet, and is a swap in the ledger', async () => {
    const { made: answer, trips } = await countTrips(() => deposit())
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(['approve', 'swap', 'approve', 'deposit'])
    expect(trips).toBe(3)
    const out = quotedOut(answer)
    const enters = minimumOf(out)
    expect(answer.body.simulation).toMatchObject({ status: 'ok' })
    expect(answer.body.simulation.assetChanges).toMatchObject([
      { token: { address: other }, amount: String(-ether) },
      { token: { address: asset }, amount: String(out - enters) },
      { token: { address: vault.address } },
    ])
    expect(swapOf(answer).description).toContain('stays in your wallet as TUSD')
    const { receipts, ...changes } = await changesOf(answer)
    expect(changes).toMatchObject({ other: -ether, asset: out - enters, native: 0n })
    expect(changes.shares).toBeGreaterThan(0n)
    expect(await entriesOf(receipts.at(-1)!.transactionHash)).toEqual([
      { kind: 'deposit', distributorId: 'acme', attribution: 'signed', assets: String(enters), isSwap: true },
    ])
  })

  it('carries the minimum of a vault that takes one, to the unit of its quote for all that enters', async () => {
    const second = await world.token({ decimals: 18, pegUsd: '1' })
    const several = await zapVault(await world.severalTokenVault(asset, second))
    await world.mint(asset, several.address, 12_345n)
    const { made: answer, trips } = await countTrips(() => deposit({ slippageBps: 100 }, several))
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(['approve', 'swap', 'approve', 'deposit'])
    // Its quote for what enters is asked once that is known.
    expect(trips).toBe(4)
    const enters = minimumOf(quotedOut(answer), 100n)
    const { data } = answer.body.transactions.at(-1).transaction
    const quoted = await world.anvil.client.readContract({
      ...{ address: several.address, abi: standardizedYieldAbi, functionName: 'previewDeposit', args: [asset, enters] },
    })
    expect(decodeFunctionData({ abi: standardizedYieldAbi, data }).args).toEqual([
      ...[user.address, asset, enters, minimumOf(quoted as bigint, 100n)],
    ])
    const before = await world.balance(several.address, user.address)
    await world.send(answer, user)
    expect((await world.balance(several.address, user.address)) - before).toBe(quoted)
  })

  it('names in its swap the deadline its caller asked for', async () => {
    const now = Math.floor(Date.parse((await deposit()).body.validUntil) / 1_000) - 600
    for (const deadlineSeconds of [60, 3_600]) {
      const answer = await deposit({ deadlineSeconds })
      expect(Date.parse(answer.body.validUntil) / 1_000).toBe(now + deadlineSeconds)
      const data = swapOf(answer).transaction.data as string
      expect(data).toContain((now + deadlineSeconds).toString(16).padStart(64, '0'))
    }
  })

  it('takes the native token', async () => {
    const answer = await deposit({ tokenIn: 'native', slippageBps: 100 })
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(['swap', 'approve', 'deposit'])
    const out = quotedOut(answer)
    const { asset: left, native } = await changesOf(answer)
    expect({ left, native }).toEqual({ left: out - minimumOf(out, 100n), native: -ether })
  })

  it('is a direct deposit where the vault takes the token as it is', async () => {
    await world.mint(asset, user.address, 10n * usd)
    const answer = await deposit({ tokenIn: asset, amount: String(10n * usd) })
    expect(typesOf(answer)).toEqual(['approve', 'deposit'])
    const { receipts } = await changesOf(answer)
    expect(await entriesOf(receipts.at(-1)!.transactionHash)).toMatchObject([{ isSwap: false }])
  })

  it('is built without a simulation when none is wanted, from the quote alone', async () => {
    const answer = await deposit({ simulate: false })
    expect(typesOf(answer)).toEqual(['approve', 'swap', 'approve', 'deposit'])
    expect(answer.body.simulation.status).toBe('skipped')
  })

  it('is refused with a reason: no route, too little, not held, switched off', async () => {
    refused(await deposit({ tokenIn: lonely, amount: String(usd) }), 'NO_ROUTE', true)
    refused(await deposit({ amount: String(ether / 10_000n) }), 'BELOW_MINIMUM')
    refused(await deposit({ amount: String(1_000_000n * ether) }), 'INSUFFICIENT_BALANCE')
    refused(await deposit({ tokenIn: account(5).address }), 'TOKEN_UNSUPPORTED')
    refused(await deposit({}, await world.vault(asset)), 'NO_ROUTE')
  })

  it('goes into the request of an asynchronous vault, and its claim is a swap in the ledger', async () => {
    const slow = await zapVault(await world.asyncVault(asset))
    const answer = await deposit({}, slow)
    expect(answer.status, answer.text).toBe(200)
    const enters = minimumOf(quotedOut(answer))
    await world.send(answer, user)
    await world.settle(slow.address, user.address)
    const claim = await world.earn.call('CreateClaimDepositInteraction', {
      params: { opportunityId: slow.opportunityId },
      body: { userAddress: user.address, distributorId: world.distributorId },
    })
    const receipts = await world.send(claim, user)
    expect(await entriesOf(receipts.at(-1)!.transactionHash)).toEqual([
      { kind: 'deposit', distributorId: 'acme', attribution: 'signed', assets: String(enters), isSwap: true },
    ])
  })
})

describe('a withdrawal in another token', () => {
  it('redeems, swaps what that is sure to give, leaves the rest in the wallet, and is a swap in the ledger', async () => {
    await world.send(await deposit(), user)
    const shares = (await world.balance(vault.address, user.address)) / 2n
    const quoted = await previewRedeem(vault, shares)
    const { made: answer, trips } = await countTrips(() => withdraw({ amount: String(shares) }))
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(['withdraw', 'approve', 'swap'])
    expect(trips).toBe(3)
    const out = quotedOut(answer)
    expect(answer.body.simulation.assetChanges).toMatchObject([
      { token: { address: vault.address }, amount: String(-shares) },
      { token: { address: asset } },
      { token: { address: other }, amount: String(out) },
    ])
    const { receipts, ...changes } = await changesOf(answer)
    const swapped = swappedOf(quoted)
    expect(swapOf(answer).transaction.data).toContain(swapped.toString(16).padStart(64, '0'))
    const entries = await entriesOf(receipts[0]!.transactionHash)
    // The vault has earned since it was asked: all of that stays as the asset.
    expect(changes).toMatchObject({ shares: -shares, other: out, asset: BigInt(entries[0]!['assets']) - swapped })
    expect(changes.asset).toBeGreaterThan(0n)
    expect(entries).toMatchObject([{ kind: 'withdraw', distributorId: 'acme', attribution: 'signed', isSwap: true }])
  })

  it('pays the native token', async () => {
    const shares = (await world.balance(vault.address, user.address)) / 4n
    const answer = await withdraw({ amount: String(shares), tokenOut: 'native' })
    expect(answer.status, answer.text).toBe(200)
    const swapped = swappedOf(await previewRedeem(vault, shares))
    const { native, asset: left, receipts } = await changesOf(answer)
    const [entry] = await entriesOf(receipts[0]!.transactionHash)
    expect({ native, left }).toEqual({ native: quotedOut(answer), left: BigInt(entry!['assets']) - swapped })
  })

  it('is refused with a reason: no route, the shares themselves, more than is held', async () => {
    const amount = String(await world.balance(vault.address, user.address))
    refused(await withdraw({ amount, tokenOut: lonely }), 'NO_ROUTE', true)
    refused(await withdraw({ amount, tokenOut: vault.address }), 'TOKEN_NOT_ACCEPTED')
    refused(await withdraw({ amount: `${amount}0` }), 'INSUFFICIENT_BALANCE')
  })

  it('of an asynchronous vault is for the claim only', async () => {
    const slow = await zapVault(await world.asyncVault(asset, { kind: 'erc7540-redeem' }))
    await world.send(await deposit({}, slow), user)
    const amount = String(await world.balance(slow.address, user.address))
    refused(await withdraw({ amount }, slow), 'TOKEN_NOT_ACCEPTED')
    const request = await world.earn.call('CreateWithdrawInteraction', {
      params: { opportunityId: slow.opportunityId },
      body: { userAddress: user.address, amount, distributorId: world.distributorId },
    })
    await world.send(request, user)
    await world.write(slow.address, asyncVaultAbi, 'settleRedeem', [user.address, 0n])
    const claim = await withdraw({ amount }, slow)
    expect(claim.status, claim.text).toBe(200)
    expect(typesOf(claim)).toEqual(['withdraw', 'approve', 'swap'])
    const assets = await world.anvil.client.readContract({
      ...{ address: slow.address, abi: asyncVaultAbi, functionName: 'maxWithdraw', args: [user.address] },
    })
    const { other: gained, asset: left, receipts } = await changesOf(claim)
    expect({ gained, left }).toEqual({
      gained: quotedOut(claim),
      left: (assets as bigint) - swappedOf(assets as bigint),
    })
    // Of asynchronous parts the request's suffix decides, and the request swapped nothing.
    expect(await entriesOf(receipts[0]!.transactionHash)).toMatchObject([
      { kind: 'withdraw', distributorId: 'acme', attribution: 'signed', isSwap: false },
    ])
  })
})

describe('a deposit of what the asset of the vault wraps', () => {
  let router: Address
  let wrapper: Address
  let over: WorldVault
  const amount = 100n * usd

  /** The wrapper's price grows with time, as that of Aave's StataToken does. */
  beforeAll(async () => {
    router = await world.depositRouter()
    wrapper = (await world.vault(asset)).address
    await listToken(world.earn, { address: wrapper, decimals: 18, symbol: 'waTUSD' })
    over = await zapVault(await world.vault(wrapper, { old: true }))
    for (const holder of [world.owner, user]) await world.mint(asset, holder.address, 10n * amount)
    await world.write(asset, erc20Abi, 'approve', [wrapper, amount])
    await world.write(wrapper, erc4626Abi, 'deposit', [amount, world.owner.address])
    await useWrappers([{ address: wrapper, asset }])
  })

  async function useWrappers(list: readonly { address: Address; asset: Address }[]): Promise<void> {
    const settings = JSON.stringify({ wrappers: list }).toLowerCase()
    await world.earn.db`
      update chains set swap = swap || ${settings}::text::jsonb where chain_id = ${world.chainId}`
    await world.refresh()
  }
  const ask = () => deposit({ tokenIn: asset, amount: String(amount), slippageBps: 30 }, over)

  it('goes through the own deposit of the wrapper at its rate, with the minimum held on chain and nothing left behind', async () => {
    const { made: answer, trips } = await countTrips(ask)
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(['approve', 'swap', 'approve', 'deposit'])
    expect(trips).toBe(3)
    const out = quotedOut(answer)
    const enters = minimumOf(out, 30n)
    const { transaction, metadata } = swapOf(answer)
    expect(metadata).toMatchObject({ provider: 'wrapper', route: [{ action: 'wrap' }] })
    expect(transaction.to.toLowerCase()).toBe(router.toLowerCase())
    expect(decodeFunctionData({ abi: depositRouterAbi, data: transaction.data }).args).toEqual([
      ...[wrapper, amount, user.address, enters],
    ])
    const held = await world.balance(over.address, user.address)
    const receipts = await world.send(answer, user)
    expect(await world.balance(over.address, user.address)).toBeGreaterThan(held)
    // The share costs no less than when it was quoted, and no less than the minimum came.
    const rest = await world.balance(wrapper, user.address)
    expect(rest > 0n && rest <= out - enters).toBe(true)
    expect(await entriesOf(receipts.at(-1)!.transactionHash)).toEqual([
      { kind: 'deposit', distributorId: 'acme', attribution: 'signed', assets: String(enters), isSwap: true },
    ])
    for (const token of [asset, wrapper]) expect(await world.balance(token, router)).toBe(0n)
    const allowed = [user.address, router] as const
    const left = await world.anvil.client.readContract({
      ...{ address: asset, abi: erc20Abi, functionName: 'allowance', args: allowed },
    })
    expect(left).toBe(0n)
    // Whoever verifies it knows what the wrapper wraps, or says no.
    const { request, transactions, context } = world.plans.at(-1)!
    const wraps = (list: { address: string; asset: string }[]) =>
      verifyPlan(request, transactions, { ...context, swap: { ...context.swap!, wrappers: list } })
    expect((await wraps([{ address: wrapper, asset }])).ok).toBe(true)
    for (const list of [[], [{ address: wrapper, asset: other }], [{ address: other, asset }]])
      expect((await wraps(list)).problems.join()).toContain('a router that is not known')
  })

  it('does nothing where the share costs more by then than the minimum allows', async () => {
    const answer = await ask()
    const [approve, swap] = answer.body.transactions
    await world.write(asset, erc20Abi, 'approve', [router, amount], user)
    await world.mint(asset, wrapper, amount)
    expect(approve.type).toBe('approve')
    const { to, data } = swap.transaction
    await expect(world.anvil.client.call({ account: user.address, to, data })).rejects.toThrow(/0x|SharesBelowMinimum/)
    await world.write(asset, erc20Abi, 'approve', [router, 0n], user)
  })

  it('is a swap for the wrapper alone too, and none where the wrapper wraps another token than was set up', async () => {
    const query = { tokenIn: asset, tokenOut: wrapper, amountIn: String(amount) }
    const answer = await opened.swap(query)
    expect(answer.status, answer.text).toBe(200)
    expect(swapOf(answer).metadata.provider).toBe('wrapper')
    await useWrappers([{ address: wrapper, asset: other }])
    refused(await deposit({}, over), 'NO_ROUTE', true)
    refused(await ask(), 'NO_ROUTE', true)
    await useWrappers([])
  })
})

it('says the same of every entry after a rebuild', async () => {
  await world.sync()
  const read = () => world.earn.db`select id, is_swap from interactions order by id`
  const before = await read()
  expect(before.some((row) => row['is_swap'] === true)).toBe(true)
  await rebuildChain({ db: world.earn.db, clock: systemClock }, { chainId: world.chainId })
  expect(await read()).toEqual(before)
})
