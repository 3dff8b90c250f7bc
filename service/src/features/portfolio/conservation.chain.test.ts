import { asyncVaultAbi, wrappedNativeAbi } from '@openearn/contracts'
import { AbiCoder, Interface, JsonRpcProvider } from 'ethers'
import {
  type Abi,
  type Address,
  encodeFunctionData,
  erc20Abi,
  erc4626Abi,
  maxUint256,
  numberToHex,
  parseAbiItem,
  parseUnits,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { wrappedNativeAdapter } from '../../../../examples/portfolio-adapter/wrappedNative.js'
import type { WorldVault } from '../../../test/actionWorld.js'
import { seeded } from '../../../test/catalogueWorld.js'
import { openLendingMarket } from '../../../test/chain/lending.js'
import { callOf, drawWallets, letAllSend, type PlayedCall, playCalls } from '../../../test/playCalls.js'
import { seed } from '../../../test/seed.js'
import { openStreamChain, type StreamChain } from '../../../test/streamChain.js'
import { lendingCalls } from '../../cli/dev/lending.js'
import { newId } from '../../kernel/ids.js'
import { recordPeg } from '../../prices/index.js'
import { buildTree } from '../streams/tree.js'
import type { Adapter } from './adapter.js'
import { getWalletPortfolio, listAdapters, openPortfolio, type PortfolioBody } from './index.js'

const unit = 10n ** 6n
const scale = 10n ** 18n
const random = seeded(seed)
const wallets = drawWallets(random, 200, 0x1000)
const lent = [
  { symbol: 'TUSD', decimals: 6, priceUsd: '1' },
  { symbol: 'TWO', decimals: 18, priceUsd: '0.25' },
] as const
let chain: StreamChain
let market: Awaited<ReturnType<typeof openLendingMarket>>
let wrapped: Address
let second: Address
let together: WorldVault
let apart: WorldVault
let outer: WorldVault
const rewards = new Map<Address, bigint>()

const play = (calls: readonly PlayedCall[]) => playCalls(chain.anvil, calls)
const call = callOf

/** What a wallet does, by its place in the list. */
const kinds = ['none', 'idle', 'vault', 'outer', 'asked', 'settled', 'leaving', 'apart', 'lending', 'rewarded'] as const
const of = (kind: (typeof kinds)[number]) => wallets.filter((_, at) => kinds[at % kinds.length] === kind)

beforeAll(async () => {
  chain = await openStreamChain()
  const { world, asset, vault, anvil, reward } = chain
  const { client } = anvil
  const owner = account(0).address
  wrapped = await world.wrappedNative()
  second = await world.token({ pegUsd: '0.25', decimals: 18 })
  together = await world.asyncVault(asset)
  apart = await world.asyncVault(asset, { separateIds: true })
  outer = await world.vault(vault.address, { name: 'A vault of shares', old: true })
  const peg = (token: Address, usd: string) =>
    recordPeg(world.earn.ctx, { chainId: world.chainId, address: token.toLowerCase() }, usd)
  await Promise.all([peg(wrapped, '2000'), peg(reward, '0.5')])
  market = await openLendingMarket(
    world,
    [asset, second].map((address, at) => ({ address, ...lent[at]! })),
  )
  await world.mint(second, owner, 10n ** 24n)
  await market.supply(second, 10n ** 24n, account(0))
  const stream = await chain.stream()
  await letAllSend(anvil)
  const some = () => BigInt(1 + random.integer(1_000_000))
  const active = wallets.filter((wallet) => !of('none').includes(wallet))
  for (const address of active) await client.setBalance({ address, value: 10n * scale + some() })
  const spender = new Map<Address, Address>([
    ...[...of('vault'), ...of('outer')].map((wallet) => [wallet, vault.address] as const),
    ...[...of('asked'), ...of('settled'), ...of('leaving')].map((wallet) => [wallet, together.address] as const),
    ...of('apart').map((wallet) => [wallet, apart.address] as const),
    ...of('lending').map((wallet) => [wallet, market.pool] as const),
  ])
  await play(active.map((wallet) => call(owner, asset, erc20Mint, 'mint', [wallet, 20n * unit + some()])))
  await play([...spender].map(([wallet, to]) => call(wallet, asset, erc20Abi, 'approve', [to, maxUint256])))
  const asking = [...of('asked'), ...of('settled')]
  const ask = (wallet: Address, to: Address, amount = some()) =>
    call(wallet, to, asyncVaultAbi, 'requestDeposit', [amount, wallet, wallet])
  await play([
    ...[...of('vault'), ...of('outer')].map((wallet) =>
      call(wallet, vault.address, erc4626Abi, 'deposit', [unit + some(), wallet]),
    ),
    ...asking.map((wallet) => ask(wallet, together.address)),
    ...of('leaving').map((wallet) => ask(wallet, together.address, 900_000n)),
    ...of('apart').map((wallet) => ask(wallet, apart.address)),
    ...of('lending').map((from) => ({ from, to: market.pool, data: lendingCalls.supply(asset, 10n * unit, from) })),
    ...[...of('rewarded'), ...of('idle')].map((from) => ({
      from,
      to: wrapped,
      data: wrap,
      value: numberToHex(some()),
    })),
  ])
  await play([
    ...of('outer').map((wallet) => call(wallet, vault.address, erc20Abi, 'approve', [outer.address, maxUint256])),
    ...[...of('settled'), ...of('leaving')].map((wallet) =>
      call(owner, together.address, asyncVaultAbi, 'settleDeposit', [wallet, 0n]),
    ),
    ...of('apart').map((wallet) => ask(wallet, apart.address)),
    ...of('lending').map((from, at) => ({
      ...{ from, to: market.pool },
      data: lendingCalls.borrow(second, (some() * scale) / unit / BigInt(1 + at), from),
    })),
  ])
  const opened = await readIds(apart.address, 'Deposit')
  const settled = of('apart').map((wallet) => [wallet, opened.get(wallet)?.[0] ?? 0n] as const)
  await play([
    ...of('outer').map((wallet) => call(wallet, outer.address, erc4626Abi, 'deposit', [unit, wallet])),
    ...of('leaving').map((wallet) => call(wallet, together.address, mintAbi, 'deposit', [600_000n, wallet])),
    ...settled.map(([wallet, id]) => call(owner, apart.address, asyncVaultAbi, 'settleDeposit', [wallet, id])),
  ])
  const redeem = (wallet: Address, shares: bigint) =>
    call(wallet, together.address, asyncVaultAbi, 'requestRedeem', [shares, wallet, wallet])
  const third = 2n * 10n ** 17n
  await play(of('leaving').map((wallet) => redeem(wallet, third)))
  await play(of('leaving').map((wallet) => call(owner, together.address, asyncVaultAbi, 'settleRedeem', [wallet, 0n])))
  await play(of('leaving').map((wallet) => redeem(wallet, third)))
  await world.sync()
  await commit(stream.id, some)
  // Interest and share prices grow.
  await anvil.pass(86_400)
}, 180_000)
afterAll(() => chain?.close())

const erc20Mint = [parseAbiItem('function mint(address to, uint256 amount)')]
const mintAbi = [parseAbiItem('function deposit(uint256 assets, address receiver)')]
const wrap = encodeFunctionData({ abi: wrappedNativeAbi as Abi, functionName: 'deposit' })

/** Ids of what was asked of a vault, by controller, as its events tell. */
async function readIds(vault: Address, side: 'Deposit' | 'Redeem'): Promise<ReadonlyMap<Address, bigint[]>> {
  const abi = asyncVaultAbi as Abi
  const logs = await chain.anvil.client.getContractEvents({
    ...{ address: vault, abi, eventName: `${side}Request`, fromBlock: 0n },
  })
  const ids = new Map<Address, bigint[]>()
  for (const { args } of logs as unknown as { args: { controller: Address; requestId: bigint } }[])
    ids.set(args.controller, [...(ids.get(args.controller) ?? []), args.requestId])
  return ids
}

/** A root of rewards that is confirmed, as the jobs leave it behind. */
async function commit(streamId: string, some: () => bigint): Promise<void> {
  const { db } = chain.earn
  for (const wallet of of('rewarded')) rewards.set(wallet, some())
  const leaves = [...rewards].map(([wallet, cumulative]) => ({ wallet: wallet.toLowerCase(), cumulative }))
  const [root, at, id] = [buildTree(leaves)?.root ?? '', '2026-11-18T12:00:00Z', newId()]
  const sum = String(leaves.reduce((total, { cumulative }) => total + cumulative, 0n))
  await db`
    insert into stream_snapshots (id, stream_id, snapshot_at, target_chain_id, block_number, block_hash, is_last,
      amount_base, amount_distributed, user_count, active_user_count, state, root, rooted_at, created_at, updated_at)
    values (${id}, ${streamId}, ${at}, ${chain.chainId}, 1, decode(${'cd'.repeat(32)}, 'hex'), false, ${sum}, ${sum},
      1, 1, '{}', hex_bytes(${root}), ${at}, ${at}, ${at})`
  for (const { wallet, cumulative } of leaves)
    await db`
      insert into stream_wallet_snapshots (snapshot_id, wallet, rewards, rewards_base, accrued, accrued_base)
      values (${id}, hex_bytes(${wallet}), ${String(cumulative)}, ${String(cumulative)}, 0, 0)`
  await db`
    insert into stream_events (chain_id, block_number, block_timestamp, log_index, stream_id, kind, transaction_hash, root,
      root_at, total)
    values (${chain.chainId}, 1, ${at}, 9999, ${streamId}, 'root', decode(${'ab'.repeat(32)}, 'hex'), hex_bytes(${root}),
      ${at}, ${sum})`
}

async function read(wallet: Address, include: boolean, adapters: readonly Adapter[] = listAdapters()) {
  const { earn } = chain
  const ctx = { ...earn.ctx, chains: earn.service.holdingsChains, portfolio: openPortfolio({ adapters }) }
  // Nothing is taken from what was kept for other adapters.
  earn.ctx.catalogue.answers.forget()
  return getWalletPortfolio(ctx, { address: wallet, includeProtocolTokens: include })
}

/** Of earnings without a snapshot it is not asked here. */
const errorsOf = ({ portfolio }: PortfolioBody) =>
  portfolio.holdings.wallets.flatMap(({ errors }) => errors.filter(({ source }) => source !== 'earnings'))

describe('the total of a portfolio', () => {
  it('is the sum of its terms for 200 random wallets, as another library reads and adds them up', async () => {
    const provider = new JsonRpcProvider(chain.anvil.url, 31_337, { staticNetwork: true, batchMaxCount: 100 })
    const ask = async (to: string, name: string, types: string, args: unknown[], out = 'uint256'): Promise<bigint> => {
      const data = new Interface([`function ${name}(${types})`]).encodeFunctionData(name, args)
      return AbiCoder.defaultAbiCoder().decode([out], await provider.call({ to, data }))[0]
    }
    const { asset, vault, reward } = chain
    const tokens = [
      [asset, scale, unit],
      [second, scale / 4n, scale],
      [wrapped, 2_000n * scale, scale],
      [reward, scale / 2n, scale],
    ] as const
    // Assets for 10^30 smallest units of a share.
    const price = (of: Address) => ask(of, 'convertToAssets', 'uint256', [10n ** 30n])
    const [inner, shareOfShare, ofTogether, ofApart] = (await Promise.all(
      [vault, outer, together, apart].map(({ address }) => price(address)),
    )) as [bigint, bigint, bigint, bigint]
    const worth = (shares: bigint, numerator: bigint) => (shares * numerator) / 10n ** 30n
    const tokensOf = new Interface([
      'function getReserveTokensAddresses(address) view returns (address,address,address)',
    ])
    const reserve = async (token: Address) => {
      const data = tokensOf.encodeFunctionData('getReserveTokensAddresses', [token])
      return tokensOf.decodeFunctionResult(
        'getReserveTokensAddresses',
        await provider.call({ to: market.dataProvider, data }),
      )
    }
    const [lentAsset, owedSecond] = [(await reserve(asset))[0], (await reserve(second))[2]] as [string, string]
    const ids = await readIds(apart.address, 'Deposit')
    const seen = { yield: 0n, outer: 0n, pending: 0n, claimable: 0n, leaving: 0n, payable: 0n, lent: 0n, owed: 0n }
    const compute = async (wallet: Address): Promise<bigint> => {
      const balance = (token: string) => ask(token, 'balanceOf', 'address', [wallet])
      const [native, idle] = await Promise.all([
        provider.getBalance(wallet),
        Promise.all(tokens.map(async ([token, usd, whole]) => ((await balance(token)) * usd) / whole)),
      ])
      const side = async (to: Address, name: string, id: bigint) => ask(to, name, 'uint256,address', [id, wallet])
      const sides = (name: string) =>
        Promise.all([
          side(together.address, name, 0n),
          ...(ids.get(wallet) ?? []).map((id) => side(apart.address, name, id)),
        ])
      const add = (all: readonly bigint[]) => all.reduce((sum, each) => sum + each, 0n)
      const [held, own, waits, claims, leaving, payable, lent, owed] = await Promise.all([
        balance(vault.address),
        balance(outer.address),
        sides('pendingDepositRequest').then(add),
        sides('claimableDepositRequest').then(add),
        side(together.address, 'pendingRedeemRequest', 0n),
        ask(together.address, 'maxWithdraw', 'address', [wallet]),
        balance(lentAsset),
        balance(owedSecond),
      ])
      const shares = worth(await balance(together.address), ofTogether) + worth(await balance(apart.address), ofApart)
      seen.yield += held
      seen.outer += own
      seen.pending += waits
      seen.claimable += claims
      seen.leaving += leaving
      seen.payable += payable
      seen.lent += lent
      seen.owed += owed
      // A share of the vault inside has no price of its own: it is worth its part of the asset, cut after 18 digits.
      const sharePrice = (inner * scale * scale) / (unit * 10n ** 30n)
      const inAsset = worth(held, inner) + waits + claims + worth(leaving, ofTogether) + payable + lent + shares
      return (
        (native * 2_000n * scale) / scale +
        add(idle) +
        (inAsset * scale) / unit +
        (worth(own, shareOfShare) * sharePrice) / scale +
        ((rewards.get(wallet) ?? 0n) * scale) / 2n / scale -
        (owed * scale) / 4n / scale
      )
    }
    for (const wallet of wallets) {
      const body = await read(wallet, false)
      expect(errorsOf(body)).toEqual([])
      expect([wallet, body.portfolio.holdings.totalUsd]).toEqual([wallet, format(await compute(wallet))])
    }
    expect(Object.entries(seen).filter(([, sum]) => sum === 0n)).toEqual([])
    provider.destroy()
  }, 120_000)

  it('counts a token once each as share of a vault, as what another vault holds, and as a reward', async () => {
    const { vault, earn } = chain
    const [wallet, rewarded] = [of('outer')[0]!, of('rewarded')[0]!.toLowerCase()]
    const amountsOf = async () => {
      const { holdings } = (await read(wallet, false)).portfolio
      const items = holdings.wallets[0]?.protocols.flatMap((protocol) => protocol.portfolio_item_list) ?? []
      const rows = items.flatMap(({ type, pool, detail }) =>
        [...detail.supply_token_list, ...detail.reward_token_list].map((row) => ({ type, pool: pool.id, ...row })),
      )
      return { holdings, rows }
    }
    const before = await amountsOf()
    const paid = 7n * 10n ** 16n
    await earn.db`update streams set reward_token = ${vault.address.toLowerCase()}`
    await earn.db`
      insert into stream_wallet_snapshots (snapshot_id, wallet, rewards, rewards_base, accrued, accrued_base)
      select snapshot_id, hex_bytes(${wallet.toLowerCase()}), ${String(paid)}, ${String(paid)}, 0, 0
      from stream_wallet_snapshots where wallet = hex_bytes(${rewarded})`
    try {
      const { holdings, rows } = await amountsOf()
      const added = rows.filter((row) => !before.rows.some((each) => JSON.stringify(each) === JSON.stringify(row)))
      expect(added).toMatchObject([{ type: 'reward', address: vault.address, amount_raw: String(paid) }])
      expect(rows.filter(({ pool }) => pool === vault.address)).toMatchObject([{ type: 'yield' }])
      expect(rows.filter(({ pool }) => pool === outer.address)).toMatchObject([{ address: vault.address }])
      const usd = (text: string) => parseUnits(text, 18)
      expect(usd(holdings.totalUsd) - usd(before.holdings.totalUsd)).toBe(usd(added[0]?.value_usd ?? ''))
      expect(usd(holdings.totalUsd)).toBeGreaterThan(usd(before.holdings.totalUsd))
      expect((await read(wallet, true)).portfolio.holdings.totalUsd).toBe(holdings.totalUsd)
    } finally {
      await earn.db`update streams set reward_token = ${chain.reward.toLowerCase()}`
      await earn.db`delete from stream_wallet_snapshots where wallet = hex_bytes(${wallet.toLowerCase()})`
    }
  })

  it('has a reward whose claims are paused, says so, and names one of a token the catalogue lacks with its amount', async () => {
    const { earn } = chain
    const wallet = of('rewarded')[0]!
    const amount = String(rewards.get(wallet))
    const unknown = '0x00000000000000000000000000000000000bad01'
    const tell = async () => {
      const body = await read(wallet, false)
      const { protocols = [] } = body.portfolio.holdings.wallets[0] ?? {}
      const own = protocols.flatMap((row) => row.portfolio_item_list).filter(({ type }) => type === 'reward')
      return { total: body.portfolio.holdings.totalUsd, own, errors: errorsOf(body) }
    }
    const before = await tell()
    expect(before.own).toMatchObject([{ detail: { description: 'Committed, can be claimed' } }])
    try {
      await earn.db`update streams set claim_paused = true`
      const paused = await tell()
      expect(paused).toMatchObject({ total: before.total, errors: [] })
      expect(paused.own).toMatchObject([
        { detail: { description: 'Committed, claims are paused', reward_token_list: [{ amount_raw: amount }] } },
      ])
      await earn.db`update streams set claim_paused = false, reward_token = ${unknown}`
      const without = await tell()
      expect(without.own).toEqual([])
      expect(without.errors).toMatchObject([{ chainId: chain.chainId, source: 'adapter:streams' }])
      expect(without.errors[0]?.error).toMatch(new RegExp(`${amount} .*${unknown}`))
    } finally {
      await earn.db`update streams set claim_paused = false, reward_token = ${chain.reward.toLowerCase()}`
    }
  })

  it('is the same with receipt tokens listed and without, with one adapter more, and for every order of adapters', async () => {
    const orders = permutations([...listAdapters(), wrappedNativeAdapter])
    let listed = 0
    for (const [at, wallet] of wallets.entries()) {
      const plain = (await read(wallet, false)).portfolio.holdings
      const all = (await read(wallet, true)).portfolio.holdings
      expect(all.totalUsd).toBe(plain.totalUsd)
      listed += all.wallets[0]?.tokens.filter(({ isProtocolToken }) => isProtocolToken).length ?? 0
      const order = orders[at % orders.length] ?? []
      const more = await read(wallet, true, order)
      expect((await read(wallet, true, [...order].reverse())).portfolio).toEqual(more.portfolio)
      expect(more.portfolio.holdings.totalUsd).toBe(plain.totalUsd)
    }
    expect(listed).toBeGreaterThan(0)
  }, 60_000)
})

function permutations<T>(all: readonly T[]): T[][] {
  if (all.length < 2) return [[...all]]
  return all.flatMap((first, at) =>
    permutations(all.filter((_, index) => index !== at)).map((rest) => [first, ...rest]),
  )
}

function format(value: bigint): string {
  const text = value.toString().padStart(19, '0')
  const fraction = text.slice(-18).replace(/0+$/, '')
  return `${text.slice(0, -18)}${fraction && `.${fraction}`}`
}
