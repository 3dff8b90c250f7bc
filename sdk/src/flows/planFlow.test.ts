import { numberToHex } from 'viem'
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
  return { model, time, world, held, step, reach, reload, requests, mood }
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

  it('whose code the wallet cut off says so after two minutes, once the service knows the transaction', async () => {
    const { model, time, step, reach } = open()
    model.state.strips = true
    const mined = await reach('mined')
    model.state.behind = true
    time.now = (mined.minedAt ?? 0) + 119_000
    for (let n = 0; n < 9; n++) expect((await step()).status).toBe('mined')
    time.now += 2_000
    for (let n = 0; n < 20; n++) {
      const flow = await step()
      expect([flow.status, flow.problem]).toEqual(['mined', undefined])
    }
    model.state.behind = false
    const end = await reach('mined, not credited', () => undefined)
    expect([end.problem?.code, end.problem?.text]).toEqual(['NOT_CREDITED', 'the transaction carries no attribution'])
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

  it('that refuses the second request says nothing about the first, which is looked for as before', async () => {
    for (const which of ['rejects', 'is on another chain', 'shows another account'] as const) {
      const { model, step, reach, mood, requests } = open()
      await step()
      await step()
      mood('sends and its answer is lost')
      await step()
      mood('sends')
      // Nothing of the first is to be seen yet.
      const [waiting] = model.pool.splice(0)
      expect((await step()).needs).toBe('again')
      await step('again')
      mood(which)
      const back = await step()
      expect([back.status, back.needs], which).toEqual(['unknown', 'again'])
      mood('sends')
      model.pool.push(waiting!)
      await reach('credited')
      expect(model.mined.filter(({ success }) => success)).toHaveLength(2)
      expect(requests().length).toBeLessThanOrEqual(3)
    }
  })

  it('on another chain is not believed about what became of a transaction', async () => {
    const { model, time, step, reach, mood } = open()
    await reach('sent')
    model.mine()
    mood('is on another chain')
    for (let n = 0; n < 20; n++) {
      time.now += 10_000
      const flow = await step()
      expect([flow.status, flow.problem?.code]).toEqual(['sent', 'WRONG_CHAIN'])
    }
    mood('sends')
    await reach('credited')
  })

  it('is asked for the number of a request that nobody saw, when an hour after its end another one is made', async () => {
    const { model, time, step, reach, mood, requests } = open()
    await step()
    await step()
    mood('sends and its answer is lost')
    await step()
    mood('sends')
    const [lost] = model.pool.splice(0)
    time.now += 4_300_000
    const forgotten = await reach('ready', () => undefined)
    expect([forgotten.needs, forgotten.problem?.code]).toEqual(['again', 'NEVER_SEEN'])
    expect((await step('go')).status).toBe('ready')
    // The transaction comes back from wherever it was, and is mined with the next one or in its place.
    model.pool.push(lost!)
    await step('again')
    await step()
    const again = await step()
    expect(again.status).toBe('asking')
    expect(again.asked?.place?.nonce).toBe('0x5')
    const fees = [again.asked?.place, (requests()[0]!.params as [{ maxFeePerGas: string }])[0]]
    const [now, before] = fees.map((each) => BigInt(String(each?.maxFeePerGas)))
    expect((now! * 8n) / before!).toBeGreaterThanOrEqual(9n)
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

describe('a flow that was stored', () => {
  it('is compared anew and shown: a word that was said about what was stored counts for nothing', async () => {
    for (const word of ['go', 'confirm', 'again'] as const) {
      const { step, reload, requests, reach } = open()
      const first = await step()
      reload()
      const shown = await step(word)
      expect([shown.status, shown.needs, shown.sentences]).toEqual(['ready', 'go', first.sentences])
      expect(requests()).toEqual([])
      expect(await step()).toBe(shown)
      await step('go')
      await reach('credited')
      expect(requests()).toHaveLength(2)
    }
  })

  it('waits for a word after each step that another program began', async () => {
    const { model, step, reload, requests, reach } = open()
    await reach('sent')
    reload()
    model.mine()
    const next = await reach('ready')
    expect([next.position, requests().length]).toEqual([1, 1])
    const shown = await step('go')
    expect([shown.status, shown.needs, requests().length]).toEqual(['ready', 'go', 1])
    await step('go')
    await reach('credited')
  })

  it('has read nothing of the plan that is built for it, whatever it says was shown before', async () => {
    const { step, requests, time, reload, held } = open()
    const first = await step()
    reload()
    time.now += 601_000
    const stale = await step('go')
    expect(stale.status).toBe('building')
    held.flow = JSON.parse(JSON.stringify({ ...stale, before: first.sentences }))
    const built = await step('go')
    expect([built.status, built.needs, requests()]).toEqual(['ready', 'go', []])
  })
})

describe('a least amount', () => {
  const router = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
  /** A protected deposit, whose least amount of shares is compared with the vault's own preview. */
  const openQuoted = () => {
    const preview: { shares: bigint | undefined } = { shares: undefined }
    const opened = open({ protect: router })
    const { model, world } = opened
    const request = (call: { method: string; params: [{ data: string }] }) =>
      call.method === 'eth_call' && call.params[0].data.startsWith('0xef8b30f7')
        ? preview.shares === undefined
          ? Promise.reject(new Error('reverted'))
          : Promise.resolve(numberToHex(preview.shares, { size: 32 }))
        : model.request(call)
    world.provider.request = request as never
    opened.held.flow = beginDeposit({ ...params, protect: true })
    return { ...opened, preview }
  }

  it('without an own quote waits for a word', async () => {
    const { step, reach, requests } = openQuoted()
    const flow = await step()
    expect([flow.status, flow.needs, flow.problem?.code]).toEqual(['ready', 'confirm', 'NO_QUOTE'])
    expect(await step('go')).toBe(flow)
    await step('confirm')
    await reach('sent')
    expect(requests()).toHaveLength(1)
  })

  it('whose quote goes away, or gets better, after it was shown waits for a word about that', async () => {
    const { step, preview, requests } = openQuoted()
    preview.shares = 1_000_000n
    expect((await step()).needs).toBe(undefined)
    await step()
    preview.shares = undefined
    const unquoted = await step()
    expect([unquoted.status, unquoted.needs, unquoted.problem?.code]).toEqual(['ready', 'confirm', 'NO_QUOTE'])
    await step('confirm')
    preview.shares = 1_500_000n
    const below = await step()
    expect([below.status, below.needs, below.problem?.code]).toEqual(['ready', 'confirm', 'BELOW_QUOTE'])
    expect(requests()).toEqual([])
    await step('confirm')
    expect((await step()).status).toBe('sent')
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
