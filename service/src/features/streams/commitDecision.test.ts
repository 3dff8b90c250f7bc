import { describe, expect, it } from 'vitest'
import {
  type CommitCourse,
  type CommitDecision,
  decideCommit,
  isForeignRoot,
  isVetoable,
  retryMs,
  type Sent,
} from './commitDecision.js'

const at = 1_760_000_000
const now = new Date((at + 7_200) * 1_000)
const before = (ms: number) => new Date(now.getTime() - ms)
const [root, older] = [`0x${'aa'.repeat(32)}`, `0x${'bb'.repeat(32)}`]

/** A root that was computed two hours ago and waits for its first commit. */
const course: CommitCourse = {
  snapshot: { at, root, rootedAt: before(7_200_000), total: 10n, updatedAt: before(7_200_000) },
  ...{ held: undefined, sent: undefined, before: [], finalTo: 100, vetoSeconds: 3_600, now },
}
const held = (over: Partial<NonNullable<CommitCourse['held']>> = {}) => ({
  held: { root: older, total: 9n, rootAt: new Date((at - 43_200) * 1_000), ...over },
})
const of = (state: NonNullable<Sent>['state'], blockNumber: number | null = null): Sent => ({ state, blockNumber })
const snapshot = (over: Partial<CommitCourse['snapshot']>) => ({ snapshot: { ...course.snapshot, ...over } })
const fresh = snapshot({ updatedAt: before(retryMs - 1) })
const due = snapshot({ updatedAt: before(retryMs) })

describe('the root of a snapshot', () => {
  it.each<[string, Partial<CommitCourse>, CommitDecision]>([
    ['is committed once its time to be vetoed is over', {}, 'commit'],
    ['… and at that very instant', snapshot({ rootedAt: before(3_600_000) }), 'commit'],
    ['waits while it can be vetoed', snapshot({ rootedAt: before(3_599_999) }), 'wait'],
    ['is not there before its tree is computed', snapshot({ root: null, rootedAt: null }), 'nothing to commit'],
    ['is not committed where nothing is allocated', snapshot({ total: 0n }), 'nothing to commit'],
    ['is committed after an older one', held(), 'commit'],
    [
      'is not committed a second time once it stands',
      held({ root, total: 10n, rootAt: new Date(at * 1_000) }),
      'stands',
    ],
    ['is not committed of an instant the contract has a root of', held({ rootAt: new Date(at * 1_000) }), 'stands'],
    ['is committed one second after the newest', held({ rootAt: new Date((at - 1) * 1_000) }), 'commit'],
    ['is not committed below a newer one', held({ rootAt: new Date((at + 1) * 1_000) }), 'stands'],
    ['is not committed where root and total are those the contract holds', held({ root, total: 10n }), 'stands'],
    ['is committed where the total alone is another', held({ root, total: 9n }), 'commit'],
    ['is committed where the root alone is another', held({ total: 10n }), 'commit'],
    ['waits for its transaction in the queue', { ...due, sent: of('queued') }, 'wait'],
    ['waits for its transaction on the way', { ...due, sent: of('sent') }, 'wait'],
    ['waits for the block of its transaction to be final', { ...due, sent: of('confirmed', 101) }, 'wait'],
    ['waits where nothing of the chain is final', { ...due, sent: of('confirmed', 1), finalTo: undefined }, 'wait'],
    ['waits where the block is not known', { ...due, sent: of('confirmed') }, 'wait'],
    ['is committed again where that block is final without it', { ...due, sent: of('confirmed', 100) }, 'commit again'],
    ['… after ten minutes', { ...fresh, sent: of('confirmed', 100) }, 'wait'],
    ['is committed again after a transaction that reverted', { ...due, sent: of('reverted', 90) }, 'commit again'],
    ['… after ten minutes', { ...fresh, sent: of('reverted', 90) }, 'wait'],
    ['is committed again after one that was not sent', { ...due, sent: of('failed') }, 'commit again'],
    ['… after ten minutes', { ...fresh, sent: of('failed') }, 'wait'],
    ['is committed again after one that is not known any more', { ...due, sent: null }, 'commit again'],
    ['is vetoed by cancelling its commit', { ...fresh, sent: of('cancelled') }, 'veto'],
    ['… but not where it stands', { ...held({ rootAt: new Date(at * 1_000) }), sent: of('cancelled') }, 'stands'],
    ['waits for a commit before it in the queue', { before: [of('queued')] }, 'wait'],
    ['… on its way', { before: [of('cancelled'), of('sent')] }, 'wait'],
    ['… in a block that is not final', { before: [of('confirmed', 101)] }, 'wait'],
    [
      'does not wait for those that are over',
      { before: [of('confirmed', 100), of('cancelled'), of('failed'), of('reverted', 5), null] },
      'commit',
    ],
  ])('%s', (_promise, over, decision) => {
    expect(decideCommit({ ...course, ...over })).toBe(decision)
  })
})

it.each([
  ['ours stops nothing', { root }, { isOwn: true, alarm: null }, false],
  ['no root stops nothing', undefined, { isOwn: false, alarm: null }, false],
  ['a foreign one stops the commits', { root }, { isOwn: false, alarm: null }, true],
  [
    'one an operator resumed over does not',
    { root },
    { isOwn: false, alarm: `the root ${root} is none of ours` },
    false,
  ],
  ['another one after it does', { root }, { isOwn: false, alarm: `the root ${older} is none of ours` }, true],
])('of roots on the chain %s', (_promise, newest, known, stops) => {
  expect(isForeignRoot(newest, known)).toBe(stops)
})

it.each<[string, Partial<CommitCourse>, boolean]>([
  ['without a commit', {}, true],
  ['whose commit was cancelled', { sent: of('cancelled') }, true],
  ['whose commit was not sent', { sent: of('failed') }, true],
  ['whose commit reverted', { sent: of('reverted', 90) }, true],
  ['whose commit is not known any more', { sent: null }, true],
  ['whose commit is in the queue', { sent: of('queued') }, false],
  ['whose commit is on its way', { sent: of('sent') }, false],
  ['whose commit was mined', { sent: of('confirmed', 90) }, false],
  ['whose root stands', { ...held({ rootAt: new Date(at * 1_000) }), sent: of('cancelled') }, false],
  ['of a later instant than the newest root', { ...held(), sent: of('cancelled') }, true],
])('a snapshot %s can be vetoed: %#', (_promise, over, can) => {
  expect(isVetoable({ ...course, ...over })).toBe(can)
})
