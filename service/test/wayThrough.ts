import type { PrivateKeyAccount } from 'viem'
import { expect } from 'vitest'
import { runSnapshots } from '../src/snapshots/index.js'
import type { World, WorldVault } from './actionWorld.js'
import type { tellStories } from './asyncStories.js'
import type { Answer } from './harness.js'

/** What a test of a kind's whole way does at each step, and looks at after it. */
export function openWay(world: World, story: ReturnType<typeof tellStories>, user: PrivateKeyAccount) {
  const lotsOf = async (vault: WorldVault) => {
    await world.sync()
    return world.earn.db`
      select distributor_id as "distributorId", sum(shares)::text as shares from lots
      join vaults on vaults.id = lots.vault_id
      where vaults.address = ${vault.address.toLowerCase()} group by 1 having sum(shares) > 0 order by 1`
  }
  const seen = async (vault: WorldVault) => ({ entries: await story.entries(vault), lots: await lotsOf(vault) })
  /** Lets an act happen, another block come in the place of its own, and the act again: what is derived follows each time. */
  const doTwice = async (vault: WorldVault, act: () => Promise<unknown>) => {
    const before = await seen(vault)
    const fork = await world.anvil.client.snapshot()
    await act()
    await story.entries(vault)
    await world.anvil.client.revert({ id: fork })
    await world.anvil.client.increaseTime({ seconds: 1 })
    await world.anvil.client.mine({ blocks: 3 })
    expect(await seen(vault)).toEqual(before)
    await act()
    await world.sync()
  }
  return {
    lotsOf,
    doTwice,
    /** The same with a plan. */
    sendTwice: (vault: WorldVault, plan: Answer, as = user) => doTwice(vault, () => world.send(plan, as)),
    figuresOf: (vault: WorldVault) => readFigures(world, vault, user),
  }
}

/** What a distributor's metrics, the history and a portfolio say of the vault at the newest snapshot. */
async function readFigures(world: World, vault: WorldVault, user: PrivateKeyAccount) {
  await world.anvil.pass(1_000)
  await world.sync()
  await runSnapshots(world.earn.ctx)
  world.earn.clock.advance(5_000)
  world.earn.ctx.catalogue.answers.forget()
  const { distributorId } = world
  const { timestamp } = await world.anvil.client.getBlock()
  const at = (seconds: bigint) => new Date(Number(seconds) * 1_000).toISOString()
  const metrics = await world.earn.call('GetDistributorMetrics', {
    params: { distributorId },
    query: { opportunityIds: vault.opportunityId, startDate: at(timestamp - 3_600n), endDate: at(timestamp) },
  })
  const { body } = await world.earn.call('GetWalletPortfolio', { params: { address: user.address } })
  const [row] = await world.earn.db<{ assets: string; supply: string }[]>`
    select total_assets::text as assets, total_supply::text as supply from vault_snapshots s
    join vaults v on v.id = s.vault_id where v.address = ${vault.address.toLowerCase()}
    order by block_number desc limit 1`
  const isOwn = ({ opportunityId }: { opportunityId: string | null }) => opportunityId === vault.opportunityId
  return {
    tvl: metrics.body.timeseries?.at(-1)?.tvl,
    snapshot: row,
    earnings: body.portfolio.productsEarnings.find(isOwn),
    portfolio: body.portfolio,
  }
}
