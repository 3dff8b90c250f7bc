import { asyncVaultAbi, cooldownVaultAbi, cooldownVaultBytecode } from '@openearn/contracts'
import { type Address, erc20Abi, erc4626Abi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { WorldVault } from '../../../test/actionWorld.js'
import { openSwapWorld, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'
import { typesOf } from '../../../test/depositWorld.js'
import { refused } from '../../../test/refused.js'

const user = account(1)
const ether = 10n ** 18n
const usd = 10n ** 6n
const week = 604_800

let opened: SwapWorld<readonly [Wanted, Wanted]>
let world: typeof opened.world
let asset: Address
let other: Address
let vault: WorldVault

beforeAll(async () => {
  opened = await openSwapWorld({ pegUsd: '1' }, { decimals: 18 })
  ;({ world } = opened)
  ;[asset, other] = opened.tokens
  await opened.exchange.v2Pool(asset, other, 1_000_000n * usd, 500n * ether)
  await world.mint(asset, user.address, 10_000n * usd)
  await world.join(user.address)
  const args = [asset, 'Staked', 'sTUSD', 12, week]
  const address = await world.anvil.deploy({ abi: cooldownVaultAbi, bytecode: cooldownVaultBytecode, args })
  vault = await world.list({ address, asset, decimals: 6, kind: 'cooldown' })
  await world.earn.db`update opportunities set routed_swap_enabled = true`
  await world.refresh()
})
afterAll(() => world.close())

const withdraw = (amount: bigint, tokenOut: string = other, changes: { simulate?: boolean } = {}) =>
  world.earn.call('CreateWithdrawInteraction', {
    params: { opportunityId: vault.opportunityId },
    body: {
      userAddress: user.address,
      amount: String(amount),
      tokenOut,
      distributorId: world.distributorId,
      ...changes,
    },
  })

it('swaps what has cooled down, never what only begins to, and tries what the vault offers instead', async () => {
  const deposit = await world.earn.call('CreateDepositInteraction', {
    params: { opportunityId: vault.opportunityId },
    body: {
      ...{ userAddress: user.address, tokenIn: asset, amount: String(1_000n * usd) },
      distributorId: world.distributorId,
    },
  })
  await world.send(deposit, user)
  const held = await world.balance(vault.address, user.address)
  const part = held / 4n
  // Shares only begin to cool down: nothing is paid that could be swapped.
  refused(await withdraw(part), 'TOKEN_NOT_ACCEPTED')
  await world.send(await withdraw(part, asset), user)
  // What cools down cannot be taken out yet, and to begin anew pays nothing either.
  refused(await withdraw(part), 'TOKEN_NOT_ACCEPTED')
  await world.anvil.pass(week)
  // A router judges the deadline of a plan by its chain's time.
  world.earn.clock.advance(week * 1000)
  const taken = await withdraw(part)
  expect(taken.status, taken.text).toBe(200)
  expect(typesOf(taken)).toEqual(['withdraw', 'approve', 'swap'])
  const before = await world.balance(other, user.address)
  await world.send(taken, user)
  const gained = (await world.balance(other, user.address)) - before
  expect(String(gained)).toBe(taken.body.transactions.at(-1).metadata.amountOut)
})

it('takes out at once what cools down where the vault waits no more', async () => {
  const held = await world.balance(vault.address, user.address)
  await world.send(await withdraw(held / 4n, asset), user)
  await world.write(vault.address, cooldownVaultAbi, 'setCooldownDuration', [0])
  const answer = await withdraw(held / 4n)
  expect(answer.status, answer.text).toBe(200)
  expect(typesOf(answer)).toEqual(['withdraw', 'approve', 'swap'])
})

it('says of a request that it is swapped at the claim', async () => {
  const slow = await world.asyncVault(asset, { kind: 'erc7540-redeem' })
  await world.earn.db`update opportunities set routed_swap_enabled = true where id = ${slow.opportunityId}`
  await world.refresh()
  vault = slow
  await world.mint(asset, user.address, usd)
  await world.write(asset, asyncVaultAbi, 'approve', [slow.address, usd], user)
  await world.write(slow.address, asyncVaultAbi, 'deposit', [usd, user.address], user)
  refused(await withdraw(await world.balance(slow.address, user.address)), 'TOKEN_NOT_ACCEPTED')
})

it('refuses an unsimulated withdrawal with a swap where the redemption alone would be refused', async () => {
  vault = await world.vault(asset)
  await world.earn.db`update opportunities set routed_swap_enabled = true where id = ${vault.opportunityId}`
  await world.refresh()
  await world.mint(asset, user.address, usd)
  await world.write(asset, erc20Abi, 'approve', [vault.address, usd], user)
  await world.write(vault.address, erc4626Abi, 'deposit', [usd, user.address], user)
  const held = await world.balance(vault.address, user.address)
  const unsimulated = (tokenOut: string) => withdraw(held, tokenOut, { simulate: false })
  expect((await unsimulated(other)).status).toBe(200)
  // What was last seen of the vault.
  await world.earn.db`
    insert into opportunity_capabilities (opportunity_id, deposit_open, withdraw_open, deposit_closed_reason,
      withdraw_closed_reason, capability_at)
    values (${vault.opportunityId}, true, false, '', 'Withdrawals are closed.', now())
    on conflict (opportunity_id) do update set withdraw_open = false, withdraw_closed_reason = 'Withdrawals are closed.'`
  await world.refresh()
  refused(await unsimulated(asset), 'WITHDRAW_DISABLED')
  refused(await unsimulated(other), 'WITHDRAW_DISABLED')
})
