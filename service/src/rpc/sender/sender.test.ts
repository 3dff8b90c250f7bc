import { signDigest } from '@openearn/attribution'
import { type Hex, numberToHex, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { createKeyNode, type KeyNode } from '../../../test/keyLives/keyNode.js'
import { createNodes } from '../../../test/keyLives/lies.js'
import { seededBytes, seededKey, seededRandom } from '../../../test/seed.js'
import { fakeClock } from '../../kernel/clock.js'
import { silentLog } from '../../kernel/log.js'
import { OutboundError } from '../../kernel/outbound.js'
import type { RpcRequest } from '../rpc.js'
import { createKeySigner, type Signer } from '../signer.js'
import {
  cancelOutgoing,
  createSender,
  findOutgoing,
  recordOutgoing,
  releaseSender,
  type SenderOptions,
} from './index.js'
import { signOutgoing } from './signed.js'

const chainId = 31_337
const target = `0x${'77'.repeat(20)}`
/** Gas limit of a call, and what it reserves at the node's first base fee with room for it to double. */
const callGas = 75_000n
const callReserve = callGas * parseGwei('21')

let test: TestDatabase
let clock: ReturnType<typeof fakeClock>
let key: Hex
let signer: Signer
let node: KeyNode
let nodes: ((request: RpcRequest) => Promise<unknown>)[]

beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())
beforeEach(() => {
  key = seededKey()
  signer = createKeySigner(key, signDigest)
  clock = fakeClock('2026-01-01T00:00:00Z')
  start()
})

function start(given: { balance?: bigint; count?: number; l1Fee?: bigint } = {}): void {
  node = createKeyNode(signer.address, {
    ...{ random: seededRandom(), balance: parseEther('10'), count: 0, l1Fee: 0n },
    ...given,
  })
  nodes = [node.request]
}

const open = (
  over: Partial<Omit<SenderOptions, 'caps'>> & {
    spending?: bigint
    confirmations?: number
    reorgRecheckSeconds?: number
  } = {},
) => {
  const { spending = parseEther('10'), confirmations = 2, reorgRecheckSeconds = 0, ...options } = over
  const chain = {
    ...{ chainId, name: 'Test', rpcUrls: [], nativeSymbol: 'ETH', headUrls: [], entryPoints: [] },
    ...{ confirmations, finalityDepth: 64, pollIntervalMs: 1_000, reorgRecheckSeconds, rpc: createNodes(nodes) },
  }
  const caps = { gasPrice: parseGwei('500'), spending }
  return createSender({ db: test.db, clock, log: silentLog }, { chain, signer, caps, ...options })
}

async function queue(over: { value?: bigint; costMax?: bigint; data?: Hex } = {}): Promise<string> {
  const id = seededBytes()
    .toString('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5')
  clock.advance(1)
  const outgoing = {
    id,
    chainId,
    sender: signer.address,
    to: target,
    value: 0n,
    costMax: parseEther('1'),
    purpose: 'a test',
  }
  await recordOutgoing(test.db, { data: `0x${id.slice(0, 8)}`, ...outgoing, ...over }, clock.now())
  return id
}
const find = (id: string) => findOutgoing(test.db, id)
const states = async (...ids: string[]) => Promise.all(ids.map(async (id) => (await find(id))?.state))

/** Rounds of a block and a look each. */
async function run(sender: { step(): Promise<void> }, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    node.mine(1)
    clock.advance(12_000)
    await sender.step()
  }
}

/** The same node, which tells something else where a change says so. */
const telling =
  (change: (method: string, told: unknown, params: readonly unknown[]) => unknown) =>
  async (request: RpcRequest): Promise<unknown> =>
    change(request.method, await node.request(request), (request.params ?? []) as unknown[])

async function sendAsStranger(): Promise<void> {
  const transaction = { chainId, nonce: node.count(), to: target, data: '0x57', value: 0n, gasLimit: 90_000n }
  const { raw } = await signOutgoing(signer, {
    ...transaction,
    fees: { maxFee: parseGwei('200'), tip: parseGwei('50') },
  })
  await node.request({ method: 'eth_sendRawTransaction', params: [raw] })
}

