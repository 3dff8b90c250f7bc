import { describe, expect, it } from 'vitest'
import {
  type Bounds,
  decideKey,
  decideOffer,
  decideRow,
  decideSend,
  decideTaken,
  type Mined,
  pickNonce,
  type Taker,
  toGasLimit,
} from './decide.js'

const sender = `0x${'aa'.repeat(20)}`
const to = `0x${'bb'.repeat(20)}`

describe('what becomes of a transaction that has a nonce', () => {
  const standing = { head: 100, counted: 5, confirmations: 3, finalityDepth: 64 }
  const sent = { state: 'sent', nonce: 4, value: 7n, transactionHash: null, blockNumber: null, cost: null } as const
  const mined = (over: Partial<Mined> = {}): Mined => ({
    hash: '0x1',
    blockNumber: 98,
    success: true,
    cost: 50n,
    ...over,
  })
  const over = { ...sent, state: 'confirmed', transactionHash: '0x1', blockNumber: 98, cost: 57n } as const
  const end = { state: 'confirmed', hash: '0x1', blockNumber: 98, cost: 57n }

  it.each([
    ['waits where no form is mined and its nonce is free', { ...sent, nonce: 5 }, undefined, false, { act: 'offer' }],
    ['is looked for where its nonce is used by no known form', sent, undefined, false, { act: 'findTaker' }],
    ['is not over before the confirmations', sent, mined({ blockNumber: 99 }), false, { act: 'wait' }],
    ['is over at the confirmations, its value in its cost', sent, mined(), false, { act: 'conclude', end }],
    [
      'reverted costs its gas alone',
      sent,
      mined({ success: false }),
      false,
      { act: 'conclude', end: { ...end, state: 'reverted', cost: 50n } },
    ],
    [
      'is cancelled where the empty form was mined',
      sent,
      mined(),
      true,
      { act: 'conclude', end: { ...end, state: 'cancelled', cost: 50n } },
    ],
    ['that is over stays so until its block is final', over, mined(), false, { act: 'wait' }],
    [
      'that is over moves with its block',
      over,
      mined({ blockNumber: 100 }),
      false,
      { act: 'conclude', end: { ...end, blockNumber: 100 } },
    ],
    [
      'that another node told otherwise of is corrected',
      over,
      mined({ success: false }),
      false,
      { act: 'conclude', end: { ...end, state: 'reverted', cost: 50n } },
    ],
    ['that a reorganisation dropped is opened again', over, undefined, false, { act: 'reopen' }],
    [
      'is final below the finality depth',
      { ...over, blockNumber: 30 },
      mined({ blockNumber: 30 }),
      false,
      { act: 'finish' },
    ],
    [
      'is not final where the node counts its nonce as free',
      { ...over, nonce: 5, blockNumber: 30 },
      mined({ blockNumber: 30 }),
      false,
      { act: 'wait' },
    ],
    [
      'is not final at the finality depth',
      { ...over, blockNumber: 37 },
      mined({ blockNumber: 37 }),
      false,
      { act: 'wait' },
    ],
  ])('%s', (_, row, found, isCancellation, act) => {
    expect(decideRow(row, { mined: found, isCancellation }, standing)).toEqual(act)
  })
})

describe('a nonce that was used by no known form', () => {
  const row = { nonce: 4, sender, to, data: '0x12', value: 0n, cancelling: false }
  const taker: Taker = {
    ...{ hash: '0x9', nonce: 4, to: sender, data: '0x', value: 0n, gasLimit: 1n },
    ...{ fees: { maxFee: 1n, tip: 1n }, blockNumber: 98 },
  }
  const decide = (over: object, given: { taker?: Taker | undefined; isSure?: boolean; head?: number } = {}) =>
    decideTaken(
      { ...row, ...over },
      { taker: 'taker' in given ? given.taker : taker, ownHashes: ['0x1'], isSure: given.isSure ?? true },
      { head: given.head ?? 100, finalityDepth: 64 },
    )

  it('by one that nobody tells of, or whose receipt a node lost, waits: it is not sent again', () => {
    expect(decide({}, { taker: undefined })).toMatchObject({ act: 'wait', isForeign: false })
    expect(decide({}, { taker: { ...taker, hash: '0x1' }, head: 1_000 })).toMatchObject({
      act: 'wait',
      isForeign: false,
    })
  })

  it('by a form of its own that is not kept here is its own', () => {
    expect(decide({}, { taker: { ...taker, to, data: '0x12' } })).toEqual({ act: 'adopt', isCancellation: false })
    expect(decide({ cancelling: true })).toEqual({ act: 'adopt', isCancellation: true })
  })

  it('by another frees it once that is final and more than one answer says so', () => {
    expect(decide({}, { isSure: false, head: 1_000 })).toMatchObject({ act: 'wait', isForeign: true })
    expect(decide({}, { head: 161 })).toMatchObject({ act: 'wait', isForeign: true })
    expect(decide({}, { head: 162 })).toMatchObject({ act: 'requeue' })
  })
})

