import { multicallVaultAbi, multicallVaultBytecode, testTokenAbi, testTokenBytecode } from '@openearn/contracts'
import { type Abi, type Address, type Hex, pad, toEventSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { present } from '../../../contracts/test/present.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { rebuildChain } from '../../test/pipeline.js'
import { settleAmounts } from '../features/ledger/index.js'
import { inTransaction } from '../postgres/pool.js'
import { runSnapshots, snapshotObservations } from './index.js'

const alice = account(1)
const D = 'Y2Zi7KWy'
const slot = '360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
/** A proxy: 32 bytes alone are the address of its new code, everything else goes to its code. */
const proxyCode: Hex = `0x36602014604157365f5f375f5f365f7f${slot}545af43d5f5f3e603d573d5ffd5b3d5ff35b5f35807f${slot}557f${toEventSelector('Upgraded(address)').slice(2)}5f5fa200`
const proxy: Address = `0x${'9a'.repeat(20)}`

let earn: Earn
let world: WatchWorld
let codes: [Address, Address]

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  const { anvil, token } = world
  const args = ['Other', 'OTH', 18]
  const other = await anvil.deploy({ abi: testTokenAbi as Abi, bytecode: testTokenBytecode, args })
  const deploy = (asset: Address) =>
    anvil.deploy({ abi: multicallVaultAbi as Abi, bytecode: multicallVaultBytecode, args: [asset] })
  codes = [await deploy(token), await deploy(other)]
  await anvil.client.setCode({ address: proxy, bytecode: proxyCode })
  await upgrade(0)
  await world.list(proxy)
  await earn.db`update vaults set snapshot_interval_seconds = 60`
  await world.fund(alice, 1_000_000_000n, proxy)
  const call = { address: other, abi: testTokenAbi } as const
  await anvil.done(anvil.client.writeContract({ ...call, functionName: 'mint', args: [alice.address, 10n ** 12n] }))
  await anvil.done(
    anvil.client.writeContract({ account: alice, ...call, functionName: 'approve', args: [proxy, 2n ** 255n] }),
  )
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

const upgrade = (to: 0 | 1) => world.send(alice, proxy, pad(codes[to], { size: 32 }))
const deposit = () => world.deposit(alice, 3_000_000n, D, proxy)
/** An instant of the grid passes, and everything that runs on a timer runs. */
async function turn(): Promise<void> {
  await world.anvil.client.increaseTime({ seconds: 61 })
  await world.anvil.client.mine({ blocks: 2 })
  await world.sync()
  await runSnapshots({ ...earn.ctx, chains: new Map([[chainId, world.chain]]) })
  await settleAmounts(earn.db, chainId)
}
const listed = async () => {
  const query = { limit: 100, sortBy: 'date', sortOrder: 'asc' }
  const { body } = await earn.call('ListInteractions', { query })
  return body.data as { amountToken: string | null; tokenSymbol: string | null; amountRaw: string }[]
}
const amounts = async () => (await listed()).map(({ amountToken }) => amountToken)
const status = async () => {
  earn.clock.set(present())
  return (await earn.call('GetIndexingStatus', { query: { vaultAddress: proxy } })).body.vaults[0]
}
const countSnapshots = async () => {
  const [row] = await earn.db<{ count: number }[]>`
    select count(*) as count from vault_snapshots s join vaults v on v.id = s.vault_id where v.address = ${proxy}`
  return row?.count ?? 0
}

describe('a vault whose asset changes', () => {
  let upgraded: number

  it('has its amounts while the readings agree', async () => {
    await deposit()
    await turn()
    expect(await status()).toMatchObject({ state: 'live' })
    expect(await countSnapshots()).toBeGreaterThan(0)
    expect(await listed()).toMatchObject([{ amountToken: '3', tokenSymbol: 'USD', amountRaw: '3000000' }])
  })

  it('loses those since the last reading that agreed, is stalled with the reason, and its snapshots stop', async () => {
    await deposit()
    upgraded = Number(await world.anvil.client.getBlockNumber()) + 1
    await upgrade(1)
    await deposit()
    await world.sync()
    expect(await amounts()).toEqual(['3', '3', '3'])
    const before = await countSnapshots()
    await turn()
    // What was deposited before the code was replaced is known: the vault was read there too.
    expect(await amounts()).toEqual(['3', '3', null])
    expect((await listed())[2]).toMatchObject({ amountInUsd: null, tokenSymbol: null, amountRaw: '3000000' })
    expect(await status()).toMatchObject({ state: 'stalled', reason: expect.stringMatching(/^its asset is 0x/) })
    expect(await countSnapshots()).toBe(before)
  })

  it('goes on with raw amounts and lots, and its next entries have no amounts from the start', async () => {
    await deposit()
    await world.sync()
    expect(await amounts()).toEqual(['3', '3', null, null])
    const [lot] = await earn.db<{ shares: string }[]>`
      select l.shares::text as shares from lots l join vaults v on v.id = l.vault_id where v.address = ${proxy}`
    expect(BigInt(lot?.shares ?? 0)).toBeGreaterThan(6_000_000n)
  })

  it('goes on when readings agree again, and a rebuild gives the same', async () => {
    await upgrade(0)
    await deposit()
    await turn()
    expect(await amounts()).toEqual(['3', '3', null, null, '3'])
    expect(await status()).toMatchObject({ state: 'live' })
    const rows = () => earn.db`
      select id, trim_scale(amount) as amount, amount_usd, price_observation_id from interactions order by id`
    const live = await rows()
    await rebuildChain(earn.ctx, { chainId })
    expect(await rows()).toEqual(live)
  })

  it('has its amounts again when the blocks of readings that disagreed are orphaned', async () => {
    await inTransaction(earn.db, (tx) =>
      snapshotObservations.rewind(tx, { chainId, number: upgraded - 1, tip: upgraded }),
    )
    await settleAmounts(earn.db, chainId)
    expect(await amounts()).toEqual(['3', '3', '3', '3', '3'])
  })
})