describe('a reorganisation after a transaction was counted confirmed', () => {
  it.each([
    [2, 5],
    [6, 9],
    [1, 60],
  ])(
    '(%i confirmations, %i blocks) stops no key: it goes out again, and what is queued later is mined',
    async (confirmations, depth) => {
      const sender = open({ confirmations, reorgRecheckSeconds: 2 })
      const first = await queue()
      await sender.step()
      await run(sender, confirmations + 2)
      expect(await states(first)).toEqual(['confirmed'])
      node.reorganise(depth, 'none')
      expect(node.count()).toBe(0)
      const second = await queue()
      await run(sender, confirmations + 12)
      expect(await states(first, second)).toEqual(['confirmed', 'confirmed'])
      expect(node.listMined().map(({ nonce }) => nonce)).toEqual([0, 1])
    },
  )

  it('is seen until the block is final, and not after', async () => {
    const sender = open()
    const id = await queue()
    await sender.step()
    await run(sender, 4)
    expect(await find(id)).toMatchObject({ state: 'confirmed', isFinal: false })
    node.mine(64)
    await run(sender, 2)
    expect(await find(id)).toMatchObject({ state: 'confirmed', isFinal: true })
  })
})

describe('one wrong count of transactions', () => {
  /** A node that tells another count while it is told to. */
  const createLying = (lie: number) => {
    const lying = { isOn: true }
    nodes = [
      telling((method, told, params) =>
        lying.isOn && method === 'eth_getTransactionCount' && params[1] === 'latest' ? numberToHex(lie) : told,
      ),
    ]
    return lying
  }

  it('is not kept where nothing is sent, and sends nothing with it', async () => {
    const lying = createLying(1_000)
    const poor = open({ spending: 1n, reorgRecheckSeconds: 2 })
    const id = await queue()
    await poor.step()
    lying.isOn = false
    await run(poor, 2)
    expect(await find(id)).toMatchObject({ state: 'queued', held: 'dayBudget' })
    const sender = open({ reorgRecheckSeconds: 2 })
    await run(sender, 6)
    expect(await find(id)).toMatchObject({ state: 'confirmed', nonce: 0 })
  })

  it('skips no nonce of a key that has sent before', async () => {
    const first = await queue()
    await open().step()
    node.mine(1)
    const lying = createLying(1_000)
    const sender = open({ reorgRecheckSeconds: 2 })
    const second = await queue()
    await sender.step()
    lying.isOn = false
    await run(sender, 8)
    expect([await find(first), await find(second)]).toMatchObject([
      { state: 'confirmed', nonce: 0 },
      { state: 'confirmed', nonce: 1 },
    ])
  })

  it('that is told for long is not believed against a second node', async () => {
    nodes = [
      telling((method, told) => (method === 'eth_getTransactionCount' ? numberToHex(1_000) : told)),
      node.request,
    ]
    const id = await queue()
    await open({ reorgRecheckSeconds: 2 }).step()
    await run(open({ reorgRecheckSeconds: 2 }), 6)
    // Before the first of our own the two have to say the same.
    expect(await find(id)).toMatchObject({ state: 'queued' })
    nodes = [node.request, node.request]
    await run(open({ reorgRecheckSeconds: 2 }), 6)
    expect(await find(id)).toMatchObject({ state: 'confirmed', nonce: 0 })
  })
})

