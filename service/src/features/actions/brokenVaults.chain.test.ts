import { asyncVaultAbi } from '@openearn/contracts'
import { type Address, encodeErrorResult, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { openStories, type tellStories } from '../../../test/asyncStories.js'
import { refused } from '../../../test/refused.js'

const user = account(1)
const usd = 1_000_000n
let world: World
let token: Address
let story: ReturnType<typeof tellStories>

beforeAll(async () => {
  ;({ world, token, story } = await openStories(user))
})
afterAll(() => world.close())

const kinds = ['erc4626', 'erc5115', 'erc7540', 'erc7540-deposit', 'erc7540-redeem', 'lagoon']
const list = (address: Address, kind: string) => world.list({ address, asset: token, decimals: 6, kind })

/** What every action on a vault that is not there, or is no vault, answers. */
async function expectClosed(vault: WorldVault): Promise<void> {
  refused(await story.deposit(vault, usd), 'DEPOSIT_DISABLED')
  refused(await story.withdraw(vault, 1n, { tokenOut: token }), 'WITHDRAW_DISABLED')
  refused(await story.claim(vault), 'NOTHING_PENDING')
  refused(await story.cancel(vault), 'NOTHING_PENDING')
}

describe.each(kinds)('every action of the kind %s refuses', (kind) => {
  it('an address without code', async () => {
    const index = 20 + kinds.indexOf(kind)
    await expectClosed(await list(account(index).address, kind))
  })

  it('a contract that reverts on every question', async () => {
    const address = await world.anvil.deploy({ abi: [], bytecode: '0x60fe60005360016000f3', args: [] })
    const vault = await list(address, kind)
    for (const answer of [
      await story.deposit(vault, usd),
      await story.withdraw(vault, 1n, { tokenOut: token }),
      await story.claim(vault),
      await story.cancel(vault),
    ]) {
      expect(answer.body).toMatchObject({ code: 400, context: { retryable: false } })
      expect(['DEPOSIT_DISABLED', 'WITHDRAW_DISABLED', 'TOKEN_UNSUPPORTED', 'NOTHING_PENDING']).toContain(
        answer.body.reason,
      )
    }
  })
})

describe('a vault that breaks while it is used', () => {
  it('refuses new requests while it is paused, with its own word, and lets settled ones be claimed', async () => {
    const vault = await world.asyncVault(token)
    await world.send(await story.deposit(vault, 100n * usd), user)
    await story.settle(vault, 'settleDeposit')
    await world.write(vault.address, asyncVaultAbi, 'setPaused', [true])
    const body = refused(await story.deposit(vault, 100n * usd), 'DEPOSIT_DISABLED')
    expect(body.error).toBe(
      'transaction 2 of 2 (deposit) would revert with RequestsPaused(): the vault takes no requests at present',
    )
    expect((await story.claim(vault)).status).toBe(200)
  })

  it('refuses a claim and a withdrawal that would revert, and says why', async () => {
    const vault = await world.asyncVault(token)
    await world.send(await story.deposit(vault, 100n * usd), user)
    await story.settle(vault, 'settleDeposit')
    const closed = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: ['under attack'] })
    await world.breakCall(vault.address, '0x2e2d2984', closed)
    const claim = refused(await story.claim(vault), 'SIMULATION_REVERTED')
    expect(claim.error).toBe('transaction 1 of 1 (claimDeposit) would revert with "under attack"')
    const sync = await world.vault(token)
    await world.send(await story.deposit(sync, 100n * usd), user)
    await world.breakCall(sync.address, '0xba087652', closed)
    const withdraw = refused(await story.withdraw(sync, 10n ** 18n), 'SIMULATION_REVERTED')
    expect(withdraw.error).toBe('transaction 1 of 1 (withdraw) would revert with "under attack"')
  })
})
