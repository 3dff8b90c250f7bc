import type { Flow, PlanFlow, Word } from '@openearn/sdk/flows'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { asset, type Mood, openModel, opportunityId, wallet } from '../../sdk/test/flowModel.js'
import { createRandom } from '../../sdk/test/random.js'
import { createMemoryStore, createPageStore, type FlowStore, type Kept } from './flowStore.js'
import { createSlot, type Engine, type SlotPlace, type SlotState } from './slot.js'

const params = {
  opportunityId,
  userAddress: wallet,
  tokenIn: asset,
  amount: 1_000_000n,
  distributorId: 'acme',
} as const
const deposit = (engine: Engine) => engine.beginDeposit(params)
const name = 'deposit'

/** A page with one slot, in a model of chain, wallet and service; the pauses pass when the test says so. */
function openPage({ model = openModel({ random: createRandom(1) }), store = createMemoryStore() } = {}) {
  const time = { now: 1_795_000_000_000 }
  const told = { done: 0 }
  const place: SlotPlace = {
    world: { earn: model.earn, provider: { request: model.request as never }, now: () => time.now },
    getStore: () => store,
    onDone: () => {
      told.done++
    },
  }
  const slot = createSlot(name, 'deposit', place)
  const states: SlotState[] = []
  const leave = slot.subscribe(() => states.push(slot.getState()))
  const look = async () => {
    model.mine()
    await settle()
    await vi.advanceTimersByTimeAsync(20_000)
    await settle()
  }
  /** Looks until the flow is in a status, or waits for a word. */
  const reach = async (wanted: string): Promise<SlotState> => {
    for (let turn = 0; turn < 60; turn++) {
      const { flow, needs } = slot.getState()
      if (flow?.status === wanted || needs === wanted) return slot.getState()
      await look()
    }
    throw new Error(`no ${wanted}: ${states.map(({ flow }) => flow?.status).join(' ')}`)
  }
  const requests = () => model.asked.filter(({ method }) => method === 'eth_sendTransaction').length
  const mood = (next: Mood) => {
    model.state.mood = next
  }
  return { model, store, slot, states, told, leave, look, reach, requests, mood }
}

/** A store that counts what it keeps, and may be full. */
function countingStore(): FlowStore & { puts: Flow[]; isFull: boolean } {
  const store = createMemoryStore()
  const counting = {
    ...store,
    puts: [] as Flow[],
    isFull: false,
    put: (slot: string, flow: Flow) => {
      if (counting.isFull) throw new Error('the store is full')
      counting.puts.push(flow)
      return store.put(slot, flow)
    },
  }
  return counting
}

/** What is ready to go on goes on, a program that is loaded among it; no time passes. */
async function settle(): Promise<void> {
  for (let moment = 0; moment < 20; moment++) await new Promise((resolve) => setImmediate(resolve))
}