describe('what a transaction may cost', () => {
  it('is held for what is signed, where it needs more gas at the sending than it was looked at with', async () => {
    nodes = [telling((method, told) => (method === 'eth_estimateGas' ? numberToHex(7_000_000n) : told))]
    const sender = open()
    const dear = await queue({ costMax: parseEther('0.02') })
    await run(sender, 4)
    expect(await find(dear)).toMatchObject({ state: 'queued', held: 'tooDear' })
    expect(node.listMined()).toEqual([])
  })

  it('counts what posting to another chain costs, which is paid beyond the gas', async () => {
    start({ l1Fee: parseEther('0.01') })
    const [dear, cheap] = [await queue({ costMax: parseEther('0.02') }), await queue({ costMax: parseEther('0.03') })]
    const sender = open()
    await run(sender, 6)
    expect(await find(dear)).toMatchObject({ state: 'queued', held: 'tooDear' })
    expect(await find(cheap)).toMatchObject({
      state: 'confirmed',
      cost: parseEther('0.01') + 60_000n * parseGwei('11'),
    })
  })

  it('that is more than is left of the day keeps no later one waiting', async () => {
    const dear = await queue({ value: parseEther('5') })
    const later = await queue()
    const sender = open({ spending: parseEther('1') })
    await run(sender, 5)
    expect(await states(dear, later)).toEqual(['queued', 'confirmed'])
  })

  it('on a day of nothing is nothing: all wait, and say why', async () => {
    const id = await queue()
    await run(open({ spending: 0n }), 3)
    expect(await find(id)).toMatchObject({ state: 'queued', held: 'dayBudget', nonce: null })
  })

  it('of the day is each key’s own', async () => {
    const spending = callReserve + callReserve / 2n
    const sender = open({ spending })
    const ids = [await queue(), await queue()]
    await sender.step()
    expect((await states(...ids)).sort()).toEqual(['queued', 'sent'])
    signer = createKeySigner(seededKey(), signDigest)
    start()
    const other = await queue()
    await open({ spending }).step()
    expect(await states(other)).toEqual(['sent'])
  })
})

describe('the day of a key', () => {
  it('has what a mined transaction did not use for the rest of it', async () => {
    // Two reserves do not fit, one and what the first cost do.
    const spending = callReserve + 60_000n * parseGwei('11')
    const sender = open({ spending })
    const ids = [await queue(), await queue()]
    await sender.step()
    expect((await states(...ids)).sort()).toEqual(['queued', 'sent'])
    await run(sender, 8)
    expect(await states(...ids)).toEqual(['confirmed', 'confirmed'])
  })

  it('keeps the larger reserve while either form of a cancelled transaction can be mined', async () => {
    const sender = open({ spending: parseEther('1.01') })
    const first = await queue({ value: parseEther('1'), costMax: parseEther('2') })
    await sender.step()
    await cancelOutgoing(test.db, first)
    const second = await queue({ value: parseEther('0.5') })
    clock.advance(1_000)
    await sender.step()
    await sender.step()
    const [{ forms } = { forms: 0 }] = await test.db<{ forms: number }[]>`
      select count(*)::int as forms from outgoing_attempts where transaction_id = ${first}`
    expect(forms).toBe(2)
    expect(await find(second)).toMatchObject({ state: 'queued', held: 'dayBudget' })
  })

  it('counts the value of a transaction that is offered for more', async () => {
    const value = parseEther('1')
    const sender = open({ spending: value + callReserve + 1n })
    const id = await queue({ value, costMax: parseEther('2') })
    await sender.step()
    clock.advance(31_000)
    await sender.step()
    expect(await find(id)).toMatchObject({ state: 'sent', held: 'dayBudget', reserved: value + callReserve })
  })
})

describe('the funds of a key', () => {
  it('are checked for the gas limit that is signed: no nonce is taken that nobody can pay for', async () => {
    // More than the estimate costs at the present price, less than the limit.
    start({ balance: 65_000n * parseGwei('11') })
    const sender = open()
    const id = await queue()
    await run(sender, 3)
    expect(await find(id)).toMatchObject({ state: 'queued', nonce: null, held: 'noFunds' })
    node.pay(parseEther('1'))
    await run(sender, 4)
    expect(await states(id)).toEqual(['confirmed'])
  })

  it('that suffice at a price that fell are enough: what no node took is signed for less', async () => {
    // At 100 gwei the estimate is paid for, and the limit is not; a node that says otherwise lets it be signed.
    start({ balance: parseEther('0.0125') })
    node.setBaseFee(parseGwei('100'))
    node.mine(1)
    nodes = [telling((method, told) => (method === 'eth_getBalance' ? numberToHex(parseEther('1')) : told))]
    const id = await queue()
    const sender = open()
    await sender.step()
    expect(await find(id)).toMatchObject({ state: 'sent', reason: expect.stringContaining('insufficient funds') })
    nodes = [node.request]
    node.setBaseFee(parseGwei('1'))
    await run(open(), 6)
    expect(await states(id)).toEqual(['confirmed'])
  })
})

