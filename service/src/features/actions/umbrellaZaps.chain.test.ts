import { umbrellaStakeAbi, umbrellaStakeBytecode } from '@openearn/contracts'
import type { Address } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { WorldVault } from '../../../test/actionWorld.js'
import { typesOf } from '../../../test/depositWorld.js'
import { refused } from '../../../test/refused.js'
import { openZapWorld } from '../../../test/zapWorld.js'

const user = account(1)
const ether = 10n ** 18n
const wait = 604_800
let world: Awaited<ReturnType<typeof openZapWorld>>['world']
let asset: Address
let other: Address
let vault: WorldVault

beforeAll(async () => {
  ;({ world, asset, other } = await openZapWorld())
  const args = [asset, 'Staked', 'stkTUSD', wait, 172_800]
  const address = await world.anvil.deploy({ abi: umbrellaStakeAbi, bytecode: umbrellaStakeBytecode, args })
  vault = await world.list({ address, asset, decimals: 6, kind: 'umbrella' })
  await world.earn.db`update opportunities set routed_swap_enabled = true`
  await world.refresh()
})
afterAll(() => world.close())

const call = (operationId: string, body: Record<string, unknown>) =>
  world.earn.call(operationId, {
    params: { opportunityId: vault.opportunityId },
    body: { userAddress: user.address, distributorId: world.distributorId, ...body },
  })
const withdraw = (amount: bigint, tokenOut: Address) =>
  call('CreateWithdrawInteraction', { amount: String(amount), tokenOut })

it('is entered with another token, and left into it in the window alone: a cooldown pays nothing that could be swapped', async () => {
  const zap = await call('CreateDepositInteraction', { tokenIn: other, amount: String(ether), mode: 'swap' })
  expect(typesOf(zap)).toEqual(['approve', 'swap', 'approve', 'deposit'])
  await world.send(zap, user)
  const held = await world.balance(vault.address, user.address)
  expect(held).toBeGreaterThan(0n)
  refused(await withdraw(held, other), 'TOKEN_NOT_ACCEPTED')
  await world.send(await withdraw(held, asset), user)
  refused(await withdraw(held, other), 'NOT_CLAIMABLE', true)
  await world.anvil.pass(wait)
  // A router judges the deadline of a plan by its chain's time.
  world.earn.clock.advance(wait * 1000)
  const taken = await withdraw(held, other)
  expect(taken.status, taken.text).toBe(200)
  expect(typesOf(taken)).toEqual(['withdraw', 'approve', 'swap'])
  const before = await world.balance(other, user.address)
  await world.send(taken, user)
  expect(String((await world.balance(other, user.address)) - before)).toBe(
    taken.body.transactions.at(-1).metadata.amountOut,
  )
  expect(await world.balance(vault.address, user.address)).toBe(0n)
  await world.sync()
  const query = { opportunityId: vault.opportunityId, sortOrder: 'asc' }
  const { body } = await world.earn.call('ListInteractions', { query })
  expect(body.data).toMatchObject([
    { interaction: 'deposit', amountRaw: String(held), attribution: 'signed', isSwap: true },
    { interaction: 'withdraw', amountRaw: String(held), attribution: 'signed', isSwap: true },
  ])
})
