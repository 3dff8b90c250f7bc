import { signDigest } from '@openearn/attribution'
import { testTokenAbi, testTokenBytecode } from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData, parseEther, parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Anvil, startAnvil } from '../../../../contracts/test/anvil.js'
import { until } from '../../../../contracts/test/until.js'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { Death, dyingRpc } from '../../../test/dying.js'
import { seededBytes, seededKey, seededRandom, times } from '../../../test/seed.js'
import { fakeClock, systemClock } from '../../kernel/clock.js'
import { silentLog } from '../../kernel/log.js'
import { createOutbound } from '../../kernel/outbound.js'
import { type Chain, openChain } from '../chains.js'
import type { Rpc } from '../rpc.js'
import { createKeySigner, type Signer } from '../signer.js'
import {
  cancelOutgoing,
  createSender,
  findOutgoing,
  listSenders,
  OutgoingDiffers,
  recordOutgoing,
  releaseSender,
  type SenderCaps,
  type SenderOptions,
} from './index.js'

const abi = testTokenAbi as Abi
let test: TestDatabase
let anvil: Anvil
let chain: Chain
let token: Address
let clock: ReturnType<typeof fakeClock>
/** A key of its own for every test, so that none sees the nonces of another. */
let key: `0x${string}`
let signer: Signer
const caps: SenderCaps = { gasPrice: parseGwei('500'), spending: parseEther('10') }
const receiver = '0x00000000000000000000000000000000000bca1e'

beforeAll(async () => {
  test = await openTestDatabase()
  anvil = await startAnvil({ timestamp: 1_760_000_000 })
  token = await anvil.deploy({ abi, bytecode: testTokenBytecode, args: ['Dollar', 'USD', 6] })
})
afterAll(async () => {
  await anvil?.stop()
  await test?.close()
})
beforeEach(async () => {
  key = seededKey()
  signer = createKeySigner(key, signDigest)
  clock = fakeClock('2026-01-01T00:00:00Z')
  await anvil.client.setAutomine(true)
  await anvil.client.setBalance({ address: signer.address, value: parseEther('100') })
  await anvil.done(
    anvil.client.writeContract({ address: token, abi, functionName: 'setMinter', args: [signer.address, true] }),
  )
  chain = openChain(createOutbound(systemClock), {
    ...{
      chainId: 31_337,
      name: 'Test',
      rpcUrls: [anvil.url],
      nativeSymbol: 'ETH',
      confirmations: 2,
      finalityDepth: 64,
    },
    ...{ pollIntervalMs: 50, reorgRecheckSeconds: 0, entryPoints: [] },
  })
})

const newId = () =>
  seededBytes()
    .toString('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5')
const open = (over: Partial<SenderOptions> = {}) =>
  createSender({ db: test.db, clock, log: silentLog }, { chain, signer, caps, ...over })

/** Puts a mint of one unit into the queue: how often it ran shows in the balance. */
async function queue(
  over: { id?: string; data?: `0x${string}`; value?: bigint; costMax?: bigint; to?: string } = {},
): Promise<string> {
  const id = over.id ?? newId()
  const data = over.data ?? encodeFunctionData({ abi, functionName: 'mint', args: [receiverOf(), 1n] })
  const outgoing = {
    id,
    chainId: 31_337,
    sender: signer.address,
    to: token.toLowerCase(),
    value: 0n,
    costMax: parseEther('1'),
    purpose: 'a test',
  }
  await recordOutgoing(test.db, { ...outgoing, ...over, id, data }, clock.now())
  return id
}
/** An address of the test's own. */
const receiverOf = (): Address => `0x${signer.address.slice(2, 34)}${receiver.slice(34)}`
const balance = () =>
  anvil.client.readContract({ address: token, abi, functionName: 'balanceOf', args: [receiverOf()] })
const nonce = () => anvil.client.getTransactionCount({ address: signer.address })
const state = async (id: string) => (await findOutgoing(test.db, id))?.state

