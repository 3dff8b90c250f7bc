import {
  feeOnTransferTokenAbi,
  feeOnTransferTokenBytecode,
  lyingAssetVaultAbi,
  lyingAssetVaultBytecode,
  yieldVaultAbi,
} from '@openearn/contracts'
import { type Address, erc20Abi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { listToken, type World, type WorldVault } from '../../../test/actionWorld.js'
import { type DepositWorld, openDepositWorld, usd } from '../../../test/depositWorld.js'
import { refused } from '../../../test/refused.js'

const user = account(1)

let world: World
let deposit: DepositWorld['deposit']
let renew: DepositWorld['renew']
let token: Address
let vault: WorldVault

beforeAll(async () => {
  ;({ world, deposit, renew } = await openDepositWorld())
})
afterAll(() => world.close())
beforeEach(async () => {
  ;({ token, vault } = await renew())
})

describe('400 INVALID_ARGUMENT, with a reason', () => {
  it('says insufficient token balance when the wallet has less than the amount', async () => {
    const answer = refused(await deposit({ amount: String(1000n * usd + 1n) }), 'INSUFFICIENT_BALANCE')
    expect(answer.error).toBe('insufficient token balance')
  })

  it('refuses a token the opportunity does not take: another one, its own receipt, and native', async () => {
    for (const tokenIn of [await world.token(), vault.address, 'native', `0x${'e'.repeat(40)}`])
      refused(await deposit({ tokenIn }), 'TOKEN_NOT_ACCEPTED')
  })

  it('refuses a token of another chain, even one that is listed for the opportunity', async () => {
    const { db } = world.earn
    const elsewhere = account(8).address
    await db`insert into chains (chain_id, name, slug) values (10, 'Elsewhere', 'elsewhere') on conflict do nothing`
    await db`
      insert into tokens (chain_id, address, decimals, symbol, name)
      values (10, ${elsewhere.toLowerCase()}, 6, 'TUSD', 'Bridged') on conflict do nothing`
    await db`
      insert into opportunity_tokens (opportunity_id, chain_id, address, position)
      values (${vault.opportunityId}, 10, ${elsewhere.toLowerCase()}, 1)`
    await world.refresh()
    refused(await deposit({ tokenIn: elsewhere }), 'TOKEN_NOT_ACCEPTED')
    expect((await deposit()).status).toBe(200)
  })

  it('refuses a token the operator marked as rebasing', async () => {
    await world.earn.db`update tokens set unsupported_reason = 'it rebases' where address = ${token.toLowerCase()}`
    await world.refresh()
    const answer = refused(await deposit(), 'TOKEN_UNSUPPORTED')
    expect(answer.error).toBe('TUSD cannot be deposited: it rebases')
  })

  it('refuses an amount worth less than the minimum', async () => {
    refused(await deposit({ amount: String(usd - 1n) }), 'BELOW_MINIMUM')
    expect((await deposit({ amount: String(usd) })).status).toBe(200)
  })

  it('refuses dust that would give no shares', async () => {
    const whole = await world.token({ decimals: 18 })
    const other = await world.vault(whole)
    await world.mint(whole, user.address, 10n ** 20n)
    await world.send(await deposit({ tokenIn: whole, amount: '1000' }, { id: other.opportunityId }), user)
    // A gift makes a share worth more than a unit.
    await world.mint(whole, other.address, 10n ** 19n)
    refused(await deposit({ tokenIn: whole, amount: '1' }, { id: other.opportunityId }), 'BELOW_MINIMUM')
  })

  it('refuses what is over the cap of the vault, and a paused vault', async () => {
    await world.write(vault.address, yieldVaultAbi, 'setDepositCap', [50n * usd])
    const answer = refused(await deposit(), 'CAP_EXCEEDED')
    expect(answer.context.maximum).toBe(String(50n * usd))
    await world.write(vault.address, yieldVaultAbi, 'setDepositsPaused', [true])
    refused(await deposit(), 'DEPOSIT_DISABLED')
  })

  it('refuses an opportunity whose deposits the operator switched off, and one no longer offered', async () => {
    await world.earn.db`update opportunities set deposit_enabled = false where id = ${vault.opportunityId}`
    await world.refresh()
    refused(await deposit(), 'DEPOSIT_DISABLED')
    await world.earn.db`
      update opportunities set deposit_enabled = true, active = false where id = ${vault.opportunityId}`
    await world.refresh()
    refused(await deposit(), 'DEPOSIT_DISABLED')
  })

  it('refuses a vault that is bought on a market only, and one without direct deposits', async () => {
    const { db } = world.earn
    await db`update opportunities set is_secondary_market = true where id = ${vault.opportunityId}`
    await world.refresh()
    refused(await deposit(), 'DEPOSIT_DISABLED')
    await db`
      update opportunities set is_secondary_market = false, direct_interaction_enabled = false
      where id = ${vault.opportunityId}`
    await world.refresh()
    refused(await deposit(), 'DEPOSIT_DISABLED')
  })

  it('answers NO_ROUTE to a swap where the operator has not switched swaps on, or knows no exchange', async () => {
    const refusal = { code: 400, reason: 'NO_ROUTE', context: { retryable: false } }
    const other = await world.token({ pegUsd: '1' })
    const off = await deposit({ mode: 'swap', tokenIn: other })
    expect(off.body).toMatchObject({ ...refusal, error: expect.stringContaining('routedSwapEnabled') })
    const set = (on: boolean) => world.earn.db`
      update opportunities set routed_swap_enabled = ${on} where id = ${vault.opportunityId}`
    await set(true)
    await world.refresh()
    const none = await deposit({ mode: 'swap', tokenIn: other })
    await set(false)
    await world.refresh()
    expect(none.body).toMatchObject({ ...refusal, error: expect.stringContaining('no exchange is configured') })
  })

  it('refuses an address without code', async () => {
    const empty = await world.list({ address: account(7).address, asset: token, decimals: 6, kind: 'erc4626' })
    refused(await deposit({}, { id: empty.opportunityId }), 'DEPOSIT_DISABLED')
    // That nothing can be deposited comes before what the wallet has.
    const tooMuch = { amount: String(1000n * usd + 1n) }
    refused(await deposit(tooMuch, { id: empty.opportunityId }), 'DEPOSIT_DISABLED')
  })

  it('refuses a vault that reverts on every question', async () => {
    const address = await world.anvil.deploy({ abi: [], bytecode: '0x60fe60005360016000f3', args: [] })
    const broken = await world.list({ address, asset: token, decimals: 6, kind: 'erc4626' })
    refused(await deposit({}, { id: broken.opportunityId }), 'DEPOSIT_DISABLED')
  })

  it('refuses a vault that lies about its asset, now or at the deposit', async () => {
    const other = await world.token()
    const args = [other, token]
    const address = await world.anvil.deploy({ abi: lyingAssetVaultAbi, bytecode: lyingAssetVaultBytecode, args })
    const lying = await world.list({ address, asset: token, decimals: 6, kind: 'erc4626' })
    await world.mint(other, user.address, 1000n * usd)
    refused(await deposit({}, { id: lying.opportunityId }), 'SIMULATION_REVERTED')
    await world.write(other, erc20Abi, 'approve', [address, 1000n * usd], user)
    refused(await deposit({}, { id: lying.opportunityId }), 'TOKEN_UNSUPPORTED')
    await world.write(address, lyingAssetVaultAbi, 'claimAsset', [other])
    refused(await deposit({}, { id: lying.opportunityId }), 'TOKEN_UNSUPPORTED')
  })

  it('refuses a token that takes a fee on transfer', async () => {
    const args = ['Taxed', 'TAX', 6, 100n]
    const taxed = await world.anvil.deploy({ abi: feeOnTransferTokenAbi, bytecode: feeOnTransferTokenBytecode, args })
    await listToken(world.earn, { address: taxed, decimals: 6, symbol: 'TAX' })
    const other = await world.vault(taxed, { old: true })
    await world.mint(taxed, user.address, 1000n * usd)
    refused(await deposit({ tokenIn: taxed }, { id: other.opportunityId }), 'TOKEN_UNSUPPORTED')
  })
})
