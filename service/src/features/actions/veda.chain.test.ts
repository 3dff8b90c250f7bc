import { vedaQueueAbi, vedaVaultAbi } from '@openearn/contracts'
import { type Abi, decodeFunctionData, erc20Abi, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World } from '../../../test/actionWorld.js'
import { openStories, tellStories } from '../../../test/asyncStories.js'
import { rebuildChain } from '../../../test/pipeline.js'
import { refused } from '../../../test/refused.js'
import { openVeda, type Veda } from '../../../test/vedaVaults.js'
import { openWay } from '../../../test/wayThrough.js'
import { systemClock } from '../../kernel/clock.js'
import { probeVault } from '../../probing/index.js'

const [solver, user, friend] = [account(0), account(1), account(2)]
const deposited = 123_456_789n
let world: World
let token: `0x${string}`
let story: ReturnType<typeof tellStories>
let way: ReturnType<typeof openWay>
let veda: ReturnType<typeof openVeda>

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
  way = openWay(world, story, user)
  veda = openVeda(world, token)
  await world.join(friend.address)
  await world.mint(token, friend.address, 1_000_000_000n)
  await world.mint(token, solver.address, 1_000_000_000_000n)
})
afterAll(() => world.close())

type Plan = Awaited<ReturnType<typeof story.deposit>>
const called = (plan: Plan, abi: Abi) =>
  decodeFunctionData({ abi, data: plan.body.transactions.at(-1).transaction.data })
const targetOf = (plan: Plan) => plan.body.transactions.at(-1).transaction.to
const approvalOf = (plan: Plan) => {
  const [{ type, transaction }] = plan.body.transactions
  const { args } = decodeFunctionData({ abi: erc20Abi, data: transaction.data })
  return { type, token: transaction.to, args }
}
const shares = ({ address }: Veda, of = user) => world.balance(address, of.address)
const own = (amount: bigint) => [{ distributorId: world.distributorId, shares: String(amount) }]
const requestsOf = async (of = user) => {
  await world.sync()
  const { body } = await world.earn.call('GetWalletRequests', { params: { address: of.address } })
  return body.requests
}
const later = async (seconds: number) => {
  await world.anvil.client.increaseTime({ seconds })
  await world.anvil.client.mine({ blocks: 1 })
}

