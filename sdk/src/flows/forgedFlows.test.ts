import { concat, encodeFunctionData, type Hex, keccak256, numberToHex, parseAbi, toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { openAskedWallet } from '../../test/askedWallet.js'
import { below, createRandom, pick, type Random } from '../../test/random.js'
import {
  build,
  free,
  type Loose,
  leavesOf,
  relayer,
  settlement,
  tokenIn,
  tokenOut,
  user,
  validTo,
} from '../../test/swapOrders.js'
import type { Trust, types } from '../client/index.js'
// Loaded at once, not with the first order.
import '../verify/index.js'
import {
  advance,
  beginClaimRewards,
  beginJoin,
  beginOrder,
  type ClaimFlow,
  cancelOrder,
  type Flow,
  isLast,
  type OrderFlow,
  type Word,
  type World,
} from './index.js'

/** How many of each kind are forged; 1,000 in the long run. */
const count = Number(process.env['LIES'] ?? 300)
const attacker = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const factory = '0x6666666666666666666666666666666666666666'
const stream = '0x7777777777777777777777777777777777777777'
const router = '0x8888888888888888888888888888888888888888'
const streamId = '117fbf7f-1755-4202-9bea-f02ff57091cb'

const facts: types.VerificationContext = {
  ...{ chainId: 1, vaults: [], wrappers: [], depositRouter: null, wrappedNative: null, quoter: null, gasCap: null },
  routers: [{ address: router, kind: 'uniswap-v2' }],
  ...{ settlement: settlement as Hex, relayer: relayer as Hex, streamFactory: factory, signers: [] },
}
const trust: Trust = { version: 1, chains: [facts] }

const selector = (name: string) => toFunctionSelector(`function ${name}`)
const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, '0')

/** Advances a flow as far as it goes with a user who says yes to all. */
async function insist<F extends Flow>(flow: F, world: World, isEnd: (flow: Flow) => boolean = isLast): Promise<F> {
  let at: Flow = flow
  for (let step = 0; step < 20 && !isEnd(at); step++) at = await advance(at, world, at.needs ?? 'go')
  return at as F
}
const stored = <F extends Flow>(flow: F): F => JSON.parse(JSON.stringify(flow))

