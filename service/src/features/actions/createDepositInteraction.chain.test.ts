import {
  feeOnTransferTokenAbi,
  feeOnTransferTokenBytecode,
  lyingAssetVaultAbi,
  lyingAssetVaultBytecode,
  testTokenAbi,
  yieldVaultAbi,
} from '@openearn/contracts'
import { type Address, decodeFunctionData, erc20Abi, getAddress, type Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import {
  attributionAccount,
  chainSettings,
  listToken,
  openWorld,
  type World,
  type WorldVault,
} from '../../../test/actionWorld.js'
import { decodeSuffix, formatActionId, recoverAttributionSigner } from '../../chain/attribution/index.js'
import { openChain } from '../../chain/chains.js'
import { RpcError } from '../../chain/rpc.js'
import { systemClock } from '../../kernel/clock.js'
import { createOutbound } from '../../kernel/outbound.js'
import { findAction } from './index.js'

const user = account(1)
const stranger = account(2)
const usd = 1_000_000n
let world: World
let token: Address
let vault: WorldVault

beforeAll(async () => {
  world = await openWorld()
  await world.join(user.address)
})
afterAll(() => world.close())

// Every test has a token and a vault of its own.
beforeEach(async () => {
  token = await world.token({ pegUsd: '1' })
  vault = await world.vault(token, { minDepositUsd: '1' })
  await world.mint(token, user.address, 1000n * usd)
})

type Body = Record<string, unknown>
const body = (changes: Body = {}): Body => ({
  userAddress: user.address,
  tokenIn: token,
  amount: String(100n * usd),
  distributorId: world.distributorId,
  ...changes,
})
const deposit = (changes: Body = {}, options: { id?: string; key?: string } = {}) =>
  world.earn.call('CreateDepositInteraction', {
    params: { opportunityId: options.id ?? vault.opportunityId },
    body: body(changes),
    ...(options.key === undefined ? {} : { key: options.key }),
  })
const types = (answer: { body: { transactions: { type: string }[] } }) =>
  answer.body.transactions.map(({ type }) => type)

describe('200', () => {
  it('gives an exact approval and the deposit, and what the simulation says is what is mined', async () => {
    const plan = await deposit({ referralCode: 'friend-1' })
    expect(plan.status).toBe(200)
    expect(types(plan)).toEqual(['approve', 'deposit'])
    const [approve, last] = plan.body.transactions
    expect(decodeFunctionData({ abi: erc20Abi, data: approve.transaction.data })).toEqual({
      functionName: 'approve',
      args: [vault.address, 100n * usd],
    })
    expect(approve.transaction.to).toBe(token)
    expect(last.transaction).toMatchObject({ to: vault.address, value: '0', chainId: world.chainId })
    expect(last.description).toBe(
      `Deposit 100 TUSD (${token}) into Yield vault (${vault.address}); the shares go to ${user.address}.`,
    )
    expect(approve.description).toBe(
      `Allow Yield vault (${vault.address}) to take exactly 100 TUSD (${token}) from your wallet.`,
    )
    expect(plan.body.simulation).toMatchObject({
      status: 'ok',
      blockNumber: Number(await world.anvil.client.getBlockNumber()),
      assetChanges: [
        { token: { address: token, symbol: 'TUSD' }, amount: String(-100n * usd) },
        { token: { address: vault.address }, amount: String(100n * 10n ** 18n) },
      ],
    })
    expect(plan.body.validUntil).toBe('2026-11-20T12:10:00Z')
    await world.send(plan, user)
    expect(await world.balance(token, user.address)).toBe(900n * usd)
    expect(await world.balance(vault.address, user.address)).toBe(100n * 10n ** 18n)
    expect(
      await world.anvil.client.readContract({
        address: token,
        abi: erc20Abi,
        functionName: 'allowance',
        args: [user.address, vault.address],
      }),
    ).toBe(0n)
  })

  it('signs the suffix of the deposit, and of nothing else, over this very call', async () => {
    const plan = await deposit({ referralCode: 'friend-1' })
    const [approve, last] = plan.body.transactions.map((item: { transaction: { data: Hex } }) => item.transaction.data)
    expect(decodeSuffix(Buffer.from(approve.slice(2), 'hex'))).toBeUndefined()
    const data = Buffer.from(last.slice(2), 'hex')
    const suffix = decodeSuffix(data)
    if (suffix?.status !== 'ok' || suffix.schemaId !== 2) throw new Error('no suffix')
    expect(suffix.appCode).toBe(world.distributorId)
    const metadata = suffix.metadata as Map<string, unknown>
    expect(formatActionId(metadata.get('i') as Uint8Array)).toBe(plan.body.actionId)
    expect(metadata.get('r')).toBe('friend-1')
    const action = await findAction(world.earn.db, plan.body.actionId)
    const signer = recoverAttributionSigner(
      {
        code: world.distributorId,
        actionId: metadata.get('i') as Uint8Array,
        chainId: world.chainId,
        wallet: user.address,
        target: vault.address,
        callHash: Buffer.from(String(action?.callHash).slice(2), 'hex'),
        referralCode: 'friend-1',
      },
      metadata.get('g') as Uint8Array,
    )
    expect(signer).toBe(attributionAccount.address.toLowerCase())
    expect(action).toMatchObject({
      kind: 'deposit',
      wallet: user.address.toLowerCase(),
      target: vault.address.toLowerCase(),
      amountUsd: '100',
      tokenInDecimals: 6,
    })
  })

  it('offers the same transactions as one ERC-5792 batch', async () => {
    const plan = await deposit()
    expect(plan.body.batch).toEqual({
      version: '2.0.0',
      chainId: '0x7a69',
      from: user.address,
      atomicRequired: true,
      calls: plan.body.transactions.map(({ transaction }: { transaction: { to: string; data: string } }) => ({
        to: transaction.to,
        data: transaction.data,
        value: '0x0',
      })),
    })
  })

  it('needs no approval where the allowance suffices', async () => {
    await world.write(token, erc20Abi, 'approve', [vault.address, 100n * usd], user)
    expect(types(await deposit())).toEqual(['deposit'])
    expect(types(await deposit({ amount: String(100n * usd + 1n) }))).toEqual(['approve', 'deposit'])
  })

  it('resets an allowance first for a token that asks for it, and all three are mined', async () => {
    const old = await world.token({ old: true, pegUsd: '1' })
    const oldVault = await world.vault(old, { old: true })
    await world.mint(old, user.address, 500n * usd)
    await world.write(old, erc20Abi, 'approve', [oldVault.address, 5n], user)
    const plan = await deposit({ tokenIn: old }, { id: oldVault.opportunityId })
    expect(types(plan)).toEqual(['approve', 'approve', 'deposit'])
    expect(plan.body.transactions[0].description).toMatch(/back to 0/)
    await world.send(plan, user)
    expect(await world.balance(old, user.address)).toBe(400n * usd)
  })

  it('takes the opportunity, the wallet and the token in any case of letters', async () => {
    const upper = (address: string) => `0X${address.slice(2).toUpperCase()}`
    const plan = await deposit(
      { userAddress: upper(user.address), tokenIn: upper(token) },
      { id: vault.opportunityId.toUpperCase() },
    )
    expect(plan.status).toBe(200)
  })

  it('skips the simulation when asked to, and then uses constant gas limits', async () => {
    const plan = await deposit({ simulate: false })
    expect(plan.body.simulation).toEqual({ status: 'skipped', blockNumber: null, blockHash: null, assetChanges: [] })
    expect(
      plan.body.transactions.map((item: { transaction: { gasLimit: string } }) => item.transaction.gasLimit),
    ).toEqual(['120000', '600000'])
    await world.send(plan, user)
  })

  it('passes an amount below the minimum when the token has no price', async () => {
    const unpriced = await world.token()
    const other = await world.vault(unpriced, { minDepositUsd: '1000000' })
    await world.mint(unpriced, user.address, usd)
    expect((await deposit({ tokenIn: unpriced, amount: '5' }, { id: other.opportunityId })).status).toBe(200)
  })

  it('wraps the native token first where the vault takes it wrapped, and all is mined', async () => {
    const wrapped = await world.wrappedNative()
    const other = await world.vault(wrapped, { old: true })
    const amount = 3n * 10n ** 18n
    for (const tokenIn of ['native', `0x${'E'.repeat(40)}`]) {
      const plan = await deposit({ tokenIn, amount: String(amount) }, { id: other.opportunityId })
      expect(types(plan)).toEqual(['swap', 'approve', 'deposit'])
      expect(plan.body.transactions[0]).toMatchObject({
        description: `Wrap 3 ETH (0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE) into as much WETH (${wrapped}) in your wallet.`,
        transaction: { to: wrapped, data: '0xd0e30db0', value: String(amount) },
      })
      expect(plan.body.batch.calls[0].value).toBe('0x29a2241af62c0000')
      expect(plan.body.simulation.assetChanges).toMatchObject([
        { token: { symbol: 'ETH', decimals: 18 }, amount: String(-amount) },
        { token: { address: other.address }, amount: String(amount) },
      ])
      const before = await world.balance(other.address, user.address)
      await world.send(plan, user)
      expect((await world.balance(other.address, user.address)) - before).toBe(amount)
    }
    const tooMuch = await deposit({ tokenIn: 'native', amount: String(10n ** 23n) }, { id: other.opportunityId })
    expect(tooMuch.body.reason).toBe('INSUFFICIENT_BALANCE')
  })

  it('simulates through eth_simulateV1 where the node refuses overrides, and says so where it offers neither', async () => {
    const chain = world.earn.ctx.chains.get(world.chainId)!
    const { request } = chain.rpc
    const refuse = (also: string) => {
      chain.rpc.request = async (asked) => {
        const overrides = asked.method === 'eth_call' && Array.isArray(asked.params) && asked.params.length > 2
        if (overrides || asked.method === also) throw new RpcError(-32602, 'refused', undefined)
        return request(asked)
      }
    }
    refuse('')
    const second = await deposit()
    refuse('eth_simulateV1')
    const none = await deposit()
    chain.rpc.request = request
    expect(second.body.simulation).toMatchObject({ status: 'ok', assetChanges: [{ amount: String(-100n * usd) }, {}] })
    expect(none.body.simulation).toEqual({
      status: 'unavailable',
      blockNumber: null,
      blockHash: null,
      assetChanges: [],
    })
    expect(none.status).toBe(200)
    await world.send(second, user)
  })

  it('answers the same plan to the same Idempotency-Key, and records it once', async () => {
    const send = (changes: Body = {}) =>
      world.earn.call('CreateDepositInteraction', {
        params: { opportunityId: vault.opportunityId },
        body: body(changes),
        headers: { 'idempotency-key': `deposit-${vault.address}` },
      })
    const [first, again] = [await send(), await send()]
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotency-replayed']).toBe('true')
    const [row] = await world.earn
      .db`select count(*)::int as count from actions where target = ${vault.address.toLowerCase()}`
    expect(row?.['count']).toBe(1)
    expect((await send({ amount: '5' })).body).toMatchObject({ code: 409, context: { retryable: false } })
  })

  it('asks the node three times at most', async () => {
    const counted = await countRequests(() => deposit())
    expect(counted.answer.status).toBe(200)
    expect(counted.methods).toEqual(['eth_getBlockByNumber', 'eth_call', 'eth_call'])
  })
})

describe('400 INVALID_ARGUMENT', () => {
  const refused = async (answer: Awaited<ReturnType<typeof deposit>>, reason: string | undefined) => {
    expect(answer.body).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', context: { retryable: false } })
    expect(answer.body.reason).toBe(reason)
    return answer.body
  }

  it.each([
    ['a number', 5],
    ['zero', '0'],
    ['many zeros', '000'],
    ['negative', '-1'],
    ['a fraction', '1.5'],
    ['hex', '0x10'],
    ['2^256', String(2n ** 256n)],
    ['empty', ''],
  ])('refuses an amount that is %s', async (_name, amount) => {
    const answer = await refused(await deposit({ amount }), undefined)
    expect(answer.context.violations[0].path).toBe('body.amount')
  })

  it.each([
    ['userAddress', '0x1234'],
    ['tokenIn', 'eth'],
    ['mode', 'teleport'],
    ['slippageBps', 0],
    ['slippageBps', 5001],
    ['referralCode', 'a b'],
    ['referralCode', 'x'.repeat(65)],
    ['simulate', 'yes'],
    ['distributorId', ''],
  ])('refuses a malformed %s', async (name, value) => {
    const answer = await refused(await deposit({ [name]: value }), undefined)
    expect(answer.context.violations[0].path).toBe(`body.${name}`)
  })

  it.each(['userAddress', 'tokenIn', 'amount', 'distributorId'])('refuses a body without %s', async (name) => {
    const answer = await refused(await deposit({ [name]: undefined }), undefined)
    expect(answer.context.violations[0].path).toBe(`body.${name}`)
  })

  it('refuses an opportunity id that is no uuid', async () => {
    await refused(await deposit({}, { id: 'nope' }), undefined)
  })

  it('says insufficient token balance when the wallet has less than the amount', async () => {
    const answer = await refused(await deposit({ amount: String(1000n * usd + 1n) }), 'INSUFFICIENT_BALANCE')
    expect(answer.error).toBe('insufficient token balance')
  })

  it('refuses a token the opportunity does not take: another one, its own receipt, and native', async () => {
    for (const tokenIn of [await world.token(), vault.address, 'native', `0x${'e'.repeat(40)}`])
      await refused(await deposit({ tokenIn }), 'TOKEN_NOT_ACCEPTED')
  })

  it('refuses a token the operator marked as rebasing', async () => {
    await world.earn.db`update tokens set unsupported_reason = 'it rebases' where address = ${token.toLowerCase()}`
    await world.refresh()
    const answer = await refused(await deposit(), 'TOKEN_UNSUPPORTED')
    expect(answer.error).toBe('TUSD cannot be deposited: it rebases')
  })

  it('refuses an amount worth less than the minimum', async () => {
    await refused(await deposit({ amount: String(usd - 1n) }), 'BELOW_MINIMUM')
    expect((await deposit({ amount: String(usd) })).status).toBe(200)
  })

  it('refuses dust that would give no shares', async () => {
    const whole = await world.token({ decimals: 18 })
    const other = await world.vault(whole)
    await world.mint(whole, user.address, 10n ** 20n)
    await world.send(await deposit({ tokenIn: whole, amount: '1000' }, { id: other.opportunityId }), user)
    // A gift makes a share worth more than a unit.
    await world.mint(whole, other.address, 10n ** 19n)
    await refused(await deposit({ tokenIn: whole, amount: '1' }, { id: other.opportunityId }), 'BELOW_MINIMUM')
  })

  it('refuses what is over the cap of the vault, and a paused vault', async () => {
    await world.write(vault.address, yieldVaultAbi, 'setDepositCap', [50n * usd])
    const answer = await refused(await deposit(), 'CAP_EXCEEDED')
    expect(answer.context.maximum).toBe(String(50n * usd))
    await world.write(vault.address, yieldVaultAbi, 'setDepositsPaused', [true])
    await refused(await deposit(), 'DEPOSIT_DISABLED')
  })

  it('refuses an opportunity whose deposits the operator switched off, and one no longer offered', async () => {
    await world.earn.db`update opportunities set deposit_enabled = false where id = ${vault.opportunityId}`
    await world.refresh()
    await refused(await deposit(), 'DEPOSIT_DISABLED')
    await world.earn.db`
      update opportunities set deposit_enabled = true, active = false where id = ${vault.opportunityId}`
    await world.refresh()
    await refused(await deposit(), 'DEPOSIT_DISABLED')
  })

  it('refuses a vault that is bought on a market only, and one without direct deposits', async () => {
    const { db } = world.earn
    await db`update opportunities set is_secondary_market = true where id = ${vault.opportunityId}`
    await world.refresh()
    await refused(await deposit(), 'DEPOSIT_DISABLED')
    await db`
      update opportunities set is_secondary_market = false, direct_interaction_enabled = false
      where id = ${vault.opportunityId}`
    await world.refresh()
    await refused(await deposit(), 'DEPOSIT_DISABLED')
  })

  it('answers NO_ROUTE to a swap where there is no route', async () => {
    const answer = await deposit({ mode: 'swap' })
    expect(answer.body).toMatchObject({ code: 400, reason: 'NO_ROUTE', context: { retryable: true } })
  })

  it('refuses an address without code', async () => {
    const empty = await world.list({ address: account(7).address, asset: token, decimals: 6, kind: 'erc4626' })
    await refused(await deposit({}, { id: empty.opportunityId }), 'DEPOSIT_DISABLED')
  })

  it('refuses a vault that reverts on every question', async () => {
    const address = await world.anvil.deploy({ abi: [], bytecode: '0x60fe60005360016000f3', args: [] })
    const broken = await world.list({ address, asset: token, decimals: 6, kind: 'erc4626' })
    await refused(await deposit({}, { id: broken.opportunityId }), 'DEPOSIT_DISABLED')
  })

  it('refuses a vault that lies about its asset, now or at the deposit', async () => {
    const other = await world.token()
    const args = [other, token]
    const address = await world.anvil.deploy({ abi: lyingAssetVaultAbi, bytecode: lyingAssetVaultBytecode, args })
    const lying = await world.list({ address, asset: token, decimals: 6, kind: 'erc4626' })
    await world.mint(other, user.address, 1000n * usd)
    await refused(await deposit({}, { id: lying.opportunityId }), 'SIMULATION_REVERTED')
    await world.write(other, erc20Abi, 'approve', [address, 1000n * usd], user)
    await refused(await deposit({}, { id: lying.opportunityId }), 'TOKEN_UNSUPPORTED')
    await world.write(address, lyingAssetVaultAbi, 'claimAsset', [other])
    await refused(await deposit({}, { id: lying.opportunityId }), 'TOKEN_UNSUPPORTED')
  })

  it('refuses a token that takes a fee on transfer', async () => {
    const args = ['Taxed', 'TAX', 6, 100n]
    const taxed = await world.anvil.deploy({ abi: feeOnTransferTokenAbi, bytecode: feeOnTransferTokenBytecode, args })
    await listToken(world.earn, { address: taxed, decimals: 6, symbol: 'TAX' })
    const other = await world.vault(taxed, { old: true })
    await world.mint(taxed, user.address, 1000n * usd)
    await refused(await deposit({ tokenIn: taxed }, { id: other.opportunityId }), 'TOKEN_UNSUPPORTED')
  })

  it('says which transaction would revert, and why', async () => {
    // A vault that may not mint its yield any more reverts on deposit.
    await world.send(await deposit(), user)
    await world.anvil.pass(3600)
    await world.write(token, testTokenAbi, 'setMinter', [vault.address, false])
    const answer = await refused(await deposit(), 'SIMULATION_REVERTED')
    expect(answer.context.transactionIndex).toBe(1)
    expect(answer.error).toMatch(/transaction 2 of 2 \(deposit\) would revert with the custom error 0x/)
  })
})

describe('401 UNAUTHORIZED', () => {
  it('says on every failure whether to try again', async () => {
    const answer = await deposit({}, { key: 'pk_live_nonsense' })
    expect(answer.body).toMatchObject({ code: 401, status: 'UNAUTHORIZED', context: { retryable: false } })
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses a distributor of another organization, and another than the key is bound to', async () => {
    const foreign = await world.earn.distributor('foreign', await world.earn.organization())
    const sibling = await world.earn.distributor('sibling')
    await world.refresh()
    const bound = await world.earn.key({ kind: 'publishable', distributorId: sibling })
    for (const answer of [await deposit({ distributorId: foreign }), await deposit({}, { key: bound })])
      expect(answer.body).toMatchObject({ code: 403, status: 'PERMISSION_DENIED', context: { retryable: false } })
    expect((await deposit({ distributorId: sibling }, { key: bound })).status).toBe(200)
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no such opportunity, then no such distributor, then no such member', async () => {
    const notMember = { userAddress: stranger.address, amount: '1' }
    const unknown = await deposit(
      { ...notMember, distributorId: 'nobody' },
      { id: '00000000-0000-4000-8000-000000000000' },
    )
    expect(unknown.body).toMatchObject({
      code: 404,
      status: 'NOT_FOUND',
      error: 'no such opportunity',
      context: { retryable: false },
    })
    const distributor = await deposit({ ...notMember, distributorId: 'nobody' })
    expect(distributor.body).toMatchObject({ code: 404, error: 'no such distributor' })
    expect((await deposit(notMember)).body).toMatchObject({ code: 404, error: 'membership not found' })
  })

  it('does not take a member of another ecosystem for one', async () => {
    const { db } = world.earn
    const [row] = await db`select user_id from memberships limit 1`
    await db`
      insert into memberships (ecosystem, address, user_id)
      values ('ton', ${stranger.address.toLowerCase()}, ${row?.['user_id']})`
    expect((await deposit({ userAddress: stranger.address })).body.error).toBe('membership not found')
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so when the chain cannot be reached', async () => {
    const answer = await withChain('http://127.0.0.1:9', () => deposit())
    expect(answer.body).toMatchObject({ code: 503, status: 'UNAVAILABLE', context: { retryable: true } })
    expect(answer.headers['retry-after']).toBeDefined()
  })
})

/** Runs with another client for the world's chain. */
async function withChain<T>(url: string, run: () => Promise<T>): Promise<T> {
  const chains = world.earn.ctx.chains as Map<number, ReturnType<typeof openChain>>
  const before = chains.get(world.chainId)!
  chains.set(world.chainId, openChain(createOutbound(systemClock), chainSettings(url)))
  try {
    return await run()
  } finally {
    chains.set(world.chainId, before)
  }
}

async function countRequests<T>(run: () => Promise<T>): Promise<{ methods: string[]; answer: T }> {
  const chain = world.earn.ctx.chains.get(world.chainId)!
  const request = chain.rpc.request
  const methods: string[] = []
  chain.rpc.request = (asked) => {
    methods.push(asked.method)
    return request(asked)
  }
  try {
    return { answer: await run(), methods }
  } finally {
    chain.rpc.request = request
  }
}

it('answers addresses with their checksum', async () => {
  const plan = await deposit()
  for (const { transaction } of plan.body.transactions) expect(transaction.to).toBe(getAddress(transaction.to))
})
