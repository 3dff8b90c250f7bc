import { asyncVaultAbi } from '@openearn/contracts'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { WorldVault } from '../../../test/actionWorld.js'
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

describe('a deposit of another token', () => {
  it('swaps it, deposits exactly the minimum, leaves the rest in the wallet, and is a swap in the ledger', async () => {
    const answer = await deposit()
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(['approve', 'swap', 'approve', 'deposit'])
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
    refused(await deposit({}, await world.vault(asset)), 'NO_ROUTE', true)
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
    const answer = await withdraw({ amount: String(shares) })
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(['withdraw', 'approve', 'swap'])
    const out = quotedOut(answer)
    expect(answer.body.simulation.assetChanges).toMatchObject([
      { token: { address: vault.address }, amount: String(-shares) },
      { token: { address: asset } },
      { token: { address: other }, amount: String(out) },
    ])
    const { receipts, ...changes } = await changesOf(answer)
    expect(changes).toMatchObject({ shares: -shares, other: out })
    expect(changes.asset).toBeGreaterThanOrEqual(0n)
    expect(await entriesOf(receipts[0]!.transactionHash)).toMatchObject([
      { kind: 'withdraw', distributorId: 'acme', attribution: 'signed', isSwap: true },
    ])
  })

  it('pays the native token', async () => {
    const shares = (await world.balance(vault.address, user.address)) / 4n
    const answer = await withdraw({ amount: String(shares), tokenOut: 'native' })
    expect(answer.status, answer.text).toBe(200)
    const { native } = await changesOf(answer)
    expect(native).toBe(quotedOut(answer))
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
    const { other: gained, receipts } = await changesOf(claim)
    expect(gained).toBe(quotedOut(claim))
    // Of asynchronous parts the request's suffix decides, and the request swapped nothing.
    expect(await entriesOf(receipts[0]!.transactionHash)).toMatchObject([
      { kind: 'withdraw', distributorId: 'acme', attribution: 'signed', isSwap: false },
    ])
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
