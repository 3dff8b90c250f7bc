import { signDigest } from '@openearn/attribution'
import { numberToHex, parseEther, parseGwei } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  callReserve,
  clock,
  find,
  key,
  node,
  open,
  openKeyWorld,
  queue,
  run,
  sendAsStranger,
  setNodes,
  setSigner,
  signer,
  start,
  states,
  telling,
  test,
} from '../../../test/keyLives/keyWorld.js'
import { seededKey } from '../../../test/seed.js'
import { OutboundError } from '../../kernel/outbound.js'
import { createKeySigner, type Signer } from '../signer.js'
import { cancelOutgoing } from './index.js'

openKeyWorld()

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

  it('stops no key where a node keeps telling the receipt that was taken back: the block it names stands no more', async () => {
    const kept = new Map<unknown, unknown>()
    setNodes([
      telling((method, told, params) => {
        if (method !== 'eth_getTransactionReceipt') return told
        if (told !== null) kept.set(params[0], told)
        return kept.get(params[0]) ?? null
      }),
    ])
    const sender = open()
    const first = await queue()
    await sender.step()
    await run(sender, 6)
    expect(await states(first)).toEqual(['confirmed'])
    node.reorganise(9, 'none')
    const second = await queue()
    await run(sender, 90)
    expect(await states(first, second)).toEqual(['confirmed', 'confirmed'])
    expect(node.listMined().map(({ nonce }) => nonce)).toEqual([0, 1])
  })

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
    setNodes([
      telling((method, told, params) =>
        lying.isOn && method === 'eth_getTransactionCount' && params[1] === 'latest' ? numberToHex(lie) : told,
      ),
    ])
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
    setNodes([
      telling((method, told) => (method === 'eth_getTransactionCount' ? numberToHex(1_000) : told)),
      node.request,
    ])
    const id = await queue()
    await open({ reorgRecheckSeconds: 2 }).step()
    await run(open({ reorgRecheckSeconds: 2 }), 6)
    // Before the first of our own the two have to say the same.
    expect(await find(id)).toMatchObject({ state: 'queued' })
    setNodes([node.request, node.request])
    await run(open({ reorgRecheckSeconds: 2 }), 6)
    expect(await find(id)).toMatchObject({ state: 'confirmed', nonce: 0 })
  })
})

describe('what a transaction may cost', () => {
  it('is held for what is signed, where it needs more gas at the sending than it was looked at with', async () => {
    setNodes([telling((method, told) => (method === 'eth_estimateGas' ? numberToHex(7_000_000n) : told))])
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
    setSigner(createKeySigner(seededKey(), signDigest))
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
    setNodes([telling((method, told) => (method === 'eth_getBalance' ? numberToHex(parseEther('1')) : told))])
    const id = await queue()
    const sender = open()
    await sender.step()
    expect(await find(id)).toMatchObject({ state: 'sent', reason: expect.stringContaining('insufficient funds') })
    setNodes([node.request])
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
    setNodes([telling((method, told) => (method === 'eth_getTransactionReceipt' ? null : told))])
    const blind = open()
    await run(blind, 4)
    expect(await find(id)).toMatchObject({
      state: 'sent',
      nonce: 0,
      reason: expect.stringContaining('its receipt is awaited'),
    })
    setNodes([node.request])
    await run(open(), 3)
    expect(await states(id)).toEqual(['confirmed'])
    expect(node.count()).toBe(1)
  })

  it('that another transaction used between the first form and the last is told by which', async () => {
    setNodes([
      async (request) => {
        if (request.method === 'eth_sendRawTransaction') throw new OutboundError('network', 'no node')
        return node.request(request)
      },
    ])
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
    setNodes([node.request])
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
