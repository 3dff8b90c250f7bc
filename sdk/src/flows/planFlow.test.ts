import { describe, expect, it } from 'vitest'
import { asset, type ModelOptions, type Mood, openModel, opportunityId, wallet } from '../../test/flowModel.js'
import { createRandom } from '../../test/random.js'
import {
  advance,
  beginDeposit,
  type Flow,
  isLast,
  type PlanFlow,
  pauseOf,
  run,
  type Word,
  type World,
} from './index.js'

const params = {
  opportunityId,
  userAddress: wallet,
  tokenIn: asset,
  amount: 1_000_000n,
  distributorId: 'acme',
} as const

/** A deposit in a model, whose blocks and clock the test moves. */
function open(options: Partial<ModelOptions> = {}) {
  const model = openModel({ random: createRandom(1), ...options })
  const time = { now: 1_795_000_000_000 }
  const world: World = { earn: model.earn, provider: { request: model.request as never }, now: () => time.now }
  const held: { flow: Flow } = { flow: beginDeposit(params) }
  const step = async (word?: Word): Promise<PlanFlow> => {
    held.flow = await advance(held.flow, world, word)
    return held.flow as PlanFlow
  }
  /** Steps until a status is there. */
  const reach = async (status: PlanFlow['status'], act: () => void = model.mine): Promise<PlanFlow> => {
    for (let n = 0; n < 60 && held.flow.status !== status; n++) {
      act()
      await step()
    }
    expect(held.flow.status).toBe(status)
    return held.flow as PlanFlow
  }
  const reload = () => {
    held.flow = JSON.parse(JSON.stringify(held.flow))
  }
  const requests = (method = 'eth_sendTransaction') => model.asked.filter((each) => each.method === method)
  const mood = (next: Mood) => {
    model.state.mood = next
  }
  return { model, time, world, step, reach, reload, requests, mood }
}

describe('a deposit', () => {
  it('is approved, deposited and credited, and each state is JSON', async () => {
    const { model, step, reach, requests } = open()
    for (const status of ['ready', 'asking', 'sent'] as const) {
      const flow = await step()
      expect(flow.status).toBe(status)
      expect(JSON.parse(JSON.stringify(flow))).toEqual(JSON.parse(JSON.stringify({ ...flow })))
    }
    const end = await reach('credited')
    expect([end.trusts, end.sentences?.length, isLast(end)]).toEqual(['service', 2, true])
    expect(requests()).toHaveLength(2)
    expect(model.mined.map(({ success }) => success)).toEqual([true, true])
    expect(await step()).toBe(end)
  })

  it('goes in one batch where the wallet offers that, without a word about who pays', async () => {
    const { reach, requests } = open({ batches: true })
    await reach('credited')
    expect(requests()).toEqual([])
    const [{ params: sent } = { params: [] }] = requests('wallet_sendCalls')
    const [batch] = sent as [Record<string, unknown>]
    expect(Object.keys(batch).sort()).toEqual(['atomicRequired', 'calls', 'chainId', 'from', 'id', 'version'])
    expect([batch['atomicRequired'], (batch['calls'] as unknown[]).length]).toEqual([true, 2])
  })

  it('that is mined and not credited says why, after two minutes', async () => {
    const { model, time, step, reach } = open()
    model.state.credits = false
    const mined = await reach('mined')
    model.mine()
    model.mine()
    time.now = (mined.minedAt ?? 0) + 119_000
    expect((await step()).status).toBe('mined')
    time.now += 2_000
    const end = await step()
    expect([end.status, end.problem?.text]).toEqual(['mined, not credited', 'no event of the vault'])
  })

  it('that reverts says so', async () => {
    const { model, reach } = open()
    const act = () => {
      if (model.mined.length === 1) model.state.allowance = 0n
      model.mine()
    }
    expect((await reach('reverted', act)).problem?.code).toBe('REVERTED')
  })

  it('is built again once its plan is old, by a clock that may be an hour off', async () => {
    const { time, step, requests } = open()
    const first = await step()
    time.now -= 3_600_000
    expect((await step()).status).toBe('building')
    const second = await step()
    expect([second.status, second.needs, second.actionIds.length]).toEqual(['ready', undefined, 2])
    expect(second.plan?.actionId).not.toBe(first.plan?.actionId)
    expect(requests()).toEqual([])
  })

  it('shows what was shown before where the plan built again is another one, and waits for a word', async () => {
    const { model, time, step } = open()
    const first = await step()
    model.state.allowance = 1_000_000n
    time.now += 601_000
    await step()
    const second = await step()
    expect([second.needs, second.before, second.sentences?.length]).toEqual(['confirm', first.sentences, 1])
    expect(await step()).toBe(second)
    expect(await step('go')).toBe(second)
    expect((await step('confirm')).status).toBe('asking')
  })
})