beforeAll(async () => {
  await Promise.all([import('@openearn/sdk/flows'), import('@openearn/sdk/verify')])
})
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a slot', () => {
  it('runs a flow to its end, and tells each state that was kept once, in order', async () => {
    const store = countingStore()
    const page = openPage({ store })
    expect(page.slot.begin(deposit)).toBe(true)
    const { flow, error } = await page.reach('credited')
    expect([(flow as PlanFlow).txHash !== undefined, error]).toEqual([true, undefined])
    await settle()
    expect(page.states.map((state) => state.flow)).toEqual(store.puts)
    expect(new Set(page.states).size).toBe(page.states.length)
    expect(page.requests()).toBe(2)
    expect(page.told.done).toBe(2)
  })

  it('begins one flow, though it is begun twice, and another one after the end', async () => {
    const page = openPage()
    expect([page.slot.begin(deposit), page.slot.begin(deposit)]).toEqual([true, false])
    const first = (await page.reach('credited')).flow
    expect(page.requests()).toBe(2)
    expect(page.slot.begin(deposit)).toBe(true)
    expect((await page.reach('credited')).flow?.id).not.toBe(first?.id)
  })

  it('asks the wallet once for a word that is said twice', async () => {
    const page = openPage()
    page.mood('rejects')
    page.slot.begin(deposit)
    await page.reach('go')
    expect([page.requests(), page.slot.getState().flow?.problem?.code]).toEqual([1, 'REJECTED'])
    page.slot.say('go')
    page.slot.say('go')
    await page.look()
    await page.reach('go')
    for (let turn = 0; turn < 3; turn++) await page.look()
    expect(page.requests()).toBe(2)
    page.mood('sends')
    page.slot.say('go')
    await page.reach('credited')
  })

  it('hears no word that it did not ask for', async () => {
    const page = openPage()
    page.mood('rejects')
    page.slot.begin(deposit)
    await page.reach('go')
    for (const word of ['confirm', 'again'] satisfies Word[]) page.slot.say(word)
    await page.look()
    expect(page.requests()).toBe(1)
    page.slot.say('go')
    await page.look()
    expect(page.requests()).toBe(2)
  })

  it('hears a word that is said in the moment in which its state is told', async () => {
    const page = openPage()
    page.mood('rejects')
    const leave = page.slot.subscribe(() => {
      const { flow, needs } = page.slot.getState()
      if (needs !== 'go' || flow?.problem?.code !== 'REJECTED') return
      page.mood('sends')
      page.slot.say('go')
    })
    page.slot.begin(deposit)
    await page.reach('credited')
    leave()
    expect(page.requests()).toBe(3)
  })

  it('hears `again` at once, and not at the end of a pause', async () => {
    const page = openPage()
    page.mood('fails before it sends')
    page.slot.begin(deposit)
    await page.reach('again')
    page.mood('sends')
    expect(page.requests()).toBe(1)
    page.slot.say('again')
    // No time passes.
    await settle()
    expect(page.requests()).toBe(2)
    await page.reach('credited')
    expect(page.model.mined.map(({ success }) => success)).toEqual([true, true])
  })

  it('forgets a flow, and begins another one', async () => {
    const page = openPage()
    page.mood('rejects')
    page.slot.begin(deposit)
    await page.reach('go')
    page.slot.forget()
    await settle()
    expect([page.slot.getState().flow, await page.store.list(name)]).toEqual([undefined, []])
    page.mood('sends')
    expect(page.slot.begin(deposit)).toBe(true)
    await page.reach('credited')
  })

  it('asks for nothing while the store is full, says why, and goes on by a word when it is not', async () => {
    const store = countingStore()
    const page = openPage({ store })
    store.isFull = true
    page.slot.begin(deposit)
    await page.look()
    expect(page.requests()).toBe(0)
    expect(page.slot.getState()).toMatchObject({ needs: 'go', error: { message: 'the store is full' } })
    store.isFull = false
    page.slot.say('go')
    expect((await page.reach('credited')).error).toBeUndefined()
  })
})

describe('a slot with review', () => {
  it('stops before each request of the wallet, with the sentences about it, until the word is said', async () => {
    const page = openPage()
    page.slot.setReview(true)
    page.slot.begin(deposit)
    for (const count of [1, 2]) {
      const { flow } = await page.reach('go')
      expect([flow?.status, flow?.sentences?.length]).toEqual(['ready', 2])
      for (let turn = 0; turn < 3; turn++) await page.look()
      expect(page.requests()).toBe(count - 1)
      page.slot.say('go')
      await page.look()
      expect(page.requests()).toBe(count)
    }
    await page.reach('credited')
  })
})

