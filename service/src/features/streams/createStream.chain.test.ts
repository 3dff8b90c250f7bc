import { streamFactoryAbi } from '@openearn/contracts'
import { verifyStream } from '@openearn/sdk/verify'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { goneNode } from '../../../test/actionWorld.js'
import { admin, collector, openStreamChain, type StreamChain } from '../../../test/streamChain.js'
import { incentivize, streamsKey } from '../../../test/streamWorld.js'

const unknown = '01890a5d-ac96-774b-bcce-b302099a8057'
const zero = `0x${'0'.repeat(40)}`
let chain: StreamChain
let pointId: string
beforeAll(async () => {
  chain = await openStreamChain()
  const body = { symbol: 'PTS', name: 'Points' }
  pointId = (await chain.earn.call('CreateStreamPoint', { body, key: chain.secret })).body.point.id
})
afterAll(() => chain.close())

const points = (over: Record<string, unknown> = {}) =>
  chain.create({ rewardTokenId: null, pointId, walletAddress: null, totalAmount: null, ...over })
const argsOf = (over: Record<string, unknown>) => ({
  customArgs: { targetTokenId: chain.idOf(chain.vault.address), ...over },
})
const listed = async (id: string) => (await chain.earn.call('GetStreams', { query: { id } })).body.streams

describe('200', () => {
  it('signs what the factory takes: the stream is funded, the fee is paid on top, and then it is listed', async () => {
    const { body } = await chain.create({ totalAmount: '1000001' })
    expect(body.feeAmount).toBe('15001')
    const { id, contractAddress } = body.stream
    expect(body.txParams).toMatchObject({ function: 'createStream', sender: admin.address, chainId: chain.chainId })
    expect(body.txParams.params).toMatchObject({
      params: { StreamId: `0x${id.replaceAll('-', '')}`, NetTotalAmount: '1000001', FeeAmount: '15001' },
      salt: null,
    })
    expect(await listed(id)).toEqual([])
    const { chainId, factory, reward } = chain
    const { to, data } = body.txParams
    const asked = { type: 'createStream', userAddress: admin.address, rewardToken: reward, amount: '1000001' } as const
    const transaction = { to, data, value: '0', chainId }
    const context = {
      chainId,
      factory,
      streamId: id,
      verifiers: [privateKeyToAddress(streamsKey)],
      allowance: 2n ** 255n,
    }
    expect(await verifyStream(asked, [{ type: 'createStream', transaction }], context)).toMatchObject({ problems: [] })
    await chain.fund(1_015_002n)
    const before = await chain.world.balance(chain.reward, collector.address)
    expect((await chain.send(body.txParams)).status).toBe('success')
    await chain.world.sync()
    expect(await chain.read(contractAddress, 'getTotalFunded')).toBe(1_000_001n)
    expect((await chain.world.balance(chain.reward, collector.address)) - before).toBe(15_001n)
    const [shown] = await listed(id)
    expect(shown).toMatchObject({ contractAddress, admin: admin.address, totalAmount: '1000001', feeAmount: '15001' })
    expect(shown.creationConfirmedAt).not.toBeNull()
    expect((await chain.send(body.txParams)).status).toBe('reverted')
  })

  it('is good for the admin alone, and until its deadline', async () => {
    const { body } = await chain.create()
    expect(Number(body.txParams.params.deadline)).toBe(Date.parse('2026-11-20T13:00:00Z') / 1_000)
    await chain.fund(1_015_000n)
    expect((await chain.send(body.txParams, collector)).status).toBe('reverted')
  })

  it('takes no fee of a premium organization', async () => {
    await chain.earn.db`update organizations set premium = true where id = ${chain.earn.organizationId}`
    await chain.world.refresh()
    expect((await chain.create()).body.feeAmount).toBe('0')
    await chain.earn.db`update organizations set premium = false where id = ${chain.earn.organizationId}`
    await chain.world.refresh()
  })

  it('creates a stream of points at once, and echoes rates as they were given', async () => {
    const { body } = await points(argsOf({ tokensPerUSD: 250 }))
    expect([body.txParams, body.feeAmount]).toEqual([undefined, '0'])
    expect((await listed(body.stream.id))[0]).toMatchObject({
      customArgs: { tokensPerUSD: 250, targetToken: { symbol: 'yTUSD' } },
      ...{ contractAddress: null, totalAmount: null, point: { id: pointId } },
    })
  })

  it('takes the total of a daily budget from its rate and its time', async () => {
    const over = { type: 3, endTimestamp: '2026-11-21T00:00:00Z', ...argsOf({ tokensPerDay: '1001' }) }
    expect((await points(over)).body.stream.totalAmount).toBe('500')
    const { body } = await chain.create({ ...over, totalAmount: null })
    expect([body.stream.totalAmount, body.stream.strategy]).toEqual(['500', 'daily-budget'])
  })

  it('takes an APR as a number or a text, and adapters in their order', async () => {
    const adapters = [
      { type: 'allowlist', params: { wallets: [admin.address] } },
      { type: 'boost', params: { multiplierBps: 20_000, distributorIds: ['acme'] } },
      { type: 'min-balance', params: { shares: '5' } },
    ]
    for (const apr of [0.09, '0.09', 1e-7]) {
      const { status, body } = await chain.create({ type: 2, adapters, ...argsOf({ apr }) })
      expect([status, body.stream.customArgs.apr, body.stream.adapters]).toEqual([200, apr, adapters])
    }
  })

  it('makes a token that is no vault one of the kind erc20, whose holders are known from its first block on', async () => {
    const holder = `0x${'77'.repeat(20)}`
    await chain.world.mint(chain.asset, holder as `0x${string}`, 42n)
    expect((await points({ customArgs: { targetTokenId: chain.idOf(chain.asset), tokensPerUSD: '1' } })).status).toBe(
      200,
    )
    await chain.world.sync()
    const rows = await chain.earn.db`
      select b.shares from balances b join vaults v on v.id = b.vault_id
      where v.kind = 'erc20' and v.address = ${chain.asset.toLowerCase()} and b.wallet = hex_bytes(${holder})`
    expect(rows.map((row) => String((row as { shares: string }).shares))).toEqual(['42'])
  })
})

