import { type Address, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWorld, type World } from '../../../test/actionWorld.js'
import { openLendingMarket } from '../../../test/chain/lending.js'

const unit = 1_000_000n
const [alice, lender] = [account(1), account(2)]
let world: World
let market: Awaited<ReturnType<typeof openLendingMarket>>
let lent: Address

beforeAll(async () => {
  world = await openWorld()
  lent = await world.token({ pegUsd: '1' })
  market = await openLendingMarket(world, [{ address: lent, symbol: 'LENT', decimals: 6, priceUsd: '1' }])
  for (const wallet of [alice, lender]) await world.mint(lent, wallet.address, 1_000n * unit)
  await market.supply(lent, 500n * unit, lender)
  await market.supply(lent, 100n * unit, alice)
  await market.borrow(lent, 20n * unit, alice)
  await world.sync()
}, 120_000)
afterAll(() => world?.close())

async function read() {
  world.earn.clock.advance(5_000)
  const { body } = await world.earn.call('GetWalletPortfolio', { params: { address: alice.address } })
  const [wallet] = body.portfolio.holdings.wallets
  // The native token has no price here.
  return { ...wallet, errors: wallet.errors.filter(({ source }: { source: string }) => source !== 'price') }
}

it('a market that does not tell a reserve is named, and its collateral and debt are told as soon as it does', async () => {
  const { client } = world.anvil
  const dataProvider = market.dataProvider as Address
  const code = (await client.getCode({ address: dataProvider })) as Hex
  await client.setCode({ address: dataProvider, bytecode: '0x60006000fd' })
  const without = await read()
  expect(without.errors).toEqual([
    {
      ...{ chainId: world.chainId, source: 'adapter:aave-v3' },
      error: expect.stringContaining(lent.toLowerCase()),
    },
  ])
  await client.setCode({ address: dataProvider, bytecode: code })
  await client.mine({ blocks: 1 })
  const whole = await read()
  expect(whole.errors).toEqual([])
  const [item] = whole.protocols[0].portfolio_item_list
  expect(whole.protocols).toHaveLength(1)
  expect(Number(item.stats.debt_usd_value)).toBeCloseTo(20, 3)
  expect(Number(item.stats.asset_usd_value)).toBeCloseTo(100, 3)
})

it('a debt that does not answer is named, and told as soon as it does', async () => {
  const { client } = world.anvil
  const tokens = await client.readContract({
    address: market.dataProvider as Address,
    abi: parseAbi(['function getReserveTokensAddresses(address) view returns (address, address, address)']),
    functionName: 'getReserveTokensAddresses',
    args: [lent],
  })
  const debt = tokens[2]
  const code = (await client.getCode({ address: debt })) as Hex
  const owedIn = ({ protocols }: Awaited<ReturnType<typeof read>>) =>
    protocols[0].portfolio_item_list[0].detail.borrow_token_list.map(({ address }: { address: string }) => address)
  expect(owedIn(await read())).toEqual([lent])
  await client.setCode({ address: debt, bytecode: '0x60006000fd' })
  await client.mine({ blocks: 1 })
  const without = await read()
  expect(without.errors).toEqual([
    { chainId: world.chainId, source: 'adapter:aave-v3', error: expect.stringContaining(debt.toLowerCase()) },
  ])
  expect(owedIn(without)).toEqual([])
  await client.setCode({ address: debt, bytecode: code })
  await client.mine({ blocks: 1 })
  const whole = await read()
  expect([whole.errors, owedIn(whole)]).toEqual([[], [lent]])
})
