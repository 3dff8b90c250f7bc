import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { seeded } from '../../../test/catalogueWorld.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { readBlock } from '../../rpc/blocks.js'
import { recordSnapshots } from '../../snapshots/index.js'
import { readVaultStates } from '../../vaults/index.js'
import { recomputePoint } from './index.js'

let earn: Earn
let world: WatchWorld
const hours = 120
const random = seeded(7)

/** A chain of hours in which a vault earns and loses, with a snapshot of every block. */
beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  const { anvil, vault, token, chain } = world
  const [alice] = [account(1)]
  await world.fund(alice, 10n ** 12n)
  await world.deposit(alice, 10n ** 9n)
  const { timestamp } = await anvil.client.getBlock()
  await earn.db`update vaults set snapshot_interval_seconds = 3600`
  for (let hour = 1; hour <= hours; hour++) {
    await anvil.client.setNextBlockTimestamp({ timestamp: timestamp + BigInt(hour * 3_600) })
    if (random.chance(0.3)) await world.deposit(alice, BigInt(1 + random.integer(1_000_000)))
    else if (random.chance(0.5)) await mint(vault, token, BigInt(random.integer(200_000)))
    else await anvil.client.mine({ blocks: 1 })
    const number = Number(await anvil.client.getBlockNumber({ cacheTime: 0 }))
    const block = await readBlock(chain, number)
    const [state] = await readVaultStates(
      chain,
      [{ address: vault, receiptToken: vault, receiptDecimals: 6 }],
      block.hash,
    )
    if (!state?.figures) throw new Error('the vault does not answer')
    await recordSnapshots(earn.db, [{ chainId, vaultAddress: vault.toLowerCase(), block, figures: state.figures }])
    if (hour === hours) earn.clock.set(new Date(block.timestamp * 1000))
  }
  await earn.ctx.catalogue.refresh()
}, 120_000)
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

/** What a vault earns comes as a transfer of its asset. */
async function mint(to: `0x${string}`, token: `0x${string}`, amount: bigint) {
  const { client, done } = world.anvil
  const abi = [
    {
      type: 'function',
      name: 'mint',
      inputs: [{ type: 'address' }, { type: 'uint256' }],
      outputs: [],
      stateMutability: 'nonpayable',
    },
  ] as const
  await done(client.writeContract({ address: token, abi, functionName: 'mint', args: [to, amount] }))
}

it('prints the served digits of 200 random points, from our tables and from what the node answers at their blocks', async () => {
  const blocks = await earn.db<
    { at: Date }[]
  >`select block_timestamp as at from vault_snapshots order by block_timestamp`
  let counted = 0
  for (let turn = 0; turn < 200; turn++) {
    const what = random.pick(['apr', 'apy', 'tvl'] as const)
    const at = random.pick(blocks.slice(12)).at.toISOString()
    const input = { chainId, vaultAddress: world.vault, at, apyInterval: 3_600 * (1 + random.integer(12)) }
    const own = await recomputePoint(earn.ctx, what, input)
    const read = await recomputePoint(earn.ctx, what, input, world.chain)
    expect([own.equal, read.equal], JSON.stringify([own, read])).toEqual([true, true])
    expect(read.served).toEqual(own.served)
    expect(read.inputs).toEqual(own.inputs)
    if (own.recomputed !== 0) counted += 1
  }
  expect(counted).toBeGreaterThan(100)
})

it('says that a number differs where the tables do not hold what the node says', async () => {
  const [row] = await earn.db<{ at: Date; number: number }[]>`
    select block_timestamp as at, block_number as number from vault_snapshots order by block_timestamp desc limit 1`
  if (!row) throw new Error('there are snapshots')
  await earn.db`update vault_snapshots set price_numerator = price_numerator + 10 ^ 12 where block_number = ${row.number}`
  const input = { chainId, vaultAddress: world.vault, at: row.at.toISOString(), apyInterval: 3_600 }
  expect((await recomputePoint(earn.ctx, 'apr', input)).equal).toBe(true)
  expect((await recomputePoint(earn.ctx, 'apr', input, world.chain)).equal).toBe(false)
})