describe('a wallet', () => {
  it.each([
    ['rejects', 'REJECTED'],
    ['is on another chain', 'WRONG_CHAIN'],
    ['shows another account', 'WRONG_ACCOUNT'],
  ] as const)('that %s is asked again only after a word', async (which, code) => {
    const { step, requests, mood, reach } = open()
    await step()
    await step()
    mood(which)
    const back = await step()
    expect([back.status, back.needs, back.problem?.code]).toEqual(['ready', 'go', code])
    const count = requests().length
    expect(await step()).toBe(back)
    expect(requests()).toHaveLength(count)
    mood('sends')
    await step('go')
    await reach('credited')
  })

  it('whose answer was lost is not asked again: the chain tells what it sent', async () => {
    const { step, reach, mood, requests } = open()
    await step()
    await step()
    mood('sends and its answer is lost')
    expect((await step()).status).toBe('unknown')
    mood('sends')
    await reach('credited')
    expect(requests()).toHaveLength(2)
  })

  it('is asked again after the second word by the very same request, so that a plain account mines one of both', async () => {
    const { step, mood, requests } = open()
    await step()
    await step()
    mood('fails before it sends')
    await step()
    const lost = await step()
    expect([lost.status, lost.needs]).toEqual(['unknown', 'again'])
    expect((await step('go')).status).toBe('unknown')
    mood('sends')
    expect((await step('again')).status).toBe('asking')
    expect((await step()).status).toBe('sent')
    const [first, second] = requests().map((each) => (each.params as [Record<string, string>])[0])
    expect(second).toEqual(first)
    expect([first?.['nonce'], first?.['maxFeePerGas']]).toEqual(['0x5', expect.stringMatching(/^0x/)])
  })

  it('that never answers is given up with the page, and asked again after a second word at the earliest', async () => {
    const { step, reload, mood, requests } = open()
    await step()
    await step()
    mood('never answers')
    void step()
    await new Promise<void>((resolve) => setImmediate(resolve))
    reload()
    mood('sends')
    for (let n = 0; n < 5; n++) expect((await step()).status).toBe('unknown')
    expect(requests().length).toBeLessThanOrEqual(1)
  })

  it('that speeds up a transaction is followed to the other hash; one that cancels it ends the flow', async () => {
    const fast = open()
    await fast.reach('mined', () => {
      fast.model.speedUp()
      fast.model.mine()
    })
    const ended = open()
    const end = await ended.reach('replaced', () => {
      if (ended.model.mined.length === 1) ended.model.cancel()
      ended.model.mine()
      ended.time.now += 30_000
    })
    expect([end.problem?.code, ended.model.mined.length]).toEqual(['REPLACED', 2])
  })
})

describe('run', () => {
  it('pauses 2 s growing to 15 s between looks, and stops at a word', async () => {
    expect([0, 3, 9, 40].map((looks) => Math.round(pauseOf({ looks }) / 100))).toEqual([20, 55, 150, 150])
    const { model, world } = open()
    model.state.mood = 'rejects'
    const states: string[] = []
    const { done } = run(beginDeposit(params), world, undefined, { onState: ({ status }) => states.push(status) })
    expect((await done).needs).toBe('go')
    expect(states).toEqual(['ready', 'asking', 'ready'])
  })

  it('runs a flow once at a time, writes each state before it goes on, and begins with the newest', async () => {
    const { model, world } = open()
    const kept = new Map<string, string>()
    const store = {
      get: (id: string) => (kept.has(id) ? JSON.parse(kept.get(id) as string) : undefined),
      put: (id: string, flow: Flow) => void kept.set(id, JSON.stringify(flow)),
    }
    const flow = beginDeposit(params)
    const pause = async () => model.mine()
    const [one, two] = [run(flow, world, undefined, { store, pause }), run(flow, world, undefined, { store, pause })]
    expect((await two.done).status).toBe('building')
    expect((await one.done).status).toBe('credited')
    const sent = () => model.asked.filter(({ method }) => method === 'eth_sendTransaction').length
    expect(sent()).toBe(2)
    // A tab that still holds the first state.
    expect((await run(flow, world, undefined, { store, pause }).done).status).toBe('credited')
    expect(sent()).toBe(2)
  })
})
