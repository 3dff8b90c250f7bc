import { type Hex, numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { openAskedWallet } from '../../test/askedWallet.js'
import { attacker, forge, forgeries, insist, router, selector, stored, trust, word } from '../../test/forging.js'
import { below, createRandom, pick } from '../../test/random.js'
import { build, free, type Loose, settlement, tokenIn, tokenOut, user, validTo } from '../../test/swapOrders.js'
// Loaded at once, not with the first order.
import '../verify/index.js'
import { advance, beginOrder, cancelOrder, type Flow, isLast, type OrderFlow, type Word } from './index.js'

describe('an order', () => {
  /** The pair pays 1,000 for what is sold, and the relayer may take nothing yet. */
  const open = (built: unknown, { out = 1_000n, status = 'built' } = {}) => {
    const submitted: unknown[] = []
    const amounts = `0x${[32n, 2n, 1_000_000n, out].map(word).join('')}`
    const opened = openAskedWallet({
      ...{ account: user, chainId: 1, trust },
      calls: {
        [`${router} ${selector('getAmountsOut(uint256,address[])')}`]: (data) =>
          data.includes(tokenOut!.slice(2)) ? amounts : '0x',
        [`${tokenIn} ${selector('allowance(address,address)')}`]: `0x${word(0n)}`,
      },
      answers: (path, body) => {
        if (path.endsWith('/orders/build')) return built
        if (path.endsWith('/orders')) {
          submitted.push(body)
          return { status: 'open' }
        }
        return { status: submitted.length > 0 ? 'open' : status, filledIn: '0', filledOut: '0', error: null }
      },
    })
    return { ...opened, submitted }
  }
  const params = {
    ...{ userAddress: user, chainId: 1, tokenIn: tokenIn as Hex, tokenOut: tokenOut as Hex, amountIn: '1000000' },
    ...{ distributorId: 'acme', slippageBps: 50, partiallyFillable: true },
  }
  const isOpen = (flow: Flow) => isLast(flow) || flow.status === 'open'
  const methodsOf = (reached: readonly { method: string }[]) => reached.map(({ method }) => method)
  /** Everything that the honest order may ask a wallet for. */
  const honest = [
    ...build().approvals.map((each: Loose) => each.transaction.data),
    JSON.stringify(build().typedData),
  ] as string[]
  const askedFor = ({ method, params: asked }: { method: string; params: unknown }) => {
    const list = asked as [{ data: string }, string]
    return method === 'eth_sendTransaction' ? list[0].data : list[1]
  }

  it('of an honest service is approved, signed, submitted and open', async () => {
    const { world, reached, submitted } = open(build())
    const flow = await insist(beginOrder(params), world, isOpen)
    expect([flow.status, flow.problem, flow.trusts, flow.sentences?.length]).toEqual(['open', undefined, 'file', 3])
    expect(methodsOf(reached())).toEqual(['eth_sendTransaction', 'eth_sendTransaction', 'eth_signTypedData_v4'])
    expect(reached().map(askedFor)).toEqual(honest)
    expect(submitted).toHaveLength(1)
  })

  it('that is forged in any place reaches no wallet', async () => {
    for (let n = 0; n < forgeries; n++) {
      const random = createRandom(n + 1)
      const forged = forge(build(), random, (path) => free.test(path))
      const { world, reached } = open(forged)
      const flow = await insist(beginOrder(params), world, isOpen)
      expect([flow.status, flow.problem?.code], JSON.stringify(forged)).toEqual(['refused', 'NOT_AS_ASKED'])
      expect(reached()).toEqual([])
    }
  }, 120_000)

  it('that gives less than an own quote waits for a word about that, and for less than half of it is refused', async () => {
    const strict = open(build(), { out: 1_000n })
    expect((await advance(beginOrder(params), strict.world)).needs).toBe(undefined)
    const loose = open(build(), { out: 1_900n })
    const flow = await advance(beginOrder(params), loose.world)
    expect([flow.status, flow.needs, flow.problem?.code]).toEqual(['ready', 'confirm', 'BELOW_QUOTE'])
    expect(await advance(flow, loose.world, 'go')).toBe(flow)
    const poor = open(build(), { out: 2_000n })
    expect(await advance(beginOrder(params), poor.world)).toMatchObject({ status: 'refused' })
    expect([...loose.reached(), ...poor.reached()]).toEqual([])
  })

  it('that was stored asks for nothing without a word, in whatever status it says it is, and is compared anew', async () => {
    const first = stored(await advance(beginOrder(params), open(build()).world))
    const statuses = ['ready', 'approving', 'approval-sent', 'signing', 'submitting', 'building', 'open'] as const
    for (let n = 0; n < forgeries; n++) {
      const random = createRandom(n + 1)
      const { world, reached } = open(build())
      const change = {
        ...{ status: pick(random, statuses), needs: undefined, least: '1', position: below(random, 4) },
        ...{ sentences: ['Nothing happens.'], before: ['Nothing happens.'], trusts: 'file' },
        ...(below(random, 2) ? { built: forge(build(), random, (path) => free.test(path)) } : {}),
        asked: { position: 0, at: 0, place: { nonce: '0x3' } },
        hash: numberToHex(7, { size: 32 }),
      }
      let at: Flow = { ...first, ...change } as OrderFlow
      // A first word is about the stored sentences.
      for (const said of [pick(random, ['go', 'confirm', 'again'] as Word[]), ...Array(8).fill(undefined)])
        at = await advance(at, world, said)
      expect(reached(), JSON.stringify(change)).toEqual([])
      if (at.status === 'ready') {
        expect(at.sentences?.at(-1)).toContain('at least 995 units')
        expect(['go', 'confirm']).toContain(at.needs)
      }
    }
  }, 120_000)

  it.each(['approving', 'signing', 'submitting'] as const)(
    'that was stored while %s asks for a word only once it was compared',
    async (status) => {
      const { world } = open(build())
      const first = stored(await advance(beginOrder(params), world))
      const asked = { position: 0, at: 0, place: { nonce: '0x3' } }
      let at: Flow = { ...first, status, asked, needs: undefined, sentences: ['Nothing happens.'] } as OrderFlow
      for (let step = 0; step < 5 && !at.needs; step++) at = await advance(at, world)
      expect([at.status, at.needs, at.sentences?.length]).toEqual(['ready', 'go', 3])
    },
  )

  it('that was stored and forged reaches a wallet, after the words of the user, with nothing but what was wanted', async () => {
    const first = stored(await advance(beginOrder(params), open(build()).world))
    let reachedBy = 0
    for (let n = 0; n < forgeries; n++) {
      const random = createRandom(n + 1)
      const { world, reached } = open(build())
      const change = {
        status: pick(random, ['ready', 'approving', 'approval-sent', 'signing', 'submitting'] as const),
        ...{ least: '1', position: below(random, 3), needs: ([undefined, 'go', 'confirm'] as const)[below(random, 3)] },
        ...(below(random, 2) ? { built: forge(build(), random, (path) => free.test(path)) } : {}),
      }
      await insist({ ...first, ...change } as OrderFlow, world, isOpen)
      for (const each of reached()) expect(honest, JSON.stringify(change)).toContain(askedFor(each))
      reachedBy += reached().length > 0 ? 1 : 0
    }
    expect(reachedBy).toBeGreaterThan(forgeries / 10)
  }, 120_000)

  it('is ended by its own cancellation, and by no other transaction', async () => {
    const { world, reached } = open(build())
    const flow = await insist(beginOrder(params), world, isOpen)
    const before = reached().length
    expect((await cancelOrder(flow, world)).cancelHash).toMatch(/^0x/)
    const [{ params: sent } = { params: [] }] = reached().slice(before)
    expect((sent as [{ data: string; to: string }])[0]).toMatchObject({
      to: settlement,
      data: build().cancellation.data,
    })
    for (let n = 0; n < forgeries; n++) {
      const forged = { ...stored(flow), built: forge(build(), createRandom(n + 1), (path) => free.test(path)) }
      const other = open(build())
      await expect(cancelOrder(forged, other.world)).rejects.toThrow()
      expect(other.reached()).toEqual([])
    }
  }, 120_000)

  it('asks for nothing on another chain or of another account, and goes on after a word', async () => {
    for (const elsewhere of [{ chainId: 5 }, { account: attacker }]) {
      const { world, reached, state } = open(build())
      const home = { ...state }
      Object.assign(state, elsewhere)
      let at: Flow = beginOrder(params)
      for (let step = 0; step < 6; step++) at = await advance(at, world)
      expect([at.needs, reached()]).toEqual(['go', []])
      Object.assign(state, { chainId: home.chainId, account: home.account })
      expect((await insist(at, world, isOpen)).status).toBe('open')
    }
  })

  it('is not filled after the time that was asked for, and is built anew once it is old', async () => {
    const late = open(build())
    late.state.now = (validTo - 7_200) * 1_000
    expect(await advance(beginOrder(params), late.world)).toMatchObject({ status: 'refused' })
    const { world, state, reached } = open(build())
    const flow = await advance(beginOrder(params), world)
    state.now += 1_700_000
    const again = await advance(flow, world)
    expect([again.status, (again as OrderFlow).key === (flow as OrderFlow).key, reached()]).toEqual([
      'building',
      false,
      [],
    ])
  })

  it('goes on where somebody else gave the allowance, and asks again for an approval that is lost, after a word', async () => {
    const { world, state, reached } = open(build())
    state.mines = false
    let at: Flow = beginOrder(params)
    for (let step = 0; step < 3; step++) at = await advance(at, world)
    expect([at.status, (at as OrderFlow).position]).toEqual(['approval-sent', 0])
    // The allowance is 0 already, as the reset wants it.
    for (let step = 0; step < 3; step++) at = await advance(at, world)
    expect([at.status, (at as OrderFlow).position, reached().length]).toEqual(['approval-sent', 1, 2])
    // It waits while its node knows it.
    for (let step = 0; step < 30; step++) at = await advance(at, world)
    expect(at.status).toBe('approval-sent')
    at = { ...stored(at as OrderFlow), hash: numberToHex(9, { size: 32 }) }
    // The look that saw it last was the first of ten.
    for (let step = 0; step < 8; step++) at = await advance(at, world)
    expect(at.status).toBe('approval-sent')
    at = await advance(at, world)
    expect([at.status, at.needs, at.problem?.code]).toEqual(['ready', 'go', 'NEVER_SEEN'])
    expect(reached()).toHaveLength(2)
    state.mines = true
    expect((await insist(at, world, isOpen)).status).toBe('open')
    expect(reached().map(askedFor)).toEqual([...honest.slice(0, 2), ...honest.slice(1)])
  })

  it.each([Number.NaN, -1, 10_001, 0.5, '50'])('of a slippage that is none, %j, is refused', async (slippageBps) => {
    const { world, reached } = open(build())
    const flow = beginOrder({ ...params, slippageBps: slippageBps as number })
    expect(await insist(flow, world, isOpen)).toMatchObject({ status: 'refused', problem: { code: 'NOT_AS_ASKED' } })
    expect(reached()).toEqual([])
  })
})
