import { asyncVaultAbi } from '@openearn/contracts'
import { type Address, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { World, WorldVault } from '../../../test/actionWorld.js'
import { openStories, tellStories } from '../../../test/asyncStories.js'
import { rebuildChain } from '../../../test/pipeline.js'
import { systemClock } from '../../kernel/clock.js'
import { probeVault } from '../../probing/index.js'

const user = account(1)
const friend = account(2)
const deposited = 123_456_789n
let world: World
let token: Address

beforeAll(async () => {
  ;({ world, token } = await openStories(user))
  await world.join(friend.address)
})
afterAll(() => world.close())

type Way = { kind: string; open(): Promise<WorldVault>; waitsIn?: true; waitsOut?: true; tokenOut?: true }

/** The kinds whose own files do not go the whole way (lagoon, cooldown, window-stake and umbrella do). */
const ways: readonly Way[] = [
  { kind: 'erc4626', open: () => world.vault(token) },
  {
    kind: 'erc5115',
    open: async () => world.severalTokenVault(token, await world.token({ decimals: 18 })),
    tokenOut: true,
  },
  { kind: 'erc7540', open: () => world.asyncVault(token), waitsIn: true, waitsOut: true },
  {
    kind: 'erc7540-deposit',
    open: () => world.asyncVault(token, { kind: 'erc7540-deposit' }),
    waitsIn: true,
  },
  { kind: 'erc7540-redeem', open: () => world.asyncVault(token, { kind: 'erc7540-redeem' }), waitsOut: true },
]

const assets = (of: Address) => world.balance(token, of)

/** Takes shares out by plans of the service, through a request where the kind has one; what was paid. */
async function leave(vault: WorldVault, { waitsOut, tokenOut }: Way, as: typeof user, shares: bigint) {
  const story = tellStories(world, as)
  const changes = tokenOut ? { tokenOut: token } : {}
  if (waitsOut) {
    await world.send(await story.withdraw(vault, shares, changes), as)
    await story.settle(vault, 'settleRedeem')
  }
  const before = await assets(as.address)
  await world.send(await story.withdraw(vault, shares, changes), as)
  return (await assets(as.address)) - before
}

/** What the rows say: lots that are left, and the states of the requests of both wallets. */
async function readRows(vault: WorldVault) {
  await world.sync()
  const lots = await world.earn.db`
    select hex_text(wallet) as wallet, distributor_id as "distributorId", shares::text as shares from lots
    join vaults on vaults.id = lots.vault_id
    where vaults.address = ${vault.address.toLowerCase()} and shares > 0`
  const states = await Promise.all(
    [user, friend].map(async ({ address }) => {
      const { body } = await world.earn.call('GetWalletRequests', { params: { address } })
      const mine = body.requests.filter(({ opportunityId }: { opportunityId: string }) => {
        return opportunityId === vault.opportunityId
      })
      return mine.map(({ kind, state }: Record<string, string>) => `${kind} ${state}`)
    }),
  )
  return { lots, states }
}

describe.each(ways)('a vault of the kind $kind', (way) => {
  it('is probed, entered, claimed by a third party, left in part, by a transferee and whole, to the unit', async () => {
    const { kind, open, waitsIn, waitsOut } = way
    const story = tellStories(world, user)
    const vault = await open()
    expect(await probeVault(world.earn.ctx.chains.get(world.chainId)!, vault.address)).toMatchObject({ kind })
    const held = await assets(user.address)
    await world.send(await story.deposit(vault, deposited), user)
    expect(held - (await assets(user.address))).toBe(deposited)
    if (waitsIn) {
      await story.settle(vault, 'settleDeposit')
      await world.write(vault.address, asyncVaultAbi, 'setOperator', [friend.address, true], user)
      await world.write(vault.address, asyncVaultAbi, 'deposit', [deposited, user.address, user.address], friend)
    }
    const had = await world.balance(vault.address, user.address)
    expect((await readRows(vault)).lots).toEqual([
      { wallet: user.address.toLowerCase(), distributorId: world.distributorId, shares: String(had) },
    ])
    await world.mint(token, vault.address, 7_777_777n)

    const paid = await leave(vault, way, user, had / 3n)
    const moved = (had - had / 3n) / 2n
    await world.write(vault.address, erc20Abi, 'transfer', [friend.address, moved], user)
    const friendPaid = await leave(vault, way, friend, moved)
    const lastPaid = await leave(vault, way, user, had - had / 3n - moved)
    for (const { address } of [user, friend]) expect(await world.balance(vault.address, address)).toBe(0n)

    const entries = await story.entries(vault)
    const [mine, theirs] = [user.address, friend.address]
    expect(entries).toMatchObject([
      { interaction: 'deposit', amountRaw: String(deposited), attribution: 'signed', walletAddress: mine },
      { interaction: 'withdraw', amountRaw: String(paid), attribution: 'signed', walletAddress: mine },
      { interaction: 'withdraw', amountRaw: String(friendPaid), attribution: 'signed', walletAddress: theirs },
      { interaction: 'withdraw', amountRaw: String(lastPaid), attribution: 'signed', walletAddress: mine },
    ])
    const redeemed = waitsOut ? ['redeem claimed'] : []
    const rows = await readRows(vault)
    expect(rows.lots).toEqual([])
    expect(rows.states.map((states) => states.toSorted())).toEqual([
      [...(waitsIn ? ['deposit claimed'] : []), ...redeemed, ...redeemed],
      redeemed,
    ])
    await rebuildChain({ db: world.earn.db, clock: systemClock }, { chainId: world.chainId })
    expect(await story.entries(vault)).toEqual(entries)
    expect(await readRows(vault)).toEqual(rows)
  })
})
