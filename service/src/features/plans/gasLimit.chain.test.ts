import { yieldVaultAbi } from '@openearn/contracts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'

const user = account(1)
let world: World
let vault: WorldVault

beforeAll(async () => {
  world = await openWorld()
  await world.join(user.address)
  const token = await world.token({ pegUsd: '1' })
  vault = await world.vault(token)
  await world.mint(token, user.address, 10n ** 12n)
  await world.write(vault.address, yieldVaultAbi, 'setAnnualRate', [10n ** 17n])
  await world.send(await deposit('5000000'), user)
})
afterAll(() => world?.close())

const deposit = (amount: string) =>
  world.earn.call('CreateDepositInteraction', {
    params: { opportunityId: vault.opportunityId },
    body: { userAddress: user.address, tokenIn: vault.asset, amount, distributorId: world.distributorId },
  })

const withdraw = (amount: string) =>
  world.earn.call('CreateWithdrawInteraction', {
    params: { opportunityId: vault.opportunityId },
    body: { userAddress: user.address, amount, distributorId: world.distributorId },
  })

/** In the second of the vault's last accrual there is no yield to pay in; a day later there is. */
it.each([
  ['deposit', () => deposit('1000000')],
  ['withdrawal', () => withdraw('1000000000000000000')],
])('a %s measured right after an accrual has gas enough for the yield of the next day', async (_name, build) => {
  await world.write(vault.address, yieldVaultAbi, 'accrue', [])
  const plan = await build()
  expect(plan.status).toBe(200)
  await world.anvil.client.increaseTime({ seconds: 86_400 })
  await world.send(plan, user)
})
