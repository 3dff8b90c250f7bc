import { type Abi, type Address, erc20Abi, erc4626Abi, type Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'
import { getWalletPortfolio, openPortfolio, type PortfolioBody } from './index.js'
import { findMarks } from './storeMarks.js'

const positions = 10_000
const owner = account(1)
const wallet: Address = `0x${'00'.repeat(18)}a11c`
const vaultAddress = (place: number): Address => `0x51${'0'.repeat(34)}${place.toString(16).padStart(4, '0')}`
/** Place by place two whole dollars more, from two on. */
const total = positions * (positions + 1)

/**
 * A vault that needs no storage: the wallet has as many whole shares as the last two bytes of the vault's address say, a
 * share is worth two dollars, and there are 10^24 of whatever else it is asked.
 */
const code = [
  ...['0x60003560e01c', '806370a0823114602e57', '806307a2d13a14606157'],
  ...['69d3c21bcecceda1000000', '60005260206000f3', '00'],
  ...['5b600435', `73${wallet.slice(2)}`, '143061ffff1602670de0b6b3a764000002', '60005260206000f3', '00'],
  ...['5b600260043502', '64e8d4a510009004', '60005260206000f3'],
].join('') as Hex

let world: World
let dollar: Address
let url: string
let asynchronous: WorldVault
/** A vault, a vault of its shares, and one of the shares of that. */
let nested: WorldVault[]

beforeAll(async () => {
  world = await openWorld()
  dollar = await world.token({ pegUsd: '1' })
  asynchronous = await world.asyncVault(dollar, { separateIds: true })
  const inner = await world.vault(dollar)
  const middle = await world.vault(inner.address, { name: 'Shares', old: true })
  nested = [inner, middle, await world.vault(middle.address, { name: 'Shares of shares', old: true })]
  await world.mint(dollar, owner.address, 1_000_000n)
  for (const [at, vault] of nested.entries()) {
    const asset = nested[at - 1]?.address ?? dollar
    const amount = await world.balance(asset, owner.address)
    await world.write(asset, erc20Abi as Abi, 'approve', [vault.address, amount], owner)
    await world.write(vault.address, erc4626Abi as Abi, 'deposit', [amount, owner.address], owner)
  }
  const places = Array.from({ length: positions }, (_, at) => at + 1)
  for (let from = 0; from < positions; from += 1_000) {
    const body = places.slice(from, from + 1_000).map((place) => ({
      ...{ jsonrpc: '2.0', id: place, method: 'anvil_setCode', params: [vaultAddress(place), code] },
    }))
    const headers = { 'content-type': 'application/json' }
    await fetch(world.anvil.url, { method: 'POST', headers, body: JSON.stringify(body) }).then((answer) =>
      answer.text(),
    )
  }
  await seed()
  await world.refresh()
  await world.anvil.client.mine({ blocks: 1 })
  url = await world.earn.service.publicApp.listen({ port: 0, host: '127.0.0.1' })
}, 120_000)
afterAll(() => world?.close())
beforeEach(() => {
  world.earn.ctx.catalogue.answers.forget()
  world.earn.clock.advance(5_000)
})

/** The wallet in every vault, a flow in each, and ten thousand open requests that somebody made in its name. */
async function seed(): Promise<void> {
  const { chainId, earn } = world
  const { db } = earn
  const asset = dollar.toLowerCase()
  const addresses = Array.from({ length: positions }, (_, at) => vaultAddress(at + 1))
  await db`
    insert into tokens (chain_id, address, decimals, symbol, name)
    select ${chainId}, address, 18, 'mTUSD', 'Share' from unnest(${addresses}::text[]) address`
  await db`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from)
    select ${chainId}, address, 'erc4626', ${asset}, 6, address, 18, 'epoch' from unnest(${addresses}::text[]) address`
  await db`
    insert into opportunities (id, slug, name, type, chain_id, vault_address)
    select gen_random_uuid(), address, 'Vault ' || address, 'vault', ${chainId}, address
    from unnest(${addresses}::text[]) address`
  await db`
    insert into vault_snapshots (vault_id, block_number, block_timestamp, price_exponent, total_assets, total_supply,
      price_numerator, price_usd, block_hash)
    select id, 1, to_timestamp(1790000000), 18, 0, 0, 2000000, 1, decode(repeat('00', 32), 'hex') from vaults
    where address = any(${addresses}::text[])`
  const held = db`
    (select id, ('x' || right(address, 4))::bit(16)::int * 1000000000000000000::numeric as shares from vaults
      where address = any(${addresses}::text[])) held`
  await db`
    insert into balances (chain_id, first_block, vault_id, wallet, shares, attributed)
    select ${chainId}, 1, id, hex_bytes(${wallet}), shares, 0 from ${held}`
  await db`
    insert into balance_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, before, after,
      attributed_before, attributed_after)
    select ${chainId}, 1, to_timestamp(1790000000), id, 0, hex_bytes(${wallet}), 0, shares, 0, 0 from ${held}`
  await db`
    insert into flows (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, kind, shares, assets)
    select ${chainId}, 1, to_timestamp(1790000000), id, 0, hex_bytes(${wallet}), 'deposit', shares, 1000000 from ${held}`
  await db`
    insert into requests (id, chain_id, block_number, block_timestamp, vault_id, transaction_index, log_index,
      transaction_hash, kind, controller, owner, request_id, amount, counted, lots, remaining)
    select gen_random_uuid(), ${chainId}, 1, to_timestamp(1790000000), v.id, 0, n, decode(repeat('00', 32), 'hex'), 'deposit',
      hex_bytes(${wallet}), hex_bytes(${wallet}), n, n, 1, '', n
    from vaults v cross join generate_series(1, ${positions}::int) n
    where v.address = ${asynchronous.address.toLowerCase()}`
  await db`vacuum analyze`
}

function expectRight({ portfolio }: PortfolioBody): void {
  const { totalUsd, wallets } = portfolio.holdings
  const [told] = wallets
  expect(told?.errors).toEqual([
    { chainId: world.chainId, source: 'adapter:vaults', error: expect.stringMatching(/^9968 more open requests/) },
  ])
  expect(totalUsd).toBe(String(total))
  const items = told?.protocols.flatMap((protocol) => protocol.portfolio_item_list) ?? []
  expect(items).toHaveLength(positions)
  expect(new Set(items.map(({ pool }) => pool.id)).size).toBe(positions)
  expect(items[0]).toMatchObject({ stats: { net_usd_value: String(2 * positions) } })
  expect(portfolio.productsEarnings).toHaveLength(positions)
  const earned = portfolio.productsEarnings.reduce((sum, each) => sum + Number(each.earned.native), 0)
  expect(earned).toBe(total - positions)
}

describe('the portfolio of a wallet with 10,000 positions', () => {
  it('is right over HTTP, or names what did not come in time and tells nothing of it', async () => {
    const answer = await fetch(`${url}/v2/wallet/${wallet}/portfolio`, {
      headers: { 'x-api-key': world.earn.publishable },
    })
    const body = (await answer.json()) as PortfolioBody
    expect(answer.status).toBe(200)
    const [told] = body.portfolio.holdings.wallets
    const isOfRequests = (error: string) => error.includes('more open requests')
    const named = told?.errors.filter(({ error }) => !isOfRequests(error)).map(({ source }) => source) ?? []
    if (named.length === 0) return expectRight(body)
    const isHeldTold = !named.some((source) => ['rpc', 'adapter:vaults', 'price'].includes(source))
    expect(told?.totalUsd).toBe(isHeldTold ? String(total) : '0')
    expect(told?.protocols).toHaveLength(isHeldTold ? 1 : 0)
    expect(body.portfolio.productsEarnings).toHaveLength(named.includes('earnings') ? 0 : positions)
  })

  it('is right to the last of them', async () => {
    const { ctx, service } = world.earn
    const portfolio = openPortfolio({ deadlineMs: 60_000 })
    const body = await getWalletPortfolio({ ...ctx, chains: service.holdingsChains, portfolio }, { address: wallet })
    expectRight(body)
  }, 60_000)

  it('asks about the requests with the most left: small ones that anyone made in its name push none of these out', async () => {
    const { openRequests } = await findMarks(world.earn.db, wallet)
    const most = Array.from({ length: 32 }, (_, at) => String(positions - at))
    expect(openRequests.slice(0, 32).map(({ requestId }) => requestId)).toEqual(most)
  })
})

describe('shares of a vault that holds shares of another, among more vaults than are all asked their price', () => {
  it.each(['before they are derived', 'once they are derived'])(
    'are worth what is inside, %s',
    async (when) => {
      const { earn, chainId } = world
      const address = nested[2]?.address.toLowerCase() ?? ''
      if (when === 'once they are derived')
        await earn.db`
        insert into balances (chain_id, first_block, vault_id, wallet, shares, attributed)
        select ${chainId}, 1, id, hex_bytes(${owner.address.toLowerCase()}), 1, 0 from vaults where address = ${address}`
      const portfolio = openPortfolio({ deadlineMs: 60_000 })
      const ctx = { ...earn.ctx, chains: earn.service.holdingsChains, portfolio }
      const { holdings } = (await getWalletPortfolio(ctx, { address: owner.address })).portfolio
      const [told] = holdings.wallets
      const items = told?.protocols.flatMap((protocol) => protocol.portfolio_item_list) ?? []
      expect(items.map(({ pool }) => pool.id.toLowerCase())).toEqual([address])
      expect(Number(holdings.totalUsd)).toBeCloseTo(1, 5)
      expect(told?.errors.filter(({ error }) => !error.endsWith('ETH'))).toEqual([])
    },
    60_000,
  )
})
