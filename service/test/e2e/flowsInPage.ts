import { type Address, erc4626Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { type Json, openClient } from './client.js'
import { type App, insist, openApp, openPage, type World } from './flowPage.js'
import type { Dev } from './process.js'
import { settleRequests } from './settleRequests.js'
import { openWallet } from './wallet.js'

/** A wallet that deposits into one vault, and what its shares are worth. */
export function tell(dev: Dev, owner: Address) {
  const vault = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
  const { chain } = openClient(dev)
  const contract = { address: vault.vaultAddress, abi: erc4626Abi } as const
  const readShares = () => chain.readContract({ ...contract, functionName: 'balanceOf', args: [owner] })
  const who = { opportunityId: vault.id, userAddress: owner, distributorId: dev.distributorIds[0]! }
  return {
    who,
    readShares,
    deposit: (whole: bigint) => ({
      ...{ ...who, tokenIn: vault.asset.address, amount: whole * 10n ** BigInt(vault.asset.decimals) },
    }),
    readAssets: async () =>
      chain.readContract({ ...contract, functionName: 'convertToAssets', args: [await readShares()] }),
  }
}

/**
 * Flows in a page as an app has them: the program in Chromium, a wallet that the page finds, the flow in `localStorage`, and a
 * user who reloads.
 */
export function testFlowsInPage(find: () => World): void {
  describe('a flow in a page', () => {
    let app: App
    beforeAll(async () => {
      app = await openApp(find())
    }, 60_000)
    afterAll(() => app?.close(), 60_000)

    /** A page with the wallet of an account of the devnet; `joins`: which is a member. */
    const open = async (at: number, joins = false) => {
      if (joins) await openClient(app.dev).join(app.dev.accounts[at]!.privateKey)
      const wallet = openWallet(app.dev, at)
      const page = await openPage(app, wallet)
      return { ...wallet, page, sent: () => wallet.asked.filter((method) => method === 'eth_sendTransaction') }
    }
    const reloading = { reloads: true }

    it('joins, deposits once and withdraws, though the page is loaded again at each step', async () => {
      const { page, address } = await open(5)
      const { deposit, who, readShares, readAssets } = tell(app.dev, address)
      await page.begin('Join', { wallet: address, chainId: 31_337 })
      expect((await insist(app.dev, page, reloading)).flow.status).toBe('member')
      const before = await readAssets()
      await page.begin('Deposit', deposit(3n))
      const { flow, statuses } = await insist(app.dev, page, reloading)
      expect([flow.status, flow.problem, flow.trusts]).toEqual(['credited', undefined, 'file'])
      for (const status of ['ready', 'asking', 'unknown', 'sent', 'mined'] as const) expect(statuses).toContain(status)
      expect(Number((await readAssets()) - before) / Number(deposit(3n).amount)).toBeCloseTo(1, 2)
      await page.begin('Withdraw', { ...who, amount: await readShares() })
      expect((await insist(app.dev, page, reloading)).flow).toMatchObject({ status: 'credited', trusts: 'file' })
      expect(page.failures).toEqual([])
      await page.close()
    }, 120_000)

    it('requests a deposit and claims it, requests another and cancels it, though reloaded at each step', async () => {
      const { page, address, sent } = await open(8, true)
      const { id: opportunityId, asset } = app.dev.opportunities.find(({ kind }) => kind === 'erc7540')!
      const who = { opportunityId, userAddress: address, distributorId: app.dev.distributorIds[0]! }
      const run = async (kind: 'Deposit' | 'Claim' | 'Cancel', more: object = {}) => {
        await page.begin(kind, { ...who, ...more })
        const { flow } = await insist(app.dev, page, reloading)
        return [flow.status, flow.problem, flow.trusts]
      }
      const ask = (whole: bigint) => ({ tokenIn: asset.address, amount: whole * 10n ** BigInt(asset.decimals) })
      expect(await run('Deposit', ask(5n))).toEqual(['requested', undefined, 'file'])
      await settleRequests(app.dev, address)
      expect(await run('Claim')).toEqual(['credited', undefined, 'file'])
      expect(await run('Deposit', ask(6n))).toEqual(['requested', undefined, 'file'])
      expect(await run('Cancel')).toEqual(['done', undefined, 'file'])
      // Two requests with an approval each, a claim and a cancellation.
      expect([sent().length, page.failures]).toEqual([6, []])
      await page.close()
    }, 240_000)

    it('deposits another token by a swap, swaps, and sells by an order, though reloaded at each step', async () => {
      const { page, address, asked } = await open(9, true)
      const vaults = app.dev.opportunities.filter(({ kind }) => kind === 'erc4626')
      const [vault] = vaults
      const other = vaults.find(({ asset }) => asset.symbol !== vault!.asset.symbol)!.asset
      const units = ({ decimals }: { decimals: number }, whole: bigint) => whole * 10n ** BigInt(decimals)
      const distributorId = app.dev.distributorIds[0]!
      const run = async (kind: 'Deposit' | 'Swap' | 'Order', params: object) => {
        await page.begin(kind, { ...params, distributorId })
        const { flow } = await insist(app.dev, page, reloading)
        return [flow.status, flow.problem, flow.trusts]
      }
      const zap = { opportunityId: vault!.id, userAddress: address, tokenIn: other.address, mode: 'swap' }
      expect(await run('Deposit', { ...zap, amount: units(other, 2n) })).toEqual(['credited', undefined, 'file'])
      const pair = { chainId: 31_337, tokenIn: vault!.asset.address, tokenOut: 'native' }
      const swap = { ...pair, user: address, slippageBps: 50, amountIn: units(vault!.asset, 1n) }
      expect(await run('Swap', swap)).toEqual(['done', undefined, 'file'])
      const order = { ...pair, userAddress: address, slippageBps: 100, amountIn: units(vault!.asset, 4n) }
      expect(await run('Order', order)).toEqual(['filled', undefined, 'file'])
      expect([asked.filter((method) => method.includes('sign')).length, page.failures]).toEqual([1, []])
      await page.close()
    }, 240_000)

    it('claims a reward once, though reloaded at each step', async () => {
      // One of the holders for whom a stream has run on the devnet.
      const { page, address, sent } = await open(app.dev.accounts.push(devAccount(17)) - 1)
      const client = openClient(app.dev)
      const { streams } = await client.call('GET', '/v2/streams/?limit=100', undefined, app.dev.keys.secret)
      const query = `wallet=${address}&streamIds=${streams.map(({ id }: Json) => id).join()}`
      const find = async () => {
        const { proofs } = await client.call('GET', `/v2/streams/merkle_proofs?${query}`)
        return proofs.find(({ error }: Json) => error === '')?.streamId as string | undefined
      }
      await page.begin('ClaimRewards', { streamId: await until('a reward', find), wallet: address })
      const { flow } = await insist(app.dev, page, reloading)
      expect([flow.status, flow.problem, flow.trusts, sent().length]).toEqual(['claimed', undefined, 'file', 1])
      expect(page.failures).toEqual([])
      await page.close()
    }, 120_000)

    it('is asked for again after the wallet said no, and by the user’s word alone', async () => {
      const { page, address, sent } = await open(6)
      await page.begin('Join', { wallet: address, chainId: 31_337 })
      expect((await insist(app.dev, page)).flow.status).toBe('member')
      await page.begin('Deposit', tell(app.dev, address).deposit(2n))
      page.mood.refuses = 1
      let flow = await page.step()
      for (let turn = 0; turn < 6 && flow.problem?.code !== 'REJECTED'; turn++) flow = await page.step()
      expect([flow.status, flow.needs]).toEqual(['ready', 'go'])
      for (let turn = 0; turn < 3; turn++) expect((await page.step()).status).toBe('ready')
      expect(sent()).toEqual([])
      expect((await insist(app.dev, page)).flow.status).toBe('credited')
      expect(sent()).toHaveLength(2)
      await page.close()
    }, 120_000)
  })
}