describe('whether a key signs', () => {
  const state = { next: 5, latest: 5, pending: 5, isSure: true, releasedMs: undefined }
  it.each([
    ['goes on where all its transactions are ours', state, { act: 'go' }],
    ['goes on behind its node', { ...state, latest: 3, pending: 3 }, { act: 'go' }],
    [
      'waits for another word where one node counts more',
      { ...state, latest: 1_000, pending: 1_000, isSure: false },
      { act: 'doubt' },
    ],
    ['stops where more are mined than ours', { ...state, latest: 6, pending: 6 }, { act: 'stop' }],
    ['stops where others are on their way', { ...state, pending: 6 }, { act: 'stop' }],
    [
      'takes what is mined when it is released',
      { ...state, latest: 7, pending: 7, releasedMs: 0 },
      { act: 'accept', count: 7 },
    ],
    [
      'waits for what is on its way when it is released: it may be what is in the queue',
      { ...state, latest: 6, pending: 7, releasedMs: 599_999 },
      { act: 'stop' },
    ],
    [
      'takes what is still on its way ten minutes after it was released',
      { ...state, latest: 6, pending: 7, releasedMs: 600_000 },
      { act: 'accept', count: 7 },
    ],
    [
      'begins at the count that is sure',
      { ...state, next: undefined, latest: 57, pending: 57 },
      { act: 'accept', count: 57 },
    ],
    [
      'begins at no count that one node tells',
      { ...state, next: undefined, latest: 57, pending: 57, isSure: false },
      { act: 'doubt' },
    ],
    ['does not begin while others are on their way', { ...state, next: undefined, pending: 6 }, { act: 'stop' }],
  ])('%s', (_, given, act) => {
    expect(decideKey(given)).toMatchObject(act)
  })

  it('takes the lowest free nonce where a gap is known to be one, else the one after all', () => {
    expect(pickNonce({ counted: 3, next: 8, isGapSure: false }, [3, 4, 6, 7])).toBe(8)
    expect(pickNonce({ counted: 3, next: 8, isGapSure: true }, [3, 4, 6, 7])).toBe(5)
    expect(pickNonce({ counted: 3, next: 8, isGapSure: true }, [3, 4, 5, 6, 7])).toBe(8)
    expect(pickNonce({ counted: 9, next: 8, isGapSure: false }, [])).toBe(9)
  })
})

const plenty = 10n ** 30n
const bounds: Bounds = { gasPrice: 1_000n, available: plenty, dayLeft: plenty }
const level = { baseFee: 100n, tip: 10n }