/** Changes one member of a value, deep inside. */
function forge<T>(value: T, random: Random, keep: (path: string) => boolean = () => false): T {
  const forged = structuredClone(value)
  const leaves = leavesOf(forged).filter((path) => path.length > 0 && !keep(path.join('.')))
  const path = pick(random, leaves)
  const holder = path.slice(0, -1).reduce<Loose>((at, name) => at[name], forged)
  const name = path.at(-1) ?? ''
  const before = holder[name]
  const others = [
    attacker,
    '1',
    `${before}0`,
    String(before).replace(/.$/, (last) => (last === '1' ? '2' : '1')),
    null,
    7,
  ]
  holder[name] = pick(
    random,
    // A number is the same number as text, and with zeros before it.
    others.filter((each) => String(each).replace(/^0+(?=\d)/, '') !== String(before)),
  )
  return forged
}

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
    for (let n = 0; n < count; n++) {
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
    for (let n = 0; n < count; n++) {
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

  it('that was stored and forged reaches a wallet, after the words of the user, with nothing but what was wanted', async () => {
    const first = stored(await advance(beginOrder(params), open(build()).world))
    let reachedBy = 0
    for (let n = 0; n < count; n++) {
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
    expect(reachedBy).toBeGreaterThan(count / 10)
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
    for (let n = 0; n < count; n++) {
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

  it('whose approval is lost is asked for again after a word; one that is allowed otherwise goes on', async () => {
    const { world, state } = open(build())
    state.mines = false
    let at: Flow = beginOrder(params)
    for (let step = 0; step < 3; step++) at = await advance(at, world)
    expect(at.status).toBe('approval-sent')
    const lost = { ...stored(at as OrderFlow), hash: numberToHex(9, { size: 32 }) }
    let looked: Flow = lost
    for (let step = 0; step < 12; step++) looked = await advance(looked, world)
    expect([looked.status, looked.needs]).toEqual(['ready', 'go'])
    // The allowance is 0 already, as the first approval wants it.
    expect((looked as OrderFlow).position).toBe(1)
  })
})

describe('a claim', () => {
  const amount = 5_000n
  const timestamp = 1_794_000_000
  const sibling = keccak256('0x01')
  const leaf = keccak256(concat([user, numberToHex(amount, { size: 32 })]))
  const root = keccak256(concat(leaf < sibling ? [leaf, sibling] : [sibling, leaf]))
  const proof = {
    ...{ streamId, chainId: 1, amount: String(amount), proof: [sibling], error: '' },
    timestamp: new Date(timestamp * 1_000).toISOString(),
  }
  const open = (given: object = proof, more: Record<string, string> = {}) =>
    openAskedWallet({
      ...{ account: user, chainId: 1, trust },
      calls: {
        [`${factory} ${selector('getStreamAddress(bytes16)')}`]: `0x${word(stream)}`,
        [`${stream} ${selector('getRoots()')}`]: `0x${[root, timestamp, 0n, 0n].map((each) => word(BigInt(each))).join('')}`,
        ...more,
      },
      answers: () => ({ proofs: [given] }),
    })
  const begin = () => beginClaimRewards({ streamId, wallet: user })
  const abi = parseAbi(['function claim(uint256 amount, uint40 timestamp, bytes32[] proof)'])
  const data = encodeFunctionData({ abi, functionName: 'claim', args: [amount, timestamp, [sibling]] })
  const claimed = { [`${stream} ${selector('getClaimedRewards(address)')}`]: `0x${word(amount)}` }

  it('of an honest service is sent to its stream, and claimed once the stream says so', async () => {
    const { world, reached } = open()
    const flow = await insist(begin(), world, ({ status }) => status === 'sent')
    expect(flow.sentences).toHaveLength(1)
    expect(reached().map(({ params }) => (params as [object])[0])).toMatchObject([{ to: stream, data, from: user }])
    expect(await advance(flow, open(proof, claimed).world)).toMatchObject({ status: 'claimed' })
    // A stored one is found by the stream alone.
    expect(await advance({ ...stored(flow), status: 'asking' }, open(proof, claimed).world)).toMatchObject({
      status: 'unknown',
    })
    expect(await advance({ ...stored(flow), status: 'unknown' }, open(proof, claimed).world)).toMatchObject({
      status: 'claimed',
    })
  })

  it('that is forged in any place reaches no wallet', async () => {
    for (let n = 0; n < count; n++) {
      // A later part of the same second is the same time.
      const forged = forge(proof, createRandom(n + 1), (path) => path === 'timestamp')
      const { world, reached } = open(forged)
      const flow = await insist(begin(), world, ({ status }) => status === 'sent' || status === 'refused')
      expect(reached(), JSON.stringify(forged)).toEqual([])
      expect(flow.status).not.toBe('sent')
    }
  }, 120_000)

  it('that was stored and forged asks for nothing without a word, and then for what was earned', async () => {
    const first = stored((await advance(begin(), open().world)) as ClaimFlow)
    for (let n = 0; n < count; n++) {
      const random = createRandom(n + 1)
      const { world, reached } = open()
      const change = {
        status: pick(random, ['ready', 'asking', 'unknown', 'sent', 'building'] as const),
        ...{ needs: ([undefined, 'go', 'again'] as const)[below(random, 3)], sentences: ['Nothing happens.'] },
        claim: forge(first.claim, random),
        asked: { position: 0, at: 0, place: { nonce: '0x63', maxFeePerGas: '0xfffffffffff' } },
        hash: numberToHex(7, { size: 32 }),
      }
      const forged = { ...first, ...change } as ClaimFlow
      let at: Flow = forged
      for (const said of ['go', ...Array(4).fill(undefined)] as (Word | undefined)[])
        at = await advance(at, world, said)
      expect(reached(), JSON.stringify(change)).toEqual([])
      await insist(at, world, ({ status }) => status === 'sent' || status === 'refused')
      for (const { params } of reached()) expect((params as [object])[0]).toMatchObject({ to: stream, data })
    }
  }, 120_000)

  it('that its node never saw may be asked for again, after a word', async () => {
    const { world, reached } = open()
    const sent = await insist(begin(), world, ({ status }) => status === 'sent')
    let at: Flow = { ...sent, hash: numberToHex(7, { size: 32 }) }
    at = await advance(at, world)
    for (let step = 0; step < 12; step++) at = await advance(at, world)
    expect([at.status, at.needs, reached().length]).toEqual(['unknown', 'again', 1])
  })

  it('asks for nothing on another chain', async () => {
    const { world, state, reached } = open()
    state.chainId = 5
    let at: Flow = begin()
    for (let step = 0; step < 5; step++) at = await advance(at, world)
    expect([at.status, at.needs, at.problem?.code, reached()]).toEqual(['building', 'go', 'WRONG_CHAIN', []])
    state.chainId = 1
    expect((await insist(at, world, ({ status }) => status === 'sent')).status).toBe('sent')
  })
})

describe('a membership', () => {
  const nonce = '0123456789abcdef0123456789abcdef'
  const account = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
  const message = [
    ...['app.example wants you to sign in with your Ethereum account:', account, ''],
    ...['Link this wallet to your account. This costs nothing and sends no transaction.', ''],
    ...['URI: https://app.example/earn', 'Version: 1', 'Chain ID: 1', `Nonce: ${nonce}`],
    ...['Issued At: 2026-11-18T10:55:00Z', 'Expiration Time: 2026-11-18T11:05:00Z'],
  ].join('\n')
  const open = (agreement: object = { message, nonce }) => {
    const created: unknown[] = []
    const opened = openAskedWallet({
      ...{ account, chainId: 1, calls: {} },
      answers: (path, body) => {
        if (path.endsWith('/agreement')) return agreement
        if (body) created.push(body)
        return { isMember: false }
      },
    })
    return { ...opened, created }
  }

  it('is signed and created, and one that was stored begins anew and waits for a word', async () => {
    const { world, reached, created } = open()
    const flow = await insist(beginJoin({ wallet: account }), world)
    expect([flow.status, flow.problem, reached().length, created]).toEqual([
      'member',
      undefined,
      1,
      [expect.objectContaining({ nonce })],
    ])
    for (const status of ['ready', 'signing', 'looking'] as const) {
      const other = open()
      const forged = { ...stored(flow), status, distributorId: 'thief', sentences: [] }
      let at: Flow = forged
      for (const said of ['go', undefined, undefined] as (Word | undefined)[]) at = await advance(at, other.world, said)
      expect([at.status, at.needs, other.reached()]).toEqual(['ready', 'go', []])
      expect(at.sentences).toEqual([expect.stringContaining('the distributor thief brought it')])
    }
  })

  it('whose message is forged in any place is not signed', async () => {
    const letters = [...'aA0 \n:/.\u200b\u202e\u0430']
    const fixed = message.indexOf('Issued At')
    for (let n = 0; n < count; n++) {
      const random = createRandom(n + 1)
      const at = below(random, fixed)
      const forged = `${message.slice(0, at)}${pick(random, letters)}${message.slice(at + below(random, 2))}`
      if (forged === message) continue
      const { world, reached } = open({ message: forged, nonce })
      expect(await insist(beginJoin({ wallet: account }), world)).toMatchObject({ status: 'refused' })
      expect(reached()).toEqual([])
    }
  }, 120_000)
})