describe('a nonce', () => {
  it('that a form of ours used whose receipt a node lost is not sent again', async () => {
    const sender = open()
    const id = await queue()
    await sender.step()
    node.mine(80)
    nodes = [telling((method, told) => (method === 'eth_getTransactionReceipt' ? null : told))]
    const blind = open()
    await run(blind, 4)
    expect(await find(id)).toMatchObject({
      state: 'sent',
      nonce: 0,
      reason: expect.stringContaining('its receipt is awaited'),
    })
    nodes = [node.request]
    await run(open(), 3)
    expect(await states(id)).toEqual(['confirmed'])
    expect(node.count()).toBe(1)
  })

  it('that another transaction used between the first form and the last is told by which', async () => {
    nodes = [
      async (request) => {
        if (request.method === 'eth_sendRawTransaction') throw new OutboundError('network', 'no node')
        return node.request(request)
      },
    ]
    const sender = open()
    const id = await queue()
    await sender.step()
    await sendAsStranger()
    node.mine(1)
    node.mine(200)
    // The last form is signed at a node that is behind, long after the nonce was used.
    await test.db`
      insert into outgoing_attempts (transaction_id, nonce, attempt, head_number, signed_at, is_cancellation, hash, raw, max_fee, tip)
      select transaction_id, nonce, 2, ${node.head()}, signed_at, false, ${Buffer.alloc(32, 1)}, raw, max_fee, tip
      from outgoing_attempts where transaction_id = ${id}`
    nodes = [node.request]
    const again = open()
    await run(again, 3)
    expect(await find(id)).toMatchObject({
      state: 'queued',
      reason: expect.stringContaining('was used by another transaction'),
    })
  })
})

describe('a signer', () => {
  it('that hangs and signs late keeps no nonce, and what it signs then goes nowhere', async () => {
    const late: (() => void)[] = []
    const hanging: Signer = {
      address: signer.address,
      sign: (digest) =>
        new Promise((resolve) => late.push(() => resolve(signDigest(digest, Buffer.from(key.slice(2), 'hex'))))),
    }
    const id = await queue()
    await open({ signer: hanging, signMs: 20 }).step()
    expect(await find(id)).toMatchObject({
      state: 'queued',
      nonce: null,
      reason: 'the signer of the key does not sign',
    })
    for (const sign of late) sign()
    for (const sign of late) sign()
    await run(open(), 5)
    expect(await find(id)).toMatchObject({ state: 'confirmed', nonce: 0 })
    expect(node.listMined()).toHaveLength(1)
  })
})