describe('a queued transaction', () => {
  // Ten units of gas and a value of 50: 1,150 at the present price, 2,150 with room for the base fee to double.
  const given = { gasLimit: 10n, level, posting: 0n, bounds }
  const row = { value: 50n, costMax: plenty }
  const hold = (held: string) => ({ act: 'hold', held })

  it.each([
    [
      'is signed with room for the base fee to double',
      row,
      given,
      { act: 'sign', fees: { maxFee: 210n }, reserved: 2_150n },
    ],
    [
      'is signed within its own cap',
      { ...row, costMax: 1_150n },
      given,
      { act: 'sign', fees: { maxFee: 110n }, reserved: 1_150n },
    ],
    ['is too dear a unit above its cap', { ...row, costMax: 1_149n }, given, hold('tooDear')],
    ['counts what posting costs', { ...row, costMax: 1_150n }, { ...given, posting: 1n }, hold('tooDear')],
    ['is too dear where gas is', row, { ...given, bounds: { ...bounds, gasPrice: 109n } }, hold('tooDear')],
    [
      'is signed with what its key holds',
      row,
      { ...given, bounds: { ...bounds, available: 1_150n } },
      { act: 'sign', reserved: 1_150n },
    ],
    [
      'lacks funds a unit below what is signed',
      row,
      { ...given, bounds: { ...bounds, available: 1_149n } },
      hold('noFunds'),
    ],
    [
      'is signed with what is left of the day',
      row,
      { ...given, bounds: { ...bounds, dayLeft: 1_150n } },
      { act: 'sign', reserved: 1_150n },
    ],
    ['waits for the day a unit below', row, { ...given, bounds: { ...bounds, dayLeft: 1_149n } }, hold('dayBudget')],
    ['waits on a day of nothing', row, { ...given, bounds: { ...bounds, dayLeft: 0n } }, hold('dayBudget')],
  ])('%s', (_, outgoing, inputs, act) => {
    expect(decideSend(outgoing, inputs)).toMatchObject(act)
  })

  it('has a quarter more gas than is estimated, and no more than one may have', () => {
    expect([toGasLimit(100n, 1_000n), toGasLimit(900n, 1_000n), toGasLimit(1_001n, 1_000n)]).toEqual([
      125n,
      1_000n,
      undefined,
    ])
  })
})

describe('a transaction that waits to be mined', () => {
  const row = { value: 50n, costMax: plenty, cancelling: false }
  const last = { isCancellation: false, maxFee: 200n, tip: 10n, taken: true, raw: '0x02' }
  const given = { level, bounds, isStuck: false, gasLimit: 10n, emptyGas: 4n, posting: 0n }

  it.each([
    ['is handed out again', row, last, given, { act: 'hand' }],
    [
      'is offered for more where it is stuck, its value counted',
      row,
      last,
      { ...given, isStuck: true },
      { act: 'sign', fees: { maxFee: 225n, tip: 12n }, reserved: 2_300n },
    ],
    [
      'is offered for more up to its own cap',
      { ...row, costMax: 2_300n },
      last,
      { ...given, isStuck: true },
      { act: 'sign', reserved: 2_300n },
    ],
    [
      'is not offered for more above its own cap',
      { ...row, costMax: 2_299n },
      last,
      { ...given, isStuck: true },
      { act: 'hold', held: 'tooDear' },
    ],
    [
      'is not offered for more than its key holds',
      row,
      last,
      { ...given, isStuck: true, bounds: { ...bounds, available: 2_299n } },
      { act: 'hold', held: 'noFunds' },
    ],
    [
      'is not offered for more than is left of the day',
      row,
      last,
      { ...given, isStuck: true, bounds: { ...bounds, dayLeft: 2_299n } },
      { act: 'hold', held: 'dayBudget' },
    ],
    [
      'is cancelled by an empty one that is dearer',
      { ...row, cancelling: true },
      last,
      given,
      { act: 'sign', isCancellation: true, fees: { maxFee: 225n }, reserved: 900n },
    ],
    [
      'comes down where no node took it and the price fell',
      row,
      { ...last, maxFee: 1_000n, taken: false },
      given,
      { act: 'sign', fees: { maxFee: 210n, tip: 10n } },
    ],
    ['stays where a node took it', row, { ...last, maxFee: 1_000n }, given, { act: 'hand' }],
    [
      'stays where it is not known whether a node took it',
      row,
      { ...last, maxFee: 1_000n, taken: null },
      given,
      { act: 'hand' },
    ],
    [
      'is signed anew where its bytes are not known here',
      row,
      { ...last, raw: '0x' },
      given,
      { act: 'sign', fees: { maxFee: 225n } },
    ],
  ])('%s', (_, outgoing, form, inputs, act) => {
    expect(decideOffer(outgoing, form, inputs)).toMatchObject(act)
  })
})