describe('a slot of a page that was loaded again', () => {
  it.each(['building', 'ready', 'asking', 'sent', 'mined'])(
    'goes on from `%s`, and nothing is sent twice',
    async (status) => {
      const first = openPage()
      first.slot.begin(deposit)
      for (let turn = 0; turn < 40 && !first.states.some(({ flow }) => flow?.status === status); turn++)
        await first.look()
      first.slot.close()
      first.leave()
      await first.look()
      const second = openPage(first)
      for (let turn = 0; turn < 40 && second.slot.getState().flow?.status !== 'credited'; turn++) {
        await second.look()
        const { needs } = second.slot.getState()
        if (needs === 'go' || needs === 'confirm') second.slot.say(needs)
      }
      expect(second.slot.getState().flow?.status).toBe('credited')
      expect(second.model.mined.map(({ success }) => success)).toEqual([true, true])
    },
  )

  it('shows nothing of what was kept before it was compared, and asks for nothing without a word', async () => {
    const first = openPage()
    first.slot.setReview(true)
    first.slot.begin(deposit)
    await first.reach('go')
    first.slot.close()
    const store = createMemoryStore()
    const [{ flow: kept } = { flow: undefined }] = (await first.store.list(name)) as readonly { flow: PlanFlow }[]
    await store.put(name, { ...kept!, sentences: ['Give everything to the friend.'] })
    const second = openPage({ model: first.model, store })
    const { flow } = await second.reach('go')
    expect(flow?.sentences).toEqual(kept?.sentences)
    for (const state of second.states) expect(state.flow?.sentences).not.toContain('Give everything to the friend.')
    expect(second.requests()).toBe(0)
  })

  it.each([
    ['a text', 'deposit'],
    ['nothing', null],
    ['another kind', { kind: 'join', id: 'x', status: 'ready', version: 1 }],
    ['a flow of another version', { kind: 'deposit', id: 'x', status: 'ready', version: 2 }],
    ['a flow without a wallet', { kind: 'deposit', id: 'x', status: 'ready', version: 1, chainId: 1 }],
  ])('shows nothing where the store holds %s, and begins as ever', async (_, kept) => {
    const store = createMemoryStore()
    const list = () => [{ at: 0, flow: kept }, ...(store.list(name) as Kept[])]
    const page = openPage({ store: { ...store, list } })
    await page.look()
    expect(page.slot.getState()).toEqual({ flow: undefined, needs: undefined, error: undefined })
    page.slot.begin(deposit)
    await page.reach('credited')
  })

  it('asks for no word about what was kept where its transaction was mined meanwhile: what comes next is compared first', async () => {
    const first = openPage()
    first.slot.setReview(true)
    first.slot.begin(deposit)
    await first.reach('go')
    first.slot.say('go')
    await first.reach('sent')
    first.slot.close()
    const { flow } = first.slot.getState()
    await first.store.put(name, { ...flow!, sentences: ['Nothing happens.'], before: undefined } as Flow)
    first.model.mine()
    const second = openPage({ model: first.model, store: first.store })
    second.slot.setReview(true)
    const { flow: shown } = await second.reach('go')
    expect([shown?.status, (shown as PlanFlow).position, shown?.sentences?.length]).toEqual(['ready', 1, 2])
    expect(shown?.sentences).not.toContain('Nothing happens.')
    second.slot.say('go')
    await second.reach('credited')
    expect(second.requests()).toBe(2)
  })

  it('shows no flow that came to its end, and keeps it for a day', async () => {
    const first = openPage()
    first.slot.begin(deposit)
    await first.reach('credited')
    const second = openPage(first)
    await second.look()
    const [kept] = (await first.store.list(name)) as readonly { at: number; flow: Flow }[]
    expect([second.states.length, kept?.flow.status]).toEqual([0, 'credited'])
    const removed: string[] = []
    const store = {
      ...first.store,
      list: () => [{ ...kept!, at: kept!.at - 86_400_001 }],
      remove: (_: string, id: string) => void removed.push(id),
    }
    const third = openPage({ model: first.model, store })
    await third.look()
    expect([third.states.length, removed]).toEqual([0, [kept?.flow.id]])
  })

  it('sends nothing again by a word in a tab that still shows a former state', async () => {
    const first = openPage()
    first.slot.setReview(true)
    first.slot.begin(deposit)
    await first.reach('go')
    first.slot.say('go')
    await first.look()
    await first.reach('go')
    const other = openPage(first)
    expect((await other.reach('go')).flow?.status).toBe('ready')
    // What the other tab wrote is another state: it is shown first, and asked for again.
    first.slot.say('go')
    await first.look()
    first.slot.say('go')
    await first.reach('credited')
    expect(first.requests()).toBe(2)
    // Its allowance would be no obstacle.
    first.model.state.allowance = 1_000_000n
    other.slot.say('go')
    for (let turn = 0; turn < 4; turn++) await other.look()
    expect([other.requests(), other.slot.getState().flow?.status]).toEqual([2, 'credited'])
  })
})

describe('the store of a page', () => {
  it('keeps each flow under its slot, the newest first, and what others keep there is none', () => {
    const storage = new Map<string, string>([
      ['openearn:"a":x', '{'],
      ['openearn:"ab":y', '{"at":1,"flow":{}}'],
      ['z', '1'],
    ])
    const store = createPageStore({
      getItem: (key) => storage.get(key) ?? null,
      setItem: (key, value) => void storage.set(key, value),
      removeItem: (key) => void storage.delete(key),
      key: (index) => [...storage.keys()][index] ?? null,
      get length() {
        return storage.size
      },
    })
    storage.set('openearn:"a":1', JSON.stringify({ at: 1, flow: { id: '1' } }))
    store.put('a', { id: '2' } as Flow)
    store.put('a', { id: '1', status: 'done' } as Flow)
    const found = store.list('a') as Kept[]
    expect(found.map(({ flow }) => flow)).toEqual([{ id: '2' }, { id: '1', status: 'done' }])
    expect(found[1]?.at).toBe(1)
    store.remove('a', '2')
    expect((store.list('a') as Kept[]).length).toBe(1)
  })
})