describe('a transaction of the queue', () => {
  it('is sent once, and is over at the depth of the chain’s confirmations', async () => {
    const sender = open()
    const id = await queue()
    await sender.step()
    expect(await findOutgoing(test.db, id)).toMatchObject({ state: 'sent', nonce: 0 })
    await sender.step()
    expect(await state(id)).toBe('sent')
    await anvil.client.mine({ blocks: 1 })
    await sender.step()
    expect(await findOutgoing(test.db, id)).toMatchObject({ state: 'confirmed', reason: null })
    await queue({ id })
    await sender.step()
    expect([await balance(), await nonce()]).toEqual([1n, 1])
  })

  it('is one by its id: another one of the same id is refused', async () => {
    const id = await queue()
    await queue({ id })
    await expect(queue({ id, value: 1n })).rejects.toBeInstanceOf(OutgoingDiffers)
  })

  it('that would revert fails with the reason, and takes no nonce', async () => {
    const transfer = encodeFunctionData({ abi, functionName: 'transfer', args: [receiver, 5n] })
    const [bad, good] = [await queue({ data: transfer }), await queue()]
    await open().step()
    expect(await findOutgoing(test.db, bad)).toMatchObject({
      state: 'failed',
      nonce: null,
      reason: expect.stringContaining('it would revert with'),
    })
    expect(await findOutgoing(test.db, good)).toMatchObject({ state: 'sent', nonce: 0 })
  })

  it('goes out with the next nonce, whoever asks and from however many processes', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => queue()))
    const senders = [open({ inFlightMax: 100 }), open({ inFlightMax: 100 }), open({ inFlightMax: 100 })]
    await Promise.all(senders.map((sender) => sender.step()))
    await anvil.client.mine({ blocks: 2 })
    await Promise.all(senders.map((sender) => sender.step()))
    const rows = await Promise.all(ids.map((id) => findOutgoing(test.db, id)))
    expect(rows.map((row) => row?.state)).toEqual(ids.map(() => 'confirmed'))
    expect(rows.map((row) => row?.nonce ?? -1).sort((a, b) => a - b)).toEqual(ids.map((_, at) => at))
    expect([await balance(), await nonce()]).toEqual([12n, 12])
  })
})

describe('a transaction that is not mined', () => {
  beforeEach(() => anvil.client.setAutomine(false))

  it('is offered for more, at most for the cap, and counts once whichever form is mined', async () => {
    const id = await queue()
    const sender = open({ caps: { ...caps, gasPrice: parseGwei('20') } })
    await sender.step()
    for (let turn = 0; turn < 30; turn++) {
      clock.advance(31_000)
      await sender.step()
    }
    const fees = await test.db<{ fee: string }[]>`
      select max_fee as fee from outgoing_attempts where transaction_id = ${id} order by attempt`
    expect(fees.length).toBeGreaterThan(2)
    for (const [at, { fee }] of fees.entries())
      if (at > 0) expect(BigInt(fee) * 10n).toBeGreaterThanOrEqual(BigInt(fees[at - 1]?.fee ?? 0) * 11n)
    expect(BigInt(fees.at(-1)?.fee ?? 0)).toBeLessThanOrEqual(parseGwei('20'))
    expect((await findOutgoing(test.db, id))?.reason).toContain('would have to be offered')
    await anvil.client.mine({ blocks: 3 })
    await sender.step()
    expect([await state(id), await balance(), await nonce()]).toEqual(['confirmed', 1n, 1])
  })

  it('is cancelled by an empty one of its nonce; one that is only queued at once', async () => {
    const sender = open({ inFlightMax: 1 })
    const first = await queue()
    clock.advance(1)
    const second = await queue()
    await sender.step()
    expect(await cancelOutgoing(test.db, second)).toBe('cancelled')
    expect(await cancelOutgoing(test.db, first)).toBe('cancelling')
    await sender.step()
    await anvil.client.mine({ blocks: 3 })
    await sender.step()
    expect([await state(first), await state(second), await balance(), await nonce()]).toEqual([
      ...['cancelled', 'cancelled'],
      ...[0n, 1],
    ])
    expect(await cancelOutgoing(test.db, first)).toBeUndefined()
  })

  it('whose nonce a transaction that is not ours used is sent again when that is final and an operator lets the key go on', async () => {
    const id = await queue()
    const silent = { ...chain, rpc: refusing(chain.rpc, (method) => method === 'eth_sendRawTransaction') }
    await open({ chain: silent })
      .step()
      .catch(() => undefined)
    expect(await findOutgoing(test.db, id)).toMatchObject({ state: 'sent', nonce: 0 })
    const account = privateKeyToAccount(key)
    await anvil.client.sendTransaction({ account, to: receiver, value: 1n, nonce: 0 })
    await anvil.client.mine({ blocks: 3 })
    const sender = open()
    await sender.step()
    expect(await findOutgoing(test.db, id)).toMatchObject({
      state: 'sent',
      reason: expect.stringContaining('was used by another transaction'),
    })
    expect(await listSenders(test.db)).toContainEqual(
      expect.objectContaining({ address: signer.address, stopped: expect.stringContaining('nonce 0 was used') }),
    )
    await anvil.client.mine({ blocks: 64 })
    await sender.step()
    await sender.step()
    expect(await findOutgoing(test.db, id)).toMatchObject({ state: 'queued', nonce: null })
    expect(await releaseSender(test.db, { chainId: 31_337, address: signer.address }, clock.now())).toBe(true)
    await sender.step()
    await anvil.client.mine({ blocks: 3 })
    await sender.step()
    expect([await state(id), await balance(), await nonce()]).toEqual(['confirmed', 1n, 2])
  })

  it('is handed to the nodes again when they have forgotten it', async () => {
    const id = await queue()
    const sender = open()
    await sender.step()
    await anvil.client.request({ method: 'anvil_dropAllTransactions' } as never)
    clock.advance(16_000)
    await sender.step()
    await anvil.client.mine({ blocks: 3 })
    await sender.step()
    expect([await state(id), await balance()]).toEqual(['confirmed', 1n])
  })
})

