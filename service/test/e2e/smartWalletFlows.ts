import { createEarnClient } from '@openearn/sdk'
import type { Flow, PlanFlow, Word } from '@openearn/sdk/flows'
import { advance, beginDeposit, beginJoin, beginWithdraw } from '@openearn/sdk/flows'
import { numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openClient } from './client.js'
import { type App, insist, type Mood, openApp, openPage, type Place, type World } from './flowPage.js'
import { tell } from './flowsInPage.js'
import { openAccount4337, openAccount7702, openPayer, openSharedSafe, type SmartWallet } from './smartWallets.js'

const begin = { Deposit: beginDeposit, Withdraw: beginWithdraw, Join: beginJoin } as Record<
  string,
  (params: never) => Flow
>

/** A program of Node with a store: what is loaded is what was stored. */
function openProgram({ dev, trust }: World, { provider }: SmartWallet, now?: () => number): Place {
  const mood: Mood = { refuses: 0, loses: 0 }
  const request = async (call: { method: string }): Promise<unknown> => {
    const answer = await (provider.request as (call: object) => Promise<unknown>)(call)
    const isLost = /^eth_send|^wallet_send/.test(call.method) && mood.loses-- > 0
    if (isLost) throw Object.assign(new Error('connection closed'), { code: -32_603 })
    return answer
  }
  const earn = createEarnClient({ baseUrl: dev.baseUrl, apiKey: dev.keys.publishable, trust })
  const world = { earn, provider: { request: request as never }, url: 'https://app.example/earn', now }
  const kept: { flow: Flow | undefined } = { flow: undefined }
  return {
    mood,
    failures: [],
    begin: async (kind, params) => {
      kept.flow = begin[kind]!(params as never)
    },
    step: async (word?: Word) => {
      kept.flow = await advance(kept.flow!, world, word)
      return kept.flow
    },
    load: async () => {
      kept.flow = JSON.parse(JSON.stringify(kept.flow))
    },
    close: async () => undefined,
  }
}

/** Keys of owners who have no other account on the devnet. */
const keyOf = (seed: number) => numberToHex(0x5eed0000 + seed, { size: 32 })
const ownerOf = (seed: number) => privateKeyToAccount(keyOf(seed))

type Opening = (payer: ReturnType<typeof openPayer>, seed: number) => Promise<SmartWallet>
const kinds: readonly { name: string; requests: number; open: Opening }[] = [
  {
    name: 'a Safe whose second owner signs later',
    requests: 2,
    open: (payer, seed) => openSharedSafe(payer, [ownerOf(seed), ownerOf(seed + 1)], BigInt(seed)),
  },
  {
    name: 'an ERC-4337 account whose bundler mines later',
    requests: 2,
    open: (payer, seed) => openAccount4337(payer, ownerOf(seed)),
  },
  {
    name: 'an EIP-7702 account that takes batches',
    requests: 1,
    open: (payer, seed) => openAccount7702(payer, ownerOf(seed)),
  },
]

/** Flows of wallets that are no plain accounts, in a page and in a program of Node. */
export function testSmartWallets(find: () => World): void {
  describe.each([
    ['a page', 100],
    ['Node', 200],
  ] as const)('a flow in %s', (where, from) => {
    let app: App | undefined
    beforeAll(async () => {
      if (where === 'a page') app = await openApp(find())
    }, 60_000)
    afterAll(() => app?.close(), 60_000)

    it.each(kinds.map(({ name, ...kind }, index) => [name, { ...kind, seed: from + 10 * index }] as const))(
      'with %s deposits, deposits again although an answer is lost, and withdraws, each once, though reloaded at each step',
      async (_, { open, requests, seed }) => {
        const world = find()
        const { dev } = world
        const payer = openPayer(dev)
        const smart = await open(payer, seed)
        const place = app ? await openPage(app, smart) : openProgram(world, smart)
        const told = tell(dev, smart.address)
        const { tokenIn, amount } = told.deposit(4n)
        await payer.fund(tokenIn, smart.address, amount * 2n)
        const run = async () => {
          const { flow, statuses } = await insist(dev, place, { reloads: true, smart })
          return { flow: flow as PlanFlow, statuses, end: [flow.status, flow.problem, flow.trusts] }
        }
        await place.begin('Join', { wallet: smart.address, chainId: 31_337 })
        expect((await run()).flow.status).toBe('member')
        for (const [index, loses] of [0, 1].entries()) {
          const before = await told.readAssets()
          await place.begin('Deposit', told.deposit(4n))
          place.mood.loses = loses
          const { flow, statuses, end } = await run()
          expect(end).toEqual(['credited', undefined, 'file'])
          for (const status of ['ready', 'asking', 'unknown', 'mined'] as const) expect(statuses).toContain(status)
          // One transaction of each step, and no second word for what was under way.
          expect([smart.taken(), smart.waiting()]).toEqual([requests * (index + 1), 0])
          expect(Number((await told.readAssets()) - before) / Number(amount)).toBeCloseTo(1, 2)
          const judged = await openClient(dev).call('GET', `/v2/attribution/${flow.txHash}?chainId=31337`)
          expect([judged.distributorId, judged.interactions.length]).toEqual([dev.distributorIds[0], 1])
        }
        await place.begin('Withdraw', { ...told.who, amount: await told.readShares() })
        expect((await run()).end).toEqual(['credited', undefined, 'file'])
        expect([smart.taken(), await told.readShares(), place.failures]).toEqual([requests * 2 + 1, 0n, []])
        await place.close()
      },
      240_000,
    )
  })

  it('of a wallet that loses the code behind a call ends mined and not credited, and says why', async () => {
    const world = find()
    const { dev } = world
    const payer = openPayer(dev)
    const smart = await openAccount7702(payer, ownerOf(300), true)
    const time = { ahead: 0 }
    // The clock of the machine, which the flow compares with itself alone.
    const place = openProgram(world, smart, () => Date.parse('2026-11-28T00:00:00Z') + time.ahead)
    const { deposit, readAssets } = tell(dev, smart.address)
    const { tokenIn, amount } = deposit(3n)
    await payer.fund(tokenIn, smart.address, amount)
    await openClient(dev).join(keyOf(300))
    await place.begin('Deposit', deposit(3n))
    let flow = await place.step()
    for (let turn = 0; turn < 60 && flow.status !== 'mined'; turn++) {
      flow = await place.step(flow.needs)
      await smart.confirm()
    }
    expect([flow.status, Number(await readAssets()) > 0]).toEqual(['mined', true])
    for (let turn = 0; turn < 20; turn++) expect((await place.step()).status).toBe('mined')
    time.ahead = 121_000
    flow = (await insist(dev, place, { smart })).flow
    expect([flow.status, flow.problem?.text]).toEqual(['mined, not credited', 'the transaction carries no attribution'])
    expect(smart.taken()).toBe(1)
  }, 120_000)
}
