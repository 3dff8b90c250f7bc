import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  createDepositInteraction,
  createEarnClient,
  type EarnError,
  getChains,
  getWalletPortfolio,
  listOpportunities,
} from '@openearn/sdk'
import { describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { openClient } from './client.js'
import type { Dev } from './process.js'

const examples = fileURLToPath(new URL('../../../examples', import.meta.url))

/** The programs of `examples/` that a user copies, run against a devnet. */
export function testExamples(find: () => { dev: Dev; dataDir: string }): void {
  describe('examples', () => {
    it('script/deposit.mjs joins, deposits and is credited; without its settings it says which', async () => {
      const { dev, dataDir } = find()
      const run = (words: string[], env: Record<string, string>) =>
        promisify(execFile)(process.execPath, [join(examples, 'script/deposit.mjs'), ...words], {
          env: { PATH: process.env['PATH'], ...env },
        })
      await expect(run([], {})).rejects.toThrow('set EARN_URL')
      const env = {
        ...{ EARN_URL: dev.baseUrl, EARN_KEY: dev.keys.publishable, RPC_URL: dev.rpcUrl },
        ...{ PRIVATE_KEY: dev.accounts[7]!.privateKey, DISTRIBUTOR: dev.distributorIds[0]! },
      }
      const { stdout } = await run(['USDC', '5', join(dataDir, 'trust.json')], env)
      const told = JSON.parse(stdout)
      expect(told).toMatchObject({ trusts: 'file', txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
      const judged = await openClient(dev).call('GET', `/v2/attribution/${told.txHash}?chainId=31337`)
      expect([judged.distributorId, judged.interactions.length]).toEqual([dev.distributorIds[0], 1])
    }, 120_000)

    it('backend/server.mjs keeps the key, gives each user a budget and asks for the catalogue once', async () => {
      const { dev } = find()
      const child = spawn(process.execPath, [join(examples, 'backend/server.mjs')], {
        env: { PATH: process.env['PATH'], EARN_URL: dev.baseUrl, EARN_KEY: dev.keys.secret, PORT: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let said = ''
      child.stdout.on('data', (part) => {
        said += String(part)
      })
      try {
        const url = await until('the backend to listen', () => /http:\S+/.exec(said)?.[0])
        const as = (user: string) =>
          createEarnClient({ baseUrl: `${url}/earn`, headers: { 'x-user': user }, retries: 0 })
        let remaining = 0
        const direct = createEarnClient({
          ...{ baseUrl: dev.baseUrl, apiKey: dev.keys.secret },
          onResponse: (info) => {
            remaining = info.remaining ?? 0
          },
        })
        await getChains(direct)
        const before = remaining
        const lists = await Promise.all(Array.from({ length: 20 }, (_, at) => listOpportunities(as(`user ${at}`))))
        expect(new Set(lists.map((list) => JSON.stringify(list))).size).toBe(1)
        await getChains(direct)
        // One call of the service for twenty users, and the one that asks.
        expect(before - remaining).toBe(2)
        const address = dev.accounts[1]!.address
        const statusOf = (call: Promise<unknown>) =>
          call.then(
            () => 200,
            (error: EarnError) => error.code,
          )
        const statuses = []
        for (let call = 0; call < 7; call++)
          statuses.push(await statusOf(getWalletPortfolio(as('greedy'), { address })))
        expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429])
        const vault = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
        const deposit = {
          ...{ opportunityId: vault.id, userAddress: dev.accounts[7]!.address, tokenIn: vault.asset.address },
          ...{ amount: 1_000_000n, distributorId: dev.distributorIds[0]! },
        }
        expect((await createDepositInteraction(as('modest'), deposit)).transactions.length).toBeGreaterThan(0)
        for (const path of ['/earn/v2/metrics/distributor/x', '/earn/v2/streams/', '/v2/%2e%2e/x']) {
          const answer = await fetch(url + path)
          expect([path, answer.status]).toEqual([path, 404])
        }
        const answer = await fetch(`${url}/earn/v2/chains/`)
        expect(`${JSON.stringify([...answer.headers])}${await answer.text()}`).not.toContain('sk_')
      } finally {
        child.kill('SIGTERM')
      }
    }, 60_000)
  })
}
