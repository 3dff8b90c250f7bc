import { depositRouterAbi, testTokenAbi, yieldVaultAbi, yieldVaultBytecode } from '@openearn/contracts'
import { type Address, decodeFunctionData, erc4626Abi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openSwapWorld, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'

const user = account(1)
const ether = 10n ** 18n
const usd = 10n ** 6n

let opened: SwapWorld<readonly [Wanted, Wanted]>
let world: typeof opened.world
let asset: Address
let other: Address

beforeAll(async () => {
  opened = await openSwapWorld({ pegUsd: '1' }, { decimals: 18, pegUsd: '2000' })
  ;({ world } = opened)
  ;[asset, other] = opened.tokens
  await opened.exchange.v2Pool(asset, other, 1_000_000n * usd, 500n * ether)
  await world.mint(other, user.address, 1_000n * ether)
  await world.join(user.address)
  await world.depositRouter()
})
afterAll(() => world.close())

/** A vault in which one whole unit of the asset buys so many hundredths of the smallest unit of its shares. */
async function openDearVault(hundredths: bigint) {
  const args = [asset, 'Dear', 'dTUSD', 0, 0n, false]
  const address = await world.anvil.deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
  await world.mint(asset, world.owner.address, usd)
  await world.write(asset, testTokenAbi, 'approve', [address, usd])
  await world.write(address, erc4626Abi, 'deposit', [usd, world.owner.address])
  await world.mint(asset, address, (usd * usd * 100n) / hundredths)
  const vault = await world.list({ address, asset, decimals: 6, kind: 'erc4626' })
  await world.earn.db`update opportunities set routed_swap_enabled = true where id = ${vault.opportunityId}`
  await world.refresh()
  return vault
}

const preview = (address: Address, assets: bigint) =>
  world.anvil.client.readContract({ address, abi: erc4626Abi, functionName: 'previewDeposit', args: [assets] })

it.each([
  ['1.99', 199n],
  ['9.9', 990n],
  ['98.7', 9_870n],
])(
  'takes the minimum of a protected deposit from the quote of all that enters, where a unit buys %s units of shares',
  async (_units, hundredths) => {
    const vault = await openDearVault(hundredths)
    expect(await preview(vault.address, usd)).toBeLessThan(100n)
    const answer = await world.earn.call('CreateDepositInteraction', {
      params: { opportunityId: vault.opportunityId },
      body: {
        ...{ userAddress: user.address, tokenIn: other, amount: String(ether), mode: 'swap', slippageBps: 100 },
        ...{ distributorId: world.distributorId, protect: true },
      },
    })
    expect(answer.status, answer.text).toBe(200)
    const { data } = answer.body.transactions.at(-1).transaction
    const [, enters, , least] = decodeFunctionData({ abi: depositRouterAbi, data }).args as readonly [
      ...[Address, bigint, Address, bigint],
    ]
    const quoted = await preview(vault.address, enters)
    expect(least).toBe((quoted * 9_900n) / 10_000n)
    const before = await world.balance(vault.address, user.address)
    await world.send(answer, user)
    expect((await world.balance(vault.address, user.address)) - before).toBe(quoted)
  },
)