it('is estimated at the price it is sent with, and waits for what its key lacks', async () => {
  await anvil.client.setBalance({ address: signer.address, value: 1n })
  const asked: object[] = []
  const request: Rpc['request'] = async (each) => {
    if (each.method === 'eth_estimateGas') asked.push(...(each.params as object[]))
    return chain.rpc.request(each)
  }
  const id = await queue()
  const sender = open({ chain: { ...chain, rpc: { ...chain.rpc, request } } })
  await sender.step()
  expect(asked[0]).toMatchObject({ maxFeePerGas: expect.any(String), maxPriorityFeePerGas: expect.any(String) })
  expect(await findOutgoing(test.db, id)).toMatchObject({
    state: 'queued',
    reason: expect.stringContaining('holds 1'),
  })
  await anvil.client.setBalance({ address: signer.address, value: parseEther('1') })
  await sender.step()
  await anvil.client.mine({ blocks: 3 })
  await sender.step()
  expect([await state(id), await balance()]).toEqual(['confirmed', 1n])
})

describe('a cap', () => {
  it('on the price of gas keeps everything waiting, with the reason', async () => {
    const id = await queue()
    await open({ caps: { ...caps, gasPrice: 1n } }).step()
    expect(await findOutgoing(test.db, id)).toMatchObject({ state: 'queued', nonce: null })
    expect((await findOutgoing(test.db, id))?.reason).toContain('may cost 1')
    expect(await nonce()).toBe(0)
  })

  it('on the spending of a day holds over all transactions, and lifts a day later', async () => {
    const spending = parseEther('1')
    const dear = { to: receiver, data: '0x' as const, value: parseEther('0.6') }
    const first = await queue(dear)
    clock.advance(1)
    const second = await queue(dear)
    const sender = open({ caps: { ...caps, spending } })
    await sender.step()
    await anvil.client.mine({ blocks: 2 })
    await sender.step()
    expect([await state(first), await state(second)]).toEqual(['confirmed', 'queued'])
    expect((await findOutgoing(test.db, second))?.reason).toContain('a day')
    clock.advance(86_400_000)
    await sender.step()
    expect(await state(second)).toBe('sent')
  })
})

describe('the own cap of a transaction', () => {
  const waiting = { state: 'queued', nonce: null }

  it('keeps what may cost more waiting, with the reason, and later ones go on with its nonce', async () => {
    const dear = await queue({ costMax: 1n })
    clock.advance(1)
    const next = await queue()
    const sender = open()
    await sender.step()
    expect(await findOutgoing(test.db, dear)).toMatchObject({
      ...waiting,
      held: 'tooDear',
      reason: expect.stringContaining('its own cap is 1'),
    })
    expect(await findOutgoing(test.db, next)).toMatchObject({ state: 'sent', nonce: 0, held: null })
  })

  it('keeps what the day has no room for waiting, and later ones that are cheaper go on', async () => {
    const dear = await queue({ to: receiver, data: '0x', value: parseEther('2'), costMax: parseEther('3') })
    clock.advance(1)
    const next = await queue()
    const sender = open({ caps: { ...caps, spending: parseEther('1') } })
    await sender.step()
    expect(await findOutgoing(test.db, dear)).toMatchObject({ ...waiting, held: 'dayBudget' })
    expect(await findOutgoing(test.db, next)).toMatchObject({ state: 'sent', nonce: 0 })
  })

  it('holds each form that is signed, the first and all that are offered for more', async () => {
    await anvil.client.setAutomine(false)
    const gasPrice = await anvil.client.getGasPrice()
    const costMax = 100_000n * gasPrice
    const id = await queue({ costMax })
    const sender = open()
    for (let turn = 0; turn < 20; turn++) {
      await sender.step()
      clock.advance(31_000)
    }
    const row = await findOutgoing(test.db, id)
    const forms = await test.db<{ fee: string }[]>`
      select max_fee as fee from outgoing_attempts where transaction_id = ${id} order by attempt`
    expect(forms.length).toBeGreaterThan(1)
    for (const { fee } of forms) expect((row?.gasLimit ?? 0n) * BigInt(fee)).toBeLessThanOrEqual(costMax)
    expect(row?.reason).toContain('would have to be offered')
  })
})

