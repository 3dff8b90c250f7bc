import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import {
  ann,
  asset,
  bob,
  call,
  cat,
  chainId,
  deposited,
  openHandChain,
  router,
  say,
  treasury,
  vault,
  zero,
} from '../../../test/handChain.js'
import { seed } from '../../../test/seed.js'
import { createRandom } from '../../../test/simulation/random.js'
import { recordSnapshots } from '../../snapshots/index.js'
import { inPlace } from '../../sync/projection.js'
import { writeDerived } from '../../sync/storeDerived.js'
import { deriveFlows } from './flows.js'
import { sumFlows } from './storeEarnings.js'
import { flowsTable } from './storeFlows.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
  const { db } = test
  await db`insert into chains (chain_id, name, slug) values (${chainId}, 'C', 'c')`
  await db`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
    values (${chainId}, ${vault}, 'erc4626', ${asset}, 6, ${vault}, 6)`
})
afterAll(() => test?.close())

type Logs = Parameters<ReturnType<typeof openHandChain>['mine']>[0]['logs']

/** A vault that keeps its own books, and tells of what happens as vaults do. */
function openBooks() {
  const shares = new Map<string, bigint>()
  const books = { assets: 0n, supply: 0n, paidIn: 0n, paidOut: 0n, fees: 0n }
  const held = (wallet: string) => shares.get(wallet) ?? 0n
  const add = (wallet: string, amount: bigint) => shares.set(wallet, held(wallet) + amount)
  const toAssets = (amount: bigint) => (amount * (books.assets + 1n)) / (books.supply + 1n)
  const mint = (wallet: string, amount: bigint) => {
    add(wallet, amount)
    books.supply += amount
  }
  return {
    books,
    held,
    toAssets,
    deposit: (wallet: string, assets: bigint, through?: string): Logs => {
      const minted = (assets * (books.supply + 1n)) / (books.assets + 1n)
      mint(wallet, minted)
      books.assets += assets
      books.paidIn += assets
      const owner = through ?? wallet
      const told = [say.move(zero, owner, minted), say.deposit(router, owner, assets, minted)]
      return through === undefined ? told : [...told, say.move(through, wallet, minted)]
    },
    /** Some of what leaves stays for those who stay. */
    withdraw: (wallet: string, amount: bigint): Logs => {
      const assets = (toAssets(amount) * 995n) / 1000n
      mint(wallet, -amount)
      books.assets -= assets
      books.paidOut += assets
      return [say.move(wallet, zero, amount), say.withdraw(wallet, wallet, assets, amount)]
    },
    move: (from: string, to: string, amount: bigint): Logs => {
      add(from, -amount)
      add(to, amount)
      return [say.move(from, to, amount)]
    },
    /** A gain, of which a tenth is the treasury's, in shares; or a loss. */
    accrue: (change: bigint): Logs => {
      books.assets += change
      if (change <= 0n) return []
      const minted = ((change / 10n) * books.supply) / (books.assets - change / 10n)
      mint(treasury, minted)
      books.fees += toAssets(minted)
      return [say.move(zero, treasury, minted)]
    },
  }
}

it.each([1, 2, 3])(
  'all holders of a vault together have earned its yield less its fees, to one unit a flow (draw %i)',
  async (draw) => {
    const { db } = test
    await db`truncate flows, vault_snapshots`
    const random = createRandom(seed + draw)
    const [chain, of] = [openHandChain(), openBooks()]
    const [{ id: vaultId = 0 } = {}] = await db<{ id: number }[]>`select id from vaults where address = ${vault}`
    const vaults = new Map([[1, { isExcluded: (wallet: string) => wallet === zero || wallet === vault }]])
    const holders = [ann, bob, cat, treasury]
    let [number, flows] = [0, 0]
    const mine = async (logs: Logs, isObserved: boolean) => {
      number += 1
      const rows = chain.mine({ from: ann, to: router, input: call.zap(0n), logs })
      const own = deriveFlows({ number, timestamp: number }, rows, vaults).map((flow) => ({ ...flow, vaultId }))
      flows += own.length
      await writeDerived(db, [{ table: flowsTable }], own, { chainId, place: inPlace, isLive: true })
      if (!isObserved) return
      const figures = {
        ...{ totalAssets: of.books.assets, totalSupply: of.books.supply },
        ...{ priceNumerator: of.toAssets(10n ** 18n), priceExponent: 18 },
      }
      const block = { number, hash: `0x${number.toString(16).padStart(64, '0')}`, timestamp: number }
      await recordSnapshots(db, [{ chainId, vaultAddress: vault, block, figures }])
    }
    await mine(of.deposit(ann, 1_000_000_000n), true)
    for (let step = 0; step < 120; step++) {
      const [wallet, other] = [random.pick(holders), random.pick(holders)]
      const part = (of.held(wallet) * BigInt(random.int(1, 99))) / 100n
      const assets = BigInt(random.int(1, 1_000_000)) * BigInt(random.int(1, 1_000))
      const choice = random.int(0, 4)
      if (choice === 0)
        await mine(of.deposit(wallet, assets, random.chance(0.5) ? router : undefined), random.chance(0.5))
      else if (choice === 1 && part > 0n) await mine(of.withdraw(wallet, part), random.chance(0.5))
      else if (choice === 2 && part > 0n && wallet !== other)
        await mine(of.move(wallet, other, part), random.chance(0.5))
      // A fee is worth what its shares were when they were made.
      else await mine(of.accrue((of.books.assets * BigInt(random.int(-20, 40))) / 1_000n), true)
    }
    await mine(deposited(ann, ann, 0n), true)
    let earned = 0n
    for (const wallet of [...holders, router])
      for (const { shares, deposited: paid, withdrawn, priceNumerator } of await sumFlows(db, wallet))
        earned +=
          (BigInt(shares) * BigInt(priceNumerator ?? 0)) / 10n ** 18n + BigInt(withdrawn ?? 0) - BigInt(paid ?? 0)
    const { assets, paidIn, paidOut, fees } = of.books
    const off = earned - (assets + paidOut - paidIn - fees)
    expect(off <= BigInt(flows) && off >= -BigInt(flows), `${earned} earned by ${flows} flows, ${off} off`).toBe(true)
    expect(fees).toBeGreaterThan(1_000_000n)
    for (const wallet of holders) {
      const [row] = await sumFlows(db, wallet)
      expect(BigInt(row?.shares ?? 0)).toBe(of.held(wallet))
    }
  },
)
