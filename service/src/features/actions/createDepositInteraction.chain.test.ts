import { decodeSuffix, formatActionId, recoverAttributionSigner } from '@openearn/attribution'
import { runnerAbi } from '@openearn/contracts'
import {
  type Address,
  decodeFunctionData,
  erc20Abi,
  getAbiItem,
  getAddress,
  type Hex,
  toFunctionSelector,
  zeroAddress,
} from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { attributionAccount, chainSettings, type World, type WorldVault } from '../../../test/actionWorld.js'
import { type DepositWorld, openDepositWorld, typesOf, usd } from '../../../test/depositWorld.js'
import { refused } from '../../../test/refused.js'
import { systemClock } from '../../kernel/clock.js'
import { createOutbound } from '../../kernel/outbound.js'
import { type Chain, openChain } from '../../rpc/chains.js'
import { listActions } from '../plans/index.js'

const user = account(1)
const stranger = account(2)
const runSelector = toFunctionSelector(getAbiItem({ abi: runnerAbi, name: 'run' }))

let world: World
let deposit: DepositWorld['deposit']
let renew: DepositWorld['renew']
let token: Address
let vault: WorldVault

beforeAll(async () => {
  ;({ world, deposit, renew } = await openDepositWorld())
})
afterAll(() => world.close())
beforeEach(async () => {
  ;({ token, vault } = await renew())
})

describe('200', () => {
  it('gives an exact approval and the deposit, and what the simulation says is what is mined', async () => {
    const plan = await deposit({ referralCode: 'friend-1' })
    expect(plan.status).toBe(200)
    expect(typesOf(plan)).toEqual(['approve', 'deposit'])
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
    const action = (await listActions(world.earn.db, [plan.body.actionId]))[0]
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

  it('may be signed as long as its caller says, ten minutes where he says nothing', async () => {
    const untilOf = async (deadlineSeconds?: number) => (await deposit({ deadlineSeconds })).body.validUntil
    expect(await untilOf()).toBe('2026-11-20T12:10:00Z')
    expect(await untilOf(60)).toBe('2026-11-20T12:01:00Z')
    expect(await untilOf(86_400)).toBe('2026-11-21T12:00:00Z')
  })

  it('needs no approval where the allowance suffices', async () => {
    await world.write(token, erc20Abi, 'approve', [vault.address, 100n * usd], user)
    expect(typesOf(await deposit())).toEqual(['deposit'])
    expect(typesOf(await deposit({ amount: String(100n * usd + 1n) }))).toEqual(['approve', 'deposit'])
  })

  it('deposits the own asset of a vault as it is where a swap was asked for, whether swaps are on or off', async () => {
    const plain = await deposit()
    expect(typesOf(plain)).toEqual(['approve', 'deposit'])
    const callsOf = ({ body }: typeof plain) =>
      body.transactions.map(({ transaction }: { transaction: { to: string; data: string } }) => [
        transaction.to,
        transaction.data.slice(0, 138),
      ])
    for (const on of [false, true]) {
      await world.earn.db`update opportunities set routed_swap_enabled = ${on} where id = ${vault.opportunityId}`
      await world.refresh()
      const swap = await deposit({ mode: 'swap' })
      expect([swap.status, callsOf(swap)]).toEqual([200, callsOf(plain)])
    }
    await world.earn.db`
      update opportunities set direct_interaction_enabled = false where id = ${vault.opportunityId}`
    await world.refresh()
    refused(await deposit({ mode: 'swap' }), 'DEPOSIT_DISABLED')
  })

  it('resets an allowance first for a token that asks for it, and all three are mined', async () => {
    const old = await world.token({ old: true, pegUsd: '1' })
    const oldVault = await world.vault(old, { old: true })
    await world.mint(old, user.address, 500n * usd)
    await world.write(old, erc20Abi, 'approve', [oldVault.address, 5n], user)
    const plan = await deposit({ tokenIn: old }, { id: oldVault.opportunityId })
    expect(typesOf(plan)).toEqual(['approve', 'approve', 'deposit'])
    expect(plan.body.transactions[0].description).toMatch(
      /^Reset the .* to 0; \S+ requires this before a new allowance\.$/,
    )
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
      expect(typesOf(plan)).toEqual(['swap', 'approve', 'deposit'])
      expect(plan.body.transactions[0]).toMatchObject({
        description: `Wrap 3 ETH (0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE) into 3 WETH (${wrapped}) in your wallet.`,
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
    // What is wrapped in the plan cannot be tried before it: nothing else is.
    const probes: unknown[] = []
    const reading = (request: Chain['rpc']['request']) => (asked: Parameters<typeof request>[0]) => {
      const [{ data }] = asked.method === 'eth_call' ? (asked.params as [{ data: Hex }]) : [{ data: '0x' as Hex }]
      if (data.startsWith(runSelector)) probes.push(decodeFunctionData({ abi: runnerAbi, data }).args.at(-1))
      return request(asked)
    }
    const simulated = () => deposit({ tokenIn: 'native', amount: String(amount) }, { id: other.opportunityId })
    expect((await world.withNode(reading, simulated)).status).toBe(200)
    expect(probes).toEqual([{ token: zeroAddress, to: zeroAddress, amount: 0n }])
    const tooMuch = await deposit({ tokenIn: 'native', amount: String(10n ** 23n) }, { id: other.opportunityId })
    expect(tooMuch.body.reason).toBe('INSUFFICIENT_BALANCE')
  })
})

describe('400 INVALID_ARGUMENT', () => {
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
    const answer = refused(await deposit({ amount }), undefined)
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
    const answer = refused(await deposit({ [name]: value }), undefined)
    expect(answer.context.violations[0].path).toBe(`body.${name}`)
  })

  it.each(['userAddress', 'tokenIn', 'amount', 'distributorId'])('refuses a body without %s', async (name) => {
    const answer = refused(await deposit({ [name]: undefined }), undefined)
    expect(answer.context.violations[0].path).toBe(`body.${name}`)
  })
  it.each([59, 86_401, 600.5, '600', null])('refuses deadlineSeconds of %s', async (deadlineSeconds) => {
    const answer = refused(await deposit({ deadlineSeconds }), undefined)
    expect(answer.context.violations[0].path).toBe('body.deadlineSeconds')
  })
  it('refuses an opportunity id that is no uuid', async () => {
    refused(await deposit({}, { id: 'nope' }), undefined)
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

it('answers addresses with their checksum', async () => {
  const plan = await deposit()
  expect(plan.body.transactions).toHaveLength(2)
  for (const { transaction } of plan.body.transactions) expect(transaction.to).toBe(getAddress(transaction.to))
})