describe('a process that ends between any two lines', () => {
  it.each(Array.from({ length: 5 * times }, (_, draw) => draw))(
    'sends nothing twice and loses nothing, and leaves no gap of nonces (draw %i)',
    async () => {
      const random = seededRandom()
      const ids: string[] = []
      for (let round = 0; round < 40; round++) {
        if (ids.length < 10) ids.push(await queue())
        await anvil.client.setAutomine(random.next() < 0.5)
        // It dies at a call: before it, or once the node has done it.
        const dying = { ...chain, rpc: dyingRpc(chain.rpc, Math.floor(random.next() * 8), random.next() < 0.5) }
        await open({ chain: dying }).step().catch(expectDeath)
        if (random.next() < 0.3) await anvil.client.mine({ blocks: 1 })
        if (random.next() < 0.3) clock.advance(31_000)
      }
      await anvil.client.setAutomine(true)
      await anvil.client.mine({ blocks: 2 })
      for (let round = 0; round < 12; round++) {
        clock.advance(16_000)
        await open().step()
        await anvil.client.mine({ blocks: 2 })
      }
      expect(await Promise.all(ids.map(state))).toEqual(ids.map(() => 'confirmed'))
      expect([await balance(), await nonce()]).toEqual([BigInt(ids.length), ids.length])
    },
    60_000,
  )
})

describe('a chain that reorganises', () => {
  it.each(Array.from({ length: 2 * times }, (_, draw) => draw))(
    'at any step of a transaction’s life has each mined once (draw %i)',
    async () => {
      const random = seededRandom()
      // What is set up stays below every reorganisation.
      await anvil.client.mine({ blocks: 70 })
      const reorganise = async (depth: number) => {
        // Anvil mines by a task of its own, and loses the state of its chain where it reorganises meanwhile.
        if (await anvil.client.getAutomine()) {
          await until('what waits to be mined', async () => (await anvil.client.getTxpoolStatus()).pending === 0)
          await anvil.client.setAutomine(false)
        }
        await anvil.client.request({ method: 'anvil_reorg', params: [depth, []] } as never)
        expect(await anvil.client.getCode({ address: token }), 'the state of the chain').toBeDefined()
      }
      const ids: string[] = []
      let mined = 0
      const sender = open()
      for (let round = 0; round < 25; round++) {
        if (ids.length < 8) ids.push(await queue())
        await anvil.client.setAutomine(random.next() < 0.5)
        await sender.step()
        const blocks = Math.floor(random.next() * 4)
        if (blocks > 0) await anvil.client.mine({ blocks })
        mined += blocks
        if (random.next() < 0.3 && mined > 1) await reorganise(1 + Math.floor(random.next() * Math.min(60, mined - 1)))
        if (random.next() < 0.1) await anvil.client.request({ method: 'anvil_dropAllTransactions' } as never)
        clock.advance(16_000)
      }
      await anvil.client.setAutomine(true)
      await until('all transactions to be over', async () => {
        clock.advance(16_000)
        await sender.step()
        await anvil.client.mine({ blocks: 2 })
        return (await Promise.all(ids.map(state))).every((each) => each === 'confirmed') || undefined
      })
      expect([await balance(), await nonce()]).toEqual([BigInt(ids.length), ids.length])
    },
    60_000,
  )
})

const expectDeath = (error: unknown) => expect(error).toBeInstanceOf(Death)

function refusing(rpc: Rpc, isRefused: (method: string) => boolean): Rpc {
  return {
    ...rpc,
    request: async (request) => {
      if (isRefused(request.method)) throw new Death('no node')
      return rpc.request(request)
    },
  }
}