describe('a database from before what was sent', () => {
  /** The queue as whoever wanted it fills it again, nothing else kept of the key. */
  async function restore(ids: readonly string[], state = 'queued'): Promise<void> {
    await test.db`delete from outgoing_attempts where transaction_id = any(${[...ids]}::uuid[])`
    await test.db`
      update outgoing_transactions set state = ${state}, nonce = null, gas_limit = null, reserved = null, reserved_at = null,
        cost = null, transaction_hash = null, block_number = null, is_final = false where id = any(${[...ids]}::uuid[])`
    await test.db`delete from senders where address = hex_bytes(${signer.address})`
  }
  const send3 = async () => {
    const ids = [await queue(), await queue(), await queue()]
    await open().step()
    node.mine(5)
    expect(node.count()).toBe(3)
    return ids
  }

  it('and before the first of its key sends nothing again that is mined', async () => {
    const ids = await send3()
    await restore(ids)
    await run(open(), 6)
    expect(await states(...ids)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    expect(node.listMined()).toHaveLength(3)
    const next = await queue()
    await run(open(), 4)
    expect(await find(next)).toMatchObject({ state: 'confirmed', nonce: 3 })
  })

  it('waits until what is mined has its confirmations before it sends with a key that is new to it', async () => {
    const ids = [await queue()]
    await open().step()
    node.mine(1)
    await restore(ids)
    const sender = open({ confirmations: 6 })
    await sender.step()
    expect(await find(ids[0] as string)).toMatchObject({ state: 'queued', nonce: null })
    node.mine(5)
    await run(sender, 3)
    expect(await states(...ids)).toEqual(['confirmed'])
    expect(node.listMined()).toHaveLength(1)
  })

  it('knows those behind the transaction of a stranger when an operator lets the key go on', async () => {
    const first = await queue()
    await open().step()
    node.mine(1)
    await sendAsStranger()
    node.mine(1)
    const others = [await queue(), await queue()]
    await letGo()
    await open().step()
    node.mine(4)
    expect(node.count()).toBe(4)
    await restore([first, ...others])
    await test.db`
      insert into senders (chain_id, address, accepted_count) values (${chainId}, hex_bytes(${signer.address}), 0)`
    const sender = open()
    await sender.step()
    expect(await states(first, ...others)).toEqual(['sent', 'queued', 'queued'])
    await letGo()
    await run(open(), 6)
    expect(await states(first, ...others)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    expect(node.listMined()).toHaveLength(4)
  })

  it.each(['cancelled', 'failed'])('says confirmed of what is mined, where the queue says %s', async (state) => {
    const [over = '', ...others] = await send3()
    await restore([over], state)
    await restore(others)
    await run(open(), 6)
    expect(await states(over, ...others)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    expect(node.listMined()).toHaveLength(3)
  })

  it('gives a nonce to the transaction of the queue whose old form took it, between others that are ours', async () => {
    nodes = [
      async (request) => {
        if (request.method === 'eth_sendRawTransaction') throw new OutboundError('network', 'no node')
        return node.request(request)
      },
    ]
    const [late, ...others] = [await queue(), await queue(), await queue()] as [string, string, string]
    await open({ inFlightMax: 1 }).step()
    const [old] = await test.db<{ raw: string }[]>`
      select hex_text(raw) as raw from outgoing_attempts where transaction_id = ${late}`
    await restore([late])
    await test.db`update outgoing_transactions set created_at = created_at + interval '1 hour' where id = ${late}`
    await open({ inFlightMax: 2 }).step()
    expect(await Promise.all(others.map(find))).toMatchObject([{ nonce: 0 }, { nonce: 1 }])
    nodes = [node.request]
    await node.request({ method: 'eth_sendRawTransaction', params: [old?.raw] })
    node.mine(1)
    await run(open({ inFlightMax: 2 }), 80)
    expect(await Promise.all([late, ...others].map(find))).toMatchObject([
      { state: 'confirmed', nonce: 0 },
      { state: 'confirmed', nonce: 2 },
      { state: 'confirmed', nonce: 1 },
    ])
    expect(node.listMined()).toHaveLength(3)
  })

  it('adopts no empty transaction, for that does nothing of the queue', async () => {
    const id = await queue()
    await sendEmpty()
    node.mine(3)
    await run(open(), 4)
    expect(await find(id)).toMatchObject({ state: 'confirmed', nonce: 1 })
  })

  async function letGo(): Promise<void> {
    node.mine(2)
    await open().step()
    expect(await releaseSender(test.db, { chainId, address: signer.address }, clock.now())).toBe(true)
  }
  async function sendEmpty(): Promise<void> {
    const shape = { chainId, nonce: node.count(), to: signer.address, data: '0x', value: 0n, gasLimit: 21_000n }
    const { raw } = await signOutgoing(signer, { ...shape, fees: { maxFee: 10n ** 12n, tip: 10n ** 10n } })
    await node.request({ method: 'eth_sendRawTransaction', params: [raw] })
  }
})
