import { restartingYieldAbi, restartingYieldBytecode } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chainId, withSuffix } from '../chain/watchWorld.js'
import {
  capital,
  cheat,
  cheatOnce,
  D,
  donation,
  expectGuarded,
  few,
  openStagedWorld,
  other,
  payAll,
  type StagedWorld,
  show,
} from './stagedWorld.js'

/** The holder of a vault stages its share price for the block of a snapshot, and is paid by it: docs/threat-model.md. */

let staged: StagedWorld

beforeAll(async () => {
  staged = await openStagedWorld()
})
afterAll(() => staged?.close())

describe('a share price that is staged for the block of a snapshot', () => {
  it('pays the sole holder of a vault that begins again at one to one no more than his capital', async () => {
    const vault = await staged.deployVault(staged.world.token)
    const when = await cheatOnce(staged, vault)
    const gains = await payAll(staged, { vault, ...when, honest: capital })
    show('begins again at one to one', gains)
    expectGuarded(gains)
  })

  it.each(['asset', 'inner share'] as const)(
    'pays the sole holder of a vault of ERC-5115 over such a vault no more than his capital, who deposits in the %s',
    async (tokenIn) => {
      const inner = await staged.deployVault(staged.world.token)
      const outer = await staged.world.anvil.deploy({
        ...{ abi: restartingYieldAbi as Abi, bytecode: restartingYieldBytecode, args: [inner] },
      })
      await staged.world.list(outer, { kind: 'erc5115' })
      await staged.give(cheat, capital + donation + few, [outer, inner])
      const abi = restartingYieldAbi
      const depositIn = (token: Address, amount: bigint) => {
        const data = encodeFunctionData({ abi, functionName: 'deposit', args: [cheat.address, token, amount, 0n] })
        return staged.world.send(cheat, outer, withSuffix(data, cheat.address, outer, D))
      }
      await depositIn(staged.world.token, few)
      await staged.donate(inner, donation)
      const from = await staged.passInstant()
      await staged.call(cheat, outer, abi as Abi, 'redeem', [cheat.address, few, staged.world.token, 0n, false])
      if (tokenIn === 'asset') await depositIn(staged.world.token, capital)
      else {
        await staged.deposit(inner, capital)
        await staged.approve(cheat, inner, outer)
        await depositIn(inner, capital)
      }
      const since = await staged.timeNow()
      const to = await staged.passInstant()
      const gains = await payAll(staged, { vault: outer, from, to, since, honest: capital })
      show(`of ERC-5115 over it, deposits in the ${tokenIn}`, gains)
      expectGuarded(gains)
    },
  )

  it('pays the holder of a vault whose asset is the staged share, and is priced by it, no more than his capital', async () => {
    const inner = await staged.deployVault(staged.world.token)
    await staged.world.list(inner)
    const outer = await staged.deployVault(inner)
    await staged.world.list(outer)
    const { db } = staged.earn
    await db`update vaults set asset = ${inner.toLowerCase()} where address = ${outer.toLowerCase()}`
    await db`
      insert into tokens (chain_id, address, decimals, symbol, name, price_vault)
      values (${chainId}, ${inner.toLowerCase()}, 6, 'rTUSD', 'Restarting vault', ${inner.toLowerCase()})`
    await staged.give(cheat, capital + donation + few, [inner])
    await staged.approve(cheat, inner, outer)
    await staged.deposit(inner, few)
    await staged.deposit(outer, few, D)
    await staged.donate(inner, donation)
    const from = await staged.passInstant()
    // The price of the inner share counts from the next instant on, so it is held until then.
    await staged.passInstant()
    await staged.redeem(outer, few)
    await staged.redeem(inner, few)
    await staged.deposit(inner, capital)
    await staged.deposit(outer, capital, D)
    const since = await staged.timeNow()
    const to = await staged.passInstant()
    const gains = await payAll(staged, { vault: outer, from: since, to, since, honest: capital })
    show('outer vault, priced by the staged share', gains)
    expectGuarded(gains)
    expect(from).toBeLessThan(since)
  })
})

describe('the variants of it', () => {
  it('gain nothing where a tiny rest is kept, or all is redeemed in the block before the snapshot', async () => {
    const vault = await staged.deployVault(staged.world.token)
    await staged.world.list(vault)
    await staged.give(cheat, capital + donation + few, [vault])
    await staged.deposit(vault, few, D)
    await staged.donate(vault, donation)
    const from = await staged.passInstant()
    // One share holds the price: what is deposited now buys at it, and is worth what it cost.
    await staged.redeem(vault, few - 1n)
    await staged.deposit(vault, capital, D)
    const since = await staged.timeNow()
    const to = await staged.passInstant()
    const kept = await payAll(staged, { vault, from, to, since, honest: capital })
    show('a tiny rest kept', kept)
    for (const gain of kept.after) expect(gain).toBeLessThanOrEqual(1.01)
    await staged.redeem(vault, await staged.sharesOf(vault))
    const empty = await staged.passInstant()
    await staged.deposit(vault, capital, D)
    const again = await staged.timeNow()
    const end = await staged.passInstant()
    const redeemed = await payAll(staged, { vault, from: empty, to: end, since: again, honest: capital })
    show('redeemed in the block before the snapshot', redeemed)
    for (const gain of redeemed.after) expect(gain).toBeLessThanOrEqual(1.01)
  })

  it('gain at most the entry fee that the cheat pays to himself', async () => {
    const vault = await staged.deployVault(staged.world.token, 100n, other.address)
    await staged.world.list(vault)
    await staged.give(cheat, capital + donation + few * 2n, [vault])
    await staged.deposit(vault, few * 2n, D)
    await staged.donate(vault, donation)
    const from = await staged.passInstant()
    await staged.redeem(vault, await staged.sharesOf(vault))
    await staged.deposit(vault, capital, D)
    const since = await staged.timeNow()
    const to = await staged.passInstant()
    const gains = await payAll(staged, { vault, from, to, since, honest: (capital * 99n) / 100n })
    show('an entry fee of 1 % to the cheat', gains)
    for (const gain of gains.before) expect(gain).toBeGreaterThan(1_000)
    for (const gain of gains.after) expect(gain).toBeLessThanOrEqual(1.01 * 1.0102)
  })
})
