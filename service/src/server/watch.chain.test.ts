import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { until } from '../../../contracts/test/until.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { listTransactionAttributions } from '../features/ledger/index.js'
import { listBalances, listLots } from '../features/positions/index.js'
import { systemClock } from '../kernel/clock.js'
import { startWatching } from './watch.js'

let earn: Earn
let world: WatchWorld
const [alice, bob, carol] = [account(1), account(2), account(3)]
const D = 'Y2Zi7KWy'
const E = 'MpOgVDnc'

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  await earn.ctx.catalogue.refresh()
  for (const user of [alice, bob, carol]) await world.fund(user, 1_000_000_000n)
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

const lotsOf = async (user: { address: string }) => {
  const lots = await listLots(earn.db, [user.address.toLowerCase()])
  return Object.fromEntries(lots.map(({ distributorId, shares }) => [distributorId, BigInt(shares)]))
}
const balanceOf = async (user: { address: string }) => {
  const [balance] = await listBalances(earn.db, [user.address.toLowerCase()])
  return BigInt(balance?.shares ?? 0)
}
const entries = async (query = {}) =>
  (await earn.call('ListInteractions', { query: { limit: 100, ...query } })).body.data

describe('a chain that is watched', () => {
  it('turns a signed deposit into a verified ledger entry and a lot', async () => {
    const hash = await world.deposit(alice, 5_000_000n, D)
    await world.sync()
    const [entry] = await entries()
    expect(entry).toMatchObject({
      opportunityId: world.opportunityId,
      interaction: 'deposit',
      txHash: hash,
      chainId,
      walletAddress: alice.address,
      amountToken: '5',
      amountInUsd: '5',
      amountRaw: '5000000',
      tokenSymbol: 'USD',
      isSwap: false,
      distributorId: D,
      finality: 'confirmed',
      attribution: 'signed',
    })
    expect(await lotsOf(alice)).toEqual({ [D]: 5_000_000n })
    const deposits = await earn.call('GetDistributorDeposits', { params: { distributorId: D } })
    expect(deposits.body.deposits).toEqual([entry])
    const [watched] = await listTransactionAttributions(earn.db, hash)
    expect(watched).toMatchObject({ distributorId: D, schema: 'erc8021-2', signatureValid: true, retracted: false })
  })

  it('calls a copied suffix unsigned, and credits it all the same', async () => {
    const data = world.depositData(alice, 7_000_000n, D)
    const forBob = world.depositData(bob, 7_000_000n)
    const hash = await world.send(bob, world.vault, `${forBob}${data.slice(forBob.length)}`)
    await world.sync()
    const found = (await entries()).filter((entry: { txHash: string }) => entry.txHash === hash)
    expect(found).toMatchObject([{ attribution: 'unsigned', distributorId: D, walletAddress: bob.address }])
    expect((await listTransactionAttributions(earn.db, hash))[0]).toMatchObject({ signatureValid: false })
  })

  it('leaves a signed-only distributor unsigned deposits out of the ledger and its lots, but watches them', async () => {
    await earn.db`insert into distributor_settings values (${E}, true, 'epoch')`
    const signed = world.depositData(alice, 3_000_000n, E)
    const plain = world.depositData(carol, 3_000_000n)
    const hash = await world.send(carol, world.vault, `${plain}${signed.slice(plain.length)}`)
    await world.deposit(carol, 4_000_000n, E)
    await world.sync()
    expect(await lotsOf(carol)).toEqual({ [E]: 4_000_000n })
    expect(await balanceOf(carol)).toBe(7_000_000n)
    expect((await entries({ distributorId: E })).map((entry: { amountRaw: string }) => entry.amountRaw)).toEqual([
      '4000000',
    ])
    expect((await listTransactionAttributions(earn.db, hash))[0]).toMatchObject({ distributorId: E })
  })

  it('reduces lots in proportion on a transfer and on a withdrawal, whatever code it carries', async () => {
    await world.transfer(carol, bob.address, 700_000n)
    await world.sync()
    expect(await lotsOf(carol)).toEqual({ [E]: 3_600_000n })
    expect(await balanceOf(carol)).toBe(6_300_000n)
    expect(await balanceOf(bob)).toBe(7_700_000n)
    expect(await lotsOf(bob)).toEqual({ [D]: 7_000_000n })
    await world.redeem(carol, 1_600_000n, E)
    await world.sync()
    expect(await lotsOf(carol)).toEqual({ [E]: 2_685_714n })
    expect(await balanceOf(carol)).toBe(4_700_000n)
    expect(await entries({ interactionType: 'withdraw' })).toMatchObject([{ distributorId: E, amountRaw: '1600000' }])
  })

  it('takes back what a reorganisation removes, and keeps a record of it', async () => {
    const before = { alice: await lotsOf(alice), bob: await lotsOf(bob), total: (await entries()).length }
    const hash = await world.deposit(alice, 9_000_000n, D)
    await world.transfer(bob, alice.address, 1_000_000n)
    await world.sync()
    expect((await entries()).length).toBe(before.total + 1)
    await world.anvil.client.request({ method: 'anvil_reorg', params: [2, []] } as never)
    await world.sync()
    expect(await lotsOf(alice)).toEqual(before.alice)
    expect(await lotsOf(bob)).toEqual(before.bob)
    expect((await entries()).length).toBe(before.total)
    expect(await listTransactionAttributions(earn.db, hash)).toMatchObject([{ retracted: true }])
    const [record] = await earn.db`select retracted_interactions as count from chain_reorgs`
    expect(record).toMatchObject({ count: 1 })
    expect((await earn.db`select from retractions where transaction_hash = ${hash}`).length).toBe(1)
  })

  it('reads the past of a vault added at runtime, and only that', async () => {
    const later = await world.deployVault()
    await world.fund(alice, 50_000_000n, later)
    await world.deposit(alice, 11_000_000n, D, later)
    await world.sync()
    await world.list(later)
    await world.sync()
    const entry = (await entries()).find((each: { amountRaw: string }) => each.amountRaw === '11000000')
    expect(entry).toMatchObject({ distributorId: D, attribution: 'signed' })
    expect((await entries()).length).toBe(new Set((await entries()).map((each: { id: string }) => each.id)).size)
  })

  it('derives again when a distributor is registered with an earlier date', async () => {
    const hash = await world.deposit(bob, 2_000_000n, 'LateDist')
    await world.sync()
    expect((await entries()).some((entry: { txHash: string }) => entry.txHash === hash)).toBe(false)
    await world.addDistributor('LateDist')
    await world.sync()
    expect((await entries({ distributorId: 'LateDist' })).map((entry: { txHash: string }) => entry.txHash)).toEqual([
      hash,
    ])
    expect(await lotsOf(bob)).toEqual({ [D]: 7_000_000n, LateDist: 2_000_000n })
  })

  it('keeps balances equal to balanceOf, and lots within them', async () => {
    const rows = await earn.db<{ wallet: `0x${string}`; address: `0x${string}`; shares: string; lots: string }[]>`
      select hex_text(b.wallet) as wallet, v.address, b.shares, coalesce((select sum(l.shares) from lots l
        where l.vault_id = b.vault_id and l.wallet = b.wallet), 0) as lots
      from balances b join vaults v on v.id = b.vault_id`
    expect(rows.length).toBeGreaterThan(3)
    for (const { wallet, address, shares, lots } of rows) {
      const abi = [
        {
          type: 'function',
          name: 'balanceOf',
          stateMutability: 'view',
          inputs: [{ type: 'address' }],
          outputs: [{ type: 'uint256' }],
        },
      ] as const
      const onChain = await world.anvil.client.readContract({ address, abi, functionName: 'balanceOf', args: [wallet] })
      expect(BigInt(shares)).toBe(onChain)
      expect(BigInt(lots)).toBeLessThanOrEqual(onChain)
    }
  })
})

describe('a chain that is followed by the service', () => {
  it('looks at once when a node announces a head over WebSocket, however slow it polls', async () => {
    const headUrls = [world.anvil.url.replace('http', 'ws')]
    const chain = { ...world.chain, pollIntervalMs: 3_600_000, headUrls }
    const watching = startWatching({ ...earn.ctx, clock: systemClock, chains: new Map([[chainId, chain]]) })
    try {
      // The first look may find one, the opened socket another: the third was announced.
      for (const amount of [1_234n, 1_235n, 1_236n]) {
        const hash = await world.deposit(alice, amount, D)
        await until('the entry', async () =>
          (await entries()).some(({ txHash }: { txHash: string }) => txHash === hash),
        )
      }
    } finally {
      await watching.stop()
    }
  }, 60_000)
})
