import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { derivedId, newId } from '../../kernel/ids.js'

let earn: Earn
const vaults = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]
const opportunities = [newId(), newId()]
const product = newId()
const token = `0x${'aa'.repeat(20)}`
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

type Entry = {
  block: number
  log: number
  vault: number
  kind?: string
  distributor?: string
  wallet?: string
  assets?: string
  usd?: string | null
}
const entries: Entry[] = [
  { block: 10, log: 1, vault: 0, assets: '5000000', usd: '5' },
  { block: 11, log: 1, vault: 0, assets: '1000000', usd: null, kind: 'withdraw' },
  { block: 11, log: 4, vault: 1, assets: '9000000', usd: '9.5', distributor: 'beta' },
  { block: 12, log: 0, vault: 1, assets: '20000000', usd: '20', wallet: `0x${'ff'.repeat(20)}` },
  // At the head with 2 confirmations wanted: not verified yet.
  { block: 14, log: 0, vault: 0, assets: '70000000', usd: '70' },
]
const idOf = ({ block, log }: Entry) => derivedId(`31337:${hash(block)}:${hash(block * 100 + log)}:${log}`)

beforeAll(async () => {
  earn = await openEarn()
  const { db } = earn
  await db`insert into chains (chain_id, name, slug, confirmations) values (31337, 'Devnet', 'devnet', 2)`
  await db`insert into tokens (chain_id, address, decimals, symbol, name, logo_url)
    values (31337, ${token}, 6, 'USD', 'Dollar', 'https://logo/usd')`
  for (const [index, vault] of vaults.entries()) {
    await db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (31337, ${vault}, 'erc4626', ${token}, 6, ${vault}, 6)`
    await db`insert into opportunities (id, slug, name, type, chain_id, vault_address)
      values (${opportunities[index]!}, ${`o${index}`}, ${['Zeta', 'alpha'][index]!}, 'vault', 31337, ${vault})`
  }
  await db`insert into products (id, name) values (${product}, 'P')`
  await db`insert into opportunity_products (opportunity_id, product_id) values (${opportunities[1]!}, ${product})`
  await earn.distributor('acme')
  await earn.distributor('beta')
  await db`insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, finalized_number, updated_at)
    values (31337, 0, 14, ${hash(14)}, 14, 10, now())`
  for (const entry of entries)
    await db`insert into interactions (id, chain_id, vault_id, kind, block_number, block_hash, block_timestamp,
        transaction_hash, transaction_index, log_index, wallet, distributor_id, attribution, assets, shares, amount, is_swap,
        amount_usd)
      select ${idOf(entry)}, 31337, id, ${entry.kind ?? 'deposit'}, ${entry.block}, ${hash(entry.block)},
        to_timestamp(${1_700_000_000 + entry.block}), ${hash(entry.block * 100 + entry.log)}, 0, ${entry.log},
        ${entry.wallet ?? `0x${'0a'.repeat(20)}`}, ${entry.distributor ?? 'acme'}, 'signed', ${entry.assets ?? '1'}, 1,
        ${entry.assets ?? '1'}::numeric / 1000000, false, ${entry.usd ?? null}
      from vaults where address = ${vaults[entry.vault]!}`
})
afterAll(() => earn?.close())

const list = (query: Record<string, string | number> = {}) => earn.call('ListInteractions', { query })
const places = (answer: { body: { data: { blockNumber: number; logIndex: number }[] } }) =>
  answer.body.data.map(({ blockNumber, logIndex }) => `${blockNumber}.${logIndex}`)

describe('ListInteractions 200', () => {
  it('lists verified entries newest first, with every member', async () => {
    const answer = await list()
    expect(places(answer)).toEqual(['12.0', '11.4', '11.1', '10.1'])
    expect(answer.body.pagination).toEqual({ page: 1, limit: 20, total: 4, totalPages: 1 })
    expect(answer.body.data[3]).toEqual({
      id: idOf(entries[0]!),
      opportunityId: opportunities[0],
      interaction: 'deposit',
      txHash: hash(1001),
      chainId: 31337,
      blockTimestamp: '2023-11-14T22:13:30Z',
      walletAddress: getAddress(`0x${'0a'.repeat(20)}`),
      amountToken: '5',
      amountInUsd: '5',
      tokenSymbol: 'USD',
      tokenIconUrl: 'https://logo/usd',
      isSwap: false,
      distributorId: 'acme',
      logIndex: 1,
      blockNumber: 10,
      amountRaw: '5000000',
      finality: 'final',
      attribution: 'signed',
    })
    expect(answer.body.data[0].finality).toBe('confirmed')
    expect(answer.body.data[2].amountInUsd).toBeNull()
  })

  it('filters by type, distributor, opportunity in any case and product; different filters all apply', async () => {
    expect(places(await list({ interactionType: 'withdraw' }))).toEqual(['11.1'])
    expect(places(await list({ distributorId: 'beta' }))).toEqual(['11.4'])
    expect(places(await list({ opportunityId: opportunities[0]!.toUpperCase() }))).toEqual(['11.1', '10.1'])
    expect(places(await list({ productId: product }))).toEqual(['12.0', '11.4'])
    expect(places(await list({ productId: product, distributorId: 'acme' }))).toEqual(['12.0'])
  })

  it('answers an empty page for an unknown distributor, opportunity or product', async () => {
    for (const query of [{ distributorId: 'nobody' }, { opportunityId: newId() }, { productId: newId() }]) {
      const answer = await list(query)
      expect(answer.body).toEqual({ data: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } })
    }
  })

  it('sorts by each key in both orders, nulls last', async () => {
    expect(places(await list({ sortBy: 'date', sortOrder: 'asc' }))).toEqual(['10.1', '11.1', '11.4', '12.0'])
    expect(places(await list({ sortBy: 'usdValue' }))).toEqual(['12.0', '11.4', '10.1', '11.1'])
    expect(places(await list({ sortBy: 'usdValue', sortOrder: 'asc' }))).toEqual(['10.1', '11.4', '12.0', '11.1'])
    expect(places(await list({ sortBy: 'amount', sortOrder: 'asc' }))).toEqual(['11.1', '10.1', '11.4', '12.0'])
    const byName = (await list({ sortBy: 'opportunity', sortOrder: 'asc' })).body.data
    expect(byName.map((each: { opportunityId: string }) => opportunities.indexOf(each.opportunityId))).toEqual([
      1, 1, 0, 0,
    ])
    expect(places(await list({ sortBy: 'distributor' }))[0]).toBe('11.4')
    expect(places(await list({ sortBy: 'wallet' }))[0]).toBe('12.0')
    expect(places(await list({ sortBy: 'type' }))[0]).toBe('11.1')
  })

  it('pages without overlap, and past the end is empty', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => list({ page, limit: 2 })))
    expect(pages.flatMap(places)).toEqual(['12.0', '11.4', '11.1', '10.1'])
    expect(pages[2]!.body.pagination).toEqual({ page: 3, limit: 2, total: 4, totalPages: 2 })
  })
})

describe('ListInteractions 400 INVALID_ARGUMENT', () => {
  it.each(['sortBy=size', 'sortOrder=up', 'interactionType=swap', 'opportunityId=1', 'productId=x', 'page=1.5'])(
    'refuses %s',
    async (query) => {
      const answer = await earn.call('ListInteractions', { query })
      expect(answer).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
    },
  )
})

describe('GetDistributorDeposits 200', () => {
  it('lists only verified deposits of the distributor, newest first, with navigation', async () => {
    const answer = await earn.call('GetDistributorDeposits', { params: { distributorId: 'acme' }, query: { limit: 1 } })
    expect(answer.body.deposits.map((each: { blockNumber: number }) => each.blockNumber)).toEqual([12])
    expect(answer.body.pagination).toEqual({
      page: 1,
      limit: 1,
      total: 2,
      totalPages: 2,
      hasNext: true,
      hasPrevious: false,
    })
  })

  it('limits to an opportunity and to a product; an opportunity outside the product leaves nothing', async () => {
    const get = async (query: Record<string, string>) =>
      (await earn.call('GetDistributorDeposits', { params: { distributorId: 'acme' }, query })).body.deposits.length
    expect(await get({ opportunityId: opportunities[0]! })).toBe(1)
    expect(await get({ productId: product })).toBe(1)
    expect(await get({ productId: product, opportunityId: opportunities[0]! })).toBe(0)
  })
})

describe('GetDistributorDeposits 400 INVALID_ARGUMENT', () => {
  it('refuses a malformed opportunity id', async () => {
    const answer = await earn.call('GetDistributorDeposits', {
      params: { distributorId: 'acme' },
      query: { opportunityId: 'x' },
    })
    expect(answer).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })
})

describe('GetDistributorDeposits 404 NOT_FOUND', () => {
  it('does not know an unregistered distributor, and codes compare byte for byte', async () => {
    for (const distributorId of ['nobody', 'ACME']) {
      const answer = await earn.call('GetDistributorDeposits', { params: { distributorId } })
      expect(answer).toMatchObject({ status: 404, body: { status: 'NOT_FOUND' } })
    }
  })
})

describe('GetWalletActivity 200', () => {
  it('lists verified entries of all wallets given, in any case, newest first', async () => {
    const addresses = `0x${'0A'.repeat(20)},0X${'ff'.repeat(20)}`
    const answer = await earn.call('GetWalletActivity', { query: { addresses, limit: 3 } })
    expect(answer.body.activity.map((each: { blockNumber: number }) => each.blockNumber)).toEqual([12, 11, 11])
    expect(answer.body.pagination).toEqual({
      page: 1,
      limit: 3,
      total: 4,
      totalPages: 2,
      hasNext: true,
      hasPrevious: false,
    })
    const one = await earn.call('GetWalletActivity', { query: { addresses: `0x${'ff'.repeat(20)}` } })
    expect(one.body.activity.map((each: { blockNumber: number }) => each.blockNumber)).toEqual([12])
  })
})

describe('GetWalletActivity 400 INVALID_ARGUMENT', () => {
  it.each([
    '',
    'addresses=',
    'addresses=0x12',
    `addresses=${Array(1_001)
      .fill(`0x${'0a'.repeat(20)}`)
      .join()}`,
  ])('refuses missing, malformed and too many addresses', async (query) => {
    const answer = await earn.call('GetWalletActivity', { query })
    expect(answer).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })
})
