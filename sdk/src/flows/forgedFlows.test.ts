import { concat, encodeFunctionData, keccak256, numberToHex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { openAskedWallet } from '../../test/askedWallet.js'
import {
  factory,
  forge,
  forgeries,
  insist,
  selector,
  stored,
  stream,
  streamId,
  trust,
  word,
} from '../../test/forging.js'
import { below, createRandom, pick } from '../../test/random.js'
import { user } from '../../test/swapOrders.js'
// Loaded at once, not with the first claim.
import '../verify/index.js'
import { advance, beginClaimRewards, beginJoin, type ClaimFlow, type Flow, type Word } from './index.js'

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
    for (let n = 0; n < forgeries; n++) {
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
    for (let n = 0; n < forgeries; n++) {
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
    for (let n = 0; n < forgeries; n++) {
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