describe('400 INVALID_ARGUMENT', () => {
  const bad: [what: string, over: () => Record<string, unknown>][] = [
    ['a start more than an hour ago', () => ({ startTimestamp: '2026-11-20T10:59:59Z' })],
    ['an end before the start', () => ({ endTimestamp: '2026-11-20T11:59:59Z' })],
    ['an end at the start', () => ({ endTimestamp: '2026-11-20T12:00:00Z' })],
    ['a total of nothing', () => ({ totalAmount: '0' })],
    ['a total above 2^256', () => ({ totalAmount: String(2n ** 256n) })],
    ['a total that overflows with its fee', () => ({ totalAmount: String(2n ** 256n - 1n) })],
    ['no total', () => ({ totalAmount: null })],
    ['both a token and points', () => ({ pointId })],
    ['neither a token nor points', () => ({ rewardTokenId: null })],
    ['a reward that is not allowed', () => ({ rewardTokenId: chain.idOf(chain.asset) })],
    ['an unknown reward', () => ({ rewardTokenId: unknown })],
    ['an unknown target', () => ({ customArgs: { targetTokenId: unknown, tokensPerUSD: '1' } })],
    ['no admin', () => ({ walletAddress: null })],
    ['the zero address as admin', () => ({ walletAddress: zero })],
    ['an unknown type', () => ({ type: 4 })],
    ['arguments of another type', () => argsOf({ tokensPerUSD: '1', apr: '0.1' })],
    ['no rate', () => argsOf({})],
    ['a rate of nothing', () => argsOf({ tokensPerUSD: '0' })],
    ['a rate that is no whole number', () => argsOf({ tokensPerUSD: 1.5 })],
    ['a negative rate', () => argsOf({ tokensPerUSD: '-1' })],
    ['an absurd rate', () => argsOf({ tokensPerUSD: '1'.padEnd(62, '0') })],
    ['an absurd APR', () => ({ type: 2, ...argsOf({ apr: 1001 }) })],
    ['an APR of nothing', () => ({ type: 2, ...argsOf({ apr: '0.0' }) })],
    ['an APR of words', () => ({ type: 2, ...argsOf({ apr: 'ten' }) })],
    ['a daily budget with a total', () => ({ type: 3, ...argsOf({ tokensPerDay: '1000' }) })],
    [
      'a daily budget without an end',
      () => ({ type: 3, totalAmount: null, endTimestamp: null, ...argsOf({ tokensPerDay: '1' }) }),
    ],
    [
      'a daily budget that comes to nothing',
      () => ({
        ...{ type: 3, totalAmount: null, endTimestamp: '2026-11-20T12:00:01Z', ...argsOf({ tokensPerDay: '1' }) },
      }),
    ],
    ['an unknown adapter', () => ({ adapters: [{ type: 'lottery', params: {} }] })],
    ['an unknown member of an adapter', () => ({ adapters: [{ type: 'min-balance', params: { shares: '1', x: 1 } }] })],
    ['a multiplier of nothing', () => ({ adapters: [{ type: 'boost', params: { multiplierBps: 0 } }] })],
    ['a list of wallets that are none', () => ({ adapters: [{ type: 'blocklist', params: { wallets: ['x'] } }] })],
    [
      'a list of wallets with something before one',
      () => ({ adapters: [{ type: 'allowlist', params: { wallets: [`0${admin.address}`] } }] }),
    ],
    [
      'a list of wallets with something behind one',
      () => ({ adapters: [{ type: 'allowlist', params: { wallets: [`${admin.address}0`] } }] }),
    ],
    ['too many adapters', () => ({ adapters: Array(17).fill({ type: 'min-balance', params: { shares: '1' } }) })],
  ]
  it.each(bad)('refuses %s, and keeps nothing', async (_what, over) => {
    const count = async () => (await chain.earn.db`select 1 from streams`).length
    const before = await count()
    const answer = await chain.create(over())
    expect(answer.status, answer.text).toBe(400)
    expect(await count()).toBe(before)
  })

  it('refuses an APR on points, points of another organization, and points that there are not', async () => {
    expect((await points({ type: 2, ...argsOf({ apr: 1 }) })).status).toBe(400)
    expect((await points({ pointId: unknown })).status).toBe(400)
    const organizationId = await chain.earn.organization()
    const key = await chain.earn.key({ kind: 'secret', permissions: [incentivize], organizationId })
    const answer = await chain.create({ rewardTokenId: null, pointId, totalAmount: null }, key)
    expect(answer.status).toBe(400)
  })

  it('refuses a reward that takes a fee and a target that rebases, where the catalogue says so', async () => {
    const { db } = chain.earn
    for (const [token, what] of [
      [chain.reward, 'fee'],
      [chain.vault.address, 'rebases'],
    ] as const) {
      await db`update tokens set unsupported_reason = ${what} where address = ${token.toLowerCase()}`
      await chain.world.refresh()
      expect((await chain.create()).body.reason).toBe('TOKEN_UNSUPPORTED')
      await db`update tokens set unsupported_reason = '' where address = ${token.toLowerCase()}`
    }
    await chain.world.refresh()
  })

  it('refuses a chain without a factory', async () => {
    await chain.earn.db`update chains set stream_factory = null`
    await chain.world.refresh()
    expect((await chain.create()).status).toBe(400)
    await chain.earn
      .db`update chains set stream_factory = ${chain.factory.toLowerCase()} where chain_id = ${chain.chainId}`
    await chain.world.refresh()
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses a publishable key and one without the permission', async () => {
    expect((await chain.create({}, chain.earn.publishable)).status).toBe(403)
    expect((await chain.create({}, chain.earn.secret)).status).toBe(403)
    const creating = await chain.earn.key({ kind: 'secret', permissions: [`${incentivize}:create`] })
    expect((await chain.create({}, creating)).status).toBe(403)
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so where the chain cannot be read, and where the factory is paused', async () => {
    expect((await chain.world.withNode(goneNode, () => chain.create())).status).toBe(503)
    await chain.world.write(chain.factory, streamFactoryAbi, 'pause', [])
    expect((await chain.create()).status).toBe(503)
    await chain.world.write(chain.factory, streamFactoryAbi, 'unpause', [])
  })
})
