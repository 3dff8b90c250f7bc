import {
  cooldownVaultAbi,
  cooldownVaultBytecode,
  mapleManagerAbi,
  maplePoolAbi,
  maplePoolBytecode,
  windowStakeAbi,
  windowStakeBytecode,
} from '@openearn/contracts'
import type { Abi, Address, Hex } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { WorldVault } from '../../../test/actionWorld.js'
import { typesOf } from '../../../test/depositWorld.js'
import { openLagoonVaults } from '../../../test/lagoonVaults.js'
import { refused } from '../../../test/refused.js'
import { openVeda } from '../../../test/vedaVaults.js'
import { openZapWorld } from '../../../test/zapWorld.js'

const [owner, user] = [account(0), account(1)]
const ether = 10n ** 18n
const wait = 604_800
let world: Awaited<ReturnType<typeof openZapWorld>>['world']
let asset: Address
let other: Address

beforeAll(async () => {
  ;({ world, asset, other } = await openZapWorld())
})
afterAll(() => world.close())

const deploy = (abi: unknown, bytecode: Hex, args: readonly unknown[]) =>
  world.anvil.deploy({ abi: abi as Abi, bytecode, args: [...args] })
const listed = (address: Address, kind: string) => world.list({ address, asset, decimals: 6, kind })

async function openMaple(): Promise<WorldVault> {
  const address = await deploy(maplePoolAbi, maplePoolBytecode, [asset, 'Syrup', 'syrupTUSD'])
  const read = (of: Address, abi: unknown, functionName: string) =>
    world.anvil.client.readContract({ address: of, abi: abi as Abi, functionName }) as Promise<Address>
  const manager = await read(address, maplePoolAbi, 'manager')
  const queue = await read(manager, mapleManagerAbi, 'withdrawalManager')
  await world.write(manager, mapleManagerAbi as Abi, 'setLender', [user.address, true], owner)
  return world.list({ address, asset, decimals: 6, receiptDecimals: 6, kind: 'maple', contracts: { queue, manager } })
}

/** A vault of each kind that is served; `out` says how it is left into another token. */
const kinds: Record<string, { open: () => Promise<WorldVault>; out: 'swap' | 'none' }> = {
  erc4626: { open: () => world.vault(asset), out: 'swap' },
  // What it takes itself needs no swap.
  erc5115: { open: async () => world.severalTokenVault(asset, await world.token()), out: 'swap' },
  'erc7540-redeem': { open: () => world.asyncVault(asset, { kind: 'erc7540-redeem' }), out: 'none' },
  cooldown: {
    open: async () =>
      listed(await deploy(cooldownVaultAbi, cooldownVaultBytecode, [asset, 'Staked', 'sTUSD', 12, wait]), 'cooldown'),
    out: 'none',
  },
  'window-stake': {
    open: async () =>
      listed(
        await deploy(windowStakeAbi, windowStakeBytecode, [asset, 'Staked', 'stkTUSD', wait, 172_800]),
        'window-stake',
      ),
    out: 'none',
  },
  lagoon: {
    open: async () => {
      const lagoon = openLagoonVaults(world, asset)
      const vault = await lagoon.open('0.6')
      await lagoon.openSync(vault)
      return vault
    },
    out: 'swap',
  },
  maple: { open: openMaple, out: 'none' },
  veda: { open: () => openVeda(world, asset).open(), out: 'none' },
}

it.each(Object.entries(kinds))(
  '%s is entered with another token, whose entry says so, and left into another token where a withdrawal pays at once',
  async (_, { open, out }) => {
    const vault = await open()
    await world.earn.db`update opportunities set routed_swap_enabled = true`
    await world.refresh()
    const call = (operationId: string, body: Record<string, unknown>) =>
      world.earn.call(operationId, {
        params: { opportunityId: vault.opportunityId },
        body: { userAddress: user.address, distributorId: world.distributorId, ...body },
      })
    const zap = await call('CreateDepositInteraction', { tokenIn: other, amount: String(ether), mode: 'swap' })
    expect(zap.status, zap.text).toBe(200)
    expect(typesOf(zap).at(-1)).toBe('deposit')
    expect(typesOf(zap)).toContain('swap')
    await world.send(zap, user)
    const held = await world.balance(vault.address, user.address)
    expect(held).toBeGreaterThan(0n)
    await world.sync()
    const query = { opportunityId: vault.opportunityId, limit: 10 }
    const { body } = await world.earn.call('ListInteractions', { query })
    expect(body.data).toMatchObject([{ interaction: 'deposit', attribution: 'signed', isSwap: true }])

    const taken = await call('CreateWithdrawInteraction', { amount: String(held), tokenOut: other })
    if (out === 'none') {
      refused(taken, 'TOKEN_NOT_ACCEPTED')
      return
    }
    expect(taken.status, taken.text).toBe(200)
    expect(typesOf(taken).slice(-2)).toEqual(['approve', 'swap'])
    const before = await world.balance(other, user.address)
    await world.send(taken, user)
    expect(String((await world.balance(other, user.address)) - before)).toBe(
      taken.body.transactions.at(-1).metadata.amountOut,
    )
    expect(await world.balance(vault.address, user.address)).toBe(0n)
  },
)