describe('a vault of Veda', () => {
  it.each([
    ['older', 3],
    ['newer', 4],
  ] as const)(
    'of the %s form is probed, entered and asked to be left, with a reorganisation at each step; metrics, history and portfolio follow',
    async (form, words) => {
      const before = (await requestsOf()).length
      const vault = await veda.open({ form })
      const probed = await probeVault(world.earn.ctx.chains.get(world.chainId)!, vault.queue)
      expect(probed).toMatchObject({
        ...{ kind: 'veda', address: vault.address, escrow: vault.queue, canLeave: false },
        contracts: { teller: vault.teller, accountant: vault.accountant, queue: vault.queue },
        asset: { address: token },
      })
      const { body } = await world.earn.call('GetOpportunity', { params: { id: vault.opportunityId } })
      expect(body.meta).toMatchObject({ asyncDeposit: false, asyncWithdraw: true })

      const deposit = await story.deposit(vault, deposited)
      const minted = (deposited * 10n ** 6n) / 1_100_000n
      const least = (minted * 9_950n) / 10_000n
      const given = [token, deposited, least, ...(words === 4 ? [zeroAddress] : [])]
      expect(called(deposit, vault.tellerAbi)).toEqual({ functionName: 'deposit', args: given })
      expect(targetOf(deposit)).toBe(vault.teller)
      expect(approvalOf(deposit)).toEqual({ type: 'approve', token, args: [vault.address, deposited] })
      await way.sendTwice(vault, deposit)
      const had = await shares(vault)
      expect(had).toBe(minted)
      expect(await way.lotsOf(vault)).toEqual(own(had))
      await veda.setRate(vault, 1_200_000n)
      const figures = await way.figuresOf(vault)
      expect(figures.snapshot).toEqual({ assets: String((had * 12n) / 10n), supply: String(had) })
      expect(Number(figures.tvl)).toBeCloseTo((Number(minted) * 1.2) / 1e6, 9)

      const part = had / 3n
      const request = await story.withdraw(vault, part)
      expect(called(request, vedaQueueAbi)).toEqual({
        functionName: 'requestOnChainWithdraw',
        args: [token, part, 16, 604_800],
      })
      expect(targetOf(request)).toBe(vault.queue)
      expect(approvalOf(request)).toEqual({ type: 'approve', token: vault.address, args: [vault.queue, part] })
      expect(request.body.transactions.at(-1).description).toContain('at a discount of 0.16 %')
      await way.sendTwice(vault, request)
      expect(await way.lotsOf(vault)).toEqual(own(had - part))
      expect(await story.entries(vault)).toHaveLength(1)
      const asked = (await veda.requests(vault)).at(-1)!
      const id = String(BigInt(asked.requestId))
      expect((await requestsOf()).slice(before)).toMatchObject([
        { kind: 'redeem', requestId: id, state: 'pending', shares: String(part), claimable: '0' },
      ])
      expect(JSON.stringify((await way.figuresOf(vault)).portfolio)).toContain('"Not settled yet"')
    },
  )

  it('pays by others what it was asked for, to the unit and in whole, with a reorganisation at each step, and the same when it is derived again', async () => {
    const before = (await requestsOf()).length
    const vault = await veda.open()
    await world.send(await story.deposit(vault, deposited), user)
    await veda.setRate(vault, 1_200_000n)
    const had = await shares(vault)
    const part = had / 3n
    await world.send(await story.withdraw(vault, part), user)
    const asked = (await veda.requests(vault)).at(-1)!
    await way.doTwice(vault, () => veda.solve(vault, [asked]))
    const promised = String((part * ((1_200_000n * 9_984n) / 10_000n)) / 10n ** 6n)
    expect(String(asked.amountOfAssets)).toBe(promised)
    expect((await requestsOf()).slice(before)).toMatchObject([{ state: 'claimed', assets: promised }])
    const withdrawn = { interaction: 'withdraw', attribution: 'signed', walletAddress: user.address, isSwap: false }
    const entries = await story.entries(vault)
    expect(entries).toMatchObject([
      { interaction: 'deposit', amountRaw: String(deposited), attribution: 'signed', walletAddress: user.address },
      { ...withdrawn, amountRaw: promised },
    ])

    await world.send(await story.withdraw(vault, had - part), user)
    const rest = (await veda.requests(vault)).at(-1)!
    await way.doTwice(vault, () => veda.solve(vault, [rest]))
    expect(await shares(vault)).toBe(0n)
    expect(await way.lotsOf(vault)).toEqual([])
    const all = await story.entries(vault)
    expect(all.slice(2)).toMatchObject([{ ...withdrawn, amountRaw: String(rest.amountOfAssets) }])
    const query = { addresses: user.address, limit: 100 }
    const activity = (await world.earn.call('GetWalletActivity', { query })).body.activity.filter(
      ({ opportunityId }: { opportunityId: string }) => opportunityId === vault.opportunityId,
    )
    expect(activity.map(({ amountRaw }: { amountRaw: string }) => amountRaw)).toEqual(
      all.map(({ amountRaw }: { amountRaw: string }) => amountRaw).toReversed(),
    )
    const earned = (await way.figuresOf(vault)).earnings
    expect(Number(earned.earned.native)).toBeCloseTo(
      Number(asked.amountOfAssets + rest.amountOfAssets - deposited) / 1e6,
      6,
    )
    await rebuildChain({ db: world.earn.db, clock: systemClock }, { chainId: world.chainId })
    expect(await story.entries(vault)).toEqual(all)
  })

  it('pays of several requests the one that is paid, each to its own distributor, and shares that were moved to their new owner', async () => {
    const vault = await veda.open()
    const other = await world.earn.distributor('other')
    await world.refresh()
    const before = (await requestsOf()).length
    await world.send(await story.deposit(vault, 11_000n), user)
    await world.write(vault.address, erc20Abi, 'transfer', [friend.address, 1_000n], user)
    await world.send(await story.withdraw(vault, 2_000n), user)
    await world.send(await story.withdraw(vault, 3_000n, { distributorId: other }), user)
    await world.send(await tellStories(world, friend).withdraw(vault, 1_000n), friend)
    const [first, second, third] = (await veda.requests(vault)) as [Request, Request, Request]
    await way.doTwice(vault, () => veda.solve(vault, [second, third]))
    expect((await requestsOf()).slice(before)).toMatchObject([
      { requestId: String(BigInt(first.requestId)), state: 'pending' },
      { requestId: String(BigInt(second.requestId)), state: 'claimed', assets: String(second.amountOfAssets) },
    ])
    await veda.solve(vault, [first])
    const entries = await story.entries(vault)
    const told = entries.slice(1).map(({ distributorId, walletAddress, amountRaw }: Record<string, string>) => ({
      ...{ distributorId, walletAddress, amountRaw },
    }))
    expect(told).toEqual([
      { distributorId: other, walletAddress: user.address, amountRaw: String(second.amountOfAssets) },
      { distributorId: world.distributorId, walletAddress: friend.address, amountRaw: String(third.amountOfAssets) },
      { distributorId: world.distributorId, walletAddress: user.address, amountRaw: String(first.amountOfAssets) },
    ])
  })

  it('gives back what its owner or the queue takes out, also after the deadline, to the lots it was of, with a reorganisation at each step', async () => {
    const vault = await veda.open()
    const before = (await requestsOf()).length
    await world.send(await story.deposit(vault, 11_000n), user)
    await world.send(await story.withdraw(vault, 4_000n), user)
    await world.sync()
    const cancel = await story.cancel(vault)
    const [asked] = (await veda.requests(vault)) as [Request]
    expect(called(cancel, vedaQueueAbi)).toEqual({
      functionName: 'cancelOnChainWithdrawUsingRequestId',
      args: [asked.requestId],
    })
    await later(8 * 86_400)
    await expect(veda.solve(vault, [asked])).rejects.toThrow('DeadlinePassed')
    await way.sendTwice(vault, await story.cancel(vault, { requestId: String(BigInt(asked.requestId)) }))
    expect(await way.lotsOf(vault)).toEqual(own(10_000n))
    refused(await story.cancel(vault), 'NOTHING_PENDING')

    await world.send(await story.withdraw(vault, 3_000n), user)
    const again = (await veda.requests(vault)).at(-1)!
    await way.doTwice(vault, () => veda.inQueue(vault, 'cancelUserWithdraws', [[veda.toStruct(again)]]))
    expect(await way.lotsOf(vault)).toEqual(own(10_000n))
    expect((await requestsOf()).slice(before)).toMatchObject([
      { state: 'cancelled', shares: '4000' },
      { state: 'cancelled', shares: '3000' },
    ])
    expect(await story.entries(vault)).toHaveLength(1)
  })

  it('goes on with the request that replaces another, for its distributor and its lots', async () => {
    const vault = await veda.open()
    await world.send(await story.deposit(vault, 11_000n), user)
    await world.send(await story.withdraw(vault, 4_000n), user)
    const [asked] = (await veda.requests(vault)) as [Request]
    const replace = () =>
      world.write(vault.queue, vedaQueueAbi, 'replaceOnChainWithdraw', [veda.toStruct(asked), 50, 700_000], user)
    await way.doTwice(vault, replace)
    expect((await requestsOf()).slice(-2)).toMatchObject([
      { state: 'cancelled', shares: '4000', assets: null },
      { state: 'pending', shares: '4000', distributorId: world.distributorId },
    ])
    const anew = (await veda.requests(vault)).at(-1)!
    await world.sync()
    await way.sendTwice(vault, await story.cancel(vault, { requestId: String(BigInt(anew.requestId)) }))
    expect(await way.lotsOf(vault)).toEqual(own(10_000n))
  })

  it('holds the shares of a deposit for a time, and says until when', async () => {
    const vault = await veda.open()
    await veda.atTeller(vault, 'setShareLockPeriod', [86_400n])
    await world.send(await story.deposit(vault, 11_000n), user)
    const { timestamp } = await world.anvil.client.getBlock()
    const until = `${new Date(Number(timestamp + 86_400n) * 1_000).toISOString().slice(0, 19)}Z`
    const { error, context } = refused(await story.withdraw(vault, 1_000n), 'SHARES_LOCKED', true)
    expect(error).toContain(`locked until ${until}`)
    expect(context).toMatchObject({ until })
    await later(86_400)
    await world.send(await story.withdraw(vault, 1_000n), user)
    expect(await way.lotsOf(vault)).toEqual(own(9_000n))
  })

  it('books a deposit that is given back as a withdrawal of its own distributor, whose lots go first, with a reorganisation', async () => {
    const vault = await veda.open()
    const other = await world.earn.distributor('second')
    await world.refresh()
    await veda.atTeller(vault, 'setShareLockPeriod', [86_400n])
    await world.send(await story.deposit(vault, 11_000n), user)
    await world.send(await story.deposit(vault, 5_500n, { distributorId: other }), user)
    const [first, second] = (await veda.deposits(vault)) as [Deposit, Deposit]
    await way.doTwice(vault, () => veda.refund(vault, second))
    expect(await way.lotsOf(vault)).toEqual(own(10_000n))
    await way.doTwice(vault, () => veda.refund(vault, first))
    expect(await way.lotsOf(vault)).toEqual([])
    const entries = await story.entries(vault)
    expect(entries.slice(2)).toMatchObject([
      { interaction: 'withdraw', distributorId: other, amountRaw: '5500', walletAddress: user.address },
      { interaction: 'withdraw', distributorId: world.distributorId, amountRaw: '11000', walletAddress: user.address },
    ])
    await rebuildChain({ db: world.earn.db, clock: systemClock }, { chainId: world.chainId })
    expect(await story.entries(vault)).toEqual(entries)
  })

  it('can be given back a deposit after a reorganisation to before the end of its lock, and not after that end', async () => {
    const vault = await veda.open()
    await veda.atTeller(vault, 'setShareLockPeriod', [86_400n])
    await world.send(await story.deposit(vault, 11_000n), user)
    await world.sync()
    const [first] = (await veda.deposits(vault)) as [Deposit]
    const fork = await world.anvil.client.snapshot()
    await later(86_401)
    await expect(veda.refund(vault, first)).rejects.toThrow()
    await world.send(await story.deposit(vault, 5_500n), user)
    await world.sync()
    expect(await way.lotsOf(vault)).toEqual(own(15_000n))
    await world.anvil.client.revert({ id: fork })
    await veda.refund(vault, first)
    await world.anvil.client.mine({ blocks: 3 })
    expect((await story.entries(vault)).slice(1)).toMatchObject([{ interaction: 'withdraw', amountRaw: '11000' }])
    expect(await way.lotsOf(vault)).toEqual([])
  })

  it('takes back from other lots what the deposit that is given back has no more of: its shares had moved on', async () => {
    const vault = await veda.open()
    await world.write(vault.address, vedaVaultAbi, 'setBeforeTransferHook', [zeroAddress], solver)
    await veda.atTeller(vault, 'setShareLockPeriod', [86_400n])
    await world.send(await story.deposit(vault, 11_000n), user)
    await world.write(vault.address, erc20Abi, 'transfer', [friend.address, 8_000n], user)
    await world.write(vault.address, erc20Abi, 'transfer', [user.address, 8_000n], friend)
    const [first] = (await veda.deposits(vault)) as [Deposit]
    await way.doTwice(vault, () => veda.refund(vault, first))
    expect(await way.lotsOf(vault)).toEqual([])
    expect((await story.entries(vault)).slice(1)).toMatchObject([{ interaction: 'withdraw', amountRaw: '11000' }])
  })

  it('refuses in words what teller, accountant or queue would not do', async () => {
    const vault = await veda.open()
    await world.send(await story.deposit(vault, 11_000n), user)
    await veda.atTeller(vault, 'setPaused', [true])
    expect(refused(await story.deposit(vault, 100n), 'DEPOSIT_DISABLED').error).toContain('teller is paused')
    await veda.atTeller(vault, 'setPaused', [false])
    await veda.atTeller(vault, 'updateAssetData', [token, false, true, 0])
    expect(refused(await story.deposit(vault, 100n), 'DEPOSIT_DISABLED').error).toContain('takes no deposits')
    await veda.atTeller(vault, 'updateAssetData', [token, true, true, 0])
    await veda.atTeller(vault, 'setDenied', [user.address, true])
    expect(refused(await story.withdraw(vault, 100n), 'WITHDRAW_DISABLED').error).toContain('lets no shares')
    await veda.atTeller(vault, 'setDenied', [user.address, false])

    await veda.setTerms(vault, { minimumShares: 500n })
    expect(refused(await story.withdraw(vault, 499n), 'BELOW_MINIMUM').error).toContain('at least 500 units')
    await veda.setTerms(vault, { minDiscount: 64, maxDiscount: 90 })
    expect(refused(await story.withdraw(vault, 500n), 'WITHDRAW_DISABLED').error).toContain('raise it to 64')
    expect((await story.withdraw(vault, 500n, { slippageBps: 64 })).status).toBe(200)
    await veda.setTerms(vault, { allowWithdraws: false })
    expect(refused(await story.withdraw(vault, 500n), 'WITHDRAW_DISABLED').error).toContain('pays no requests')
    await veda.setTerms(vault, {})
    await veda.inQueue(vault, 'setPaused', [true])
    expect(refused(await story.withdraw(vault, 500n), 'QUEUE_PAUSED').error).toContain('queue is paused')
    await veda.inQueue(vault, 'setPaused', [false])
    refused(await story.withdraw(vault, 10_001n), 'INSUFFICIENT_BALANCE')
    refused(await story.cancel(vault), 'NOTHING_PENDING')
    await veda.inQueue(vault, 'setTrackWithdrawsOnChain', [false])
    await world.send(await story.withdraw(vault, 500n), user)
    await world.sync()
    expect(refused(await story.cancel(vault), 'REQUEST_NOT_CANCELLABLE').error).toContain('at the page of the vault')
  })

  it('refuses a price that is paused after a jump, 0, or older than 14 days', async () => {
    const vault = await veda.open()
    await world.send(await story.deposit(vault, 11_000n), user)
    await later(15 * 86_400)
    expect(refused(await story.deposit(vault, 100n), 'DEPOSIT_DISABLED').error).toContain('more than 14 days ago')
    await veda.setRate(vault, 5_000_000n)
    for (const plan of [await story.deposit(vault, 100n), await story.withdraw(vault, 100n)])
      expect(plan.body.error).toContain('the accountant of the vault is paused')
    const worthless = await veda.open({ rate: 0n })
    expect(refused(await story.deposit(worthless, 100n), 'DEPOSIT_DISABLED').error).toContain('a price of 0')
  })

  it('refuses a vault whose teller or queue is of another, and one without a queue on the way out', async () => {
    const vault = await veda.open()
    const other = await veda.open({ contracts: { teller: vault.teller } })
    expect(refused(await story.deposit(other, 100n), 'TOKEN_UNSUPPORTED').error).toContain('names another vault')
    const strange = await veda.open({ contracts: { queue: vault.queue } })
    await world.send(await story.deposit(strange, 11_000n), user)
    expect(refused(await story.withdraw(strange, 100n), 'TOKEN_UNSUPPORTED').error).toContain('names another vault')
    const bare = await veda.open({ contracts: { queue: undefined } })
    await world.send(await story.deposit(bare, 11_000n), user)
    expect(refused(await story.withdraw(bare, 100n), 'WITHDRAW_DISABLED').error).toContain('vault.contracts.queue')
  })
})

type Request = Awaited<ReturnType<ReturnType<typeof openVeda>['requests']>>[number]
type Deposit = Awaited<ReturnType<ReturnType<typeof openVeda>['deposits']>>[number]
