import { describe, expect, it } from 'vitest'
import { decide, type Facts } from './decide.js'
import type { Step } from './state.js'

/** A chain at its head: block 100 is its tip and the head, 90 is final and was looked at again. */
type Over = Omit<Partial<Facts>, 'cursor' | 'head' | 'held'> & {
  cursor?: Partial<Facts['cursor']>
  head?: Partial<Facts['head']>
  /** Projections by when they are derived, and sources by whether they are read. */
  opened?: readonly ('head' | 'confirmed')[]
  synced?: readonly boolean[]
}

function factsOf({ cursor, head, opened = ['head'], synced = [true], ...over }: Over): Facts {
  return {
    cursor: { blockNumber: 100, blockHash: 'a100', checkedTo: 90, finalizedNumber: 90, ...cursor },
    head: { number: 100, hash: 'a100', ...head },
    hashAtHead: 'a100',
    final: { number: 90 },
    held: {
      taken: {
        opened: opened.map((at) => ({ projection: { at } })),
        sources: synced.map((each) => ({ synced: each })),
      },
    },
    ...{ isForked: false, done: [], isMore: false, areTracesAwaited: false },
    ...{ nowMs: 1_000_000, pace: { finalMs: 0, againMs: 10_000, againBlocks: 50 } },
    memory: { suspect: {}, again: { atMs: 0, blocks: 200 } },
    ...over,
  }
}

const cases: Record<string, [what: string, step: Step, over: Over][]> = {
  'a new head': [
    ['that is the tip is nothing new', 'rest', {}],
    ['below the tip that is ours is nothing new', 'rest', { head: { number: 98, hash: 'a98' }, hashAtHead: 'a98' }],
    ['below the tip where no header is kept is nothing new', 'rest', { head: { number: 7 }, hashAtHead: undefined }],
    ['below the tip that is not ours is a fork', 'fork', { head: { number: 98, hash: 'b98' }, hashAtHead: 'a98' }],
    ['at the tip that is not ours is a fork', 'fork', { head: { hash: 'b100' } }],
    [
      'before the first block is nothing new',
      'rest',
      { cursor: { blockHash: '' }, head: { hash: 'b100' }, hashAtHead: '' },
    ],
    ['right above the tip is read by its hash', 'blocks', { head: { number: 101, hash: 'a101' } }],
    [
      'far above the tip with nothing final between is read by hashes',
      'blocks',
      { head: { number: 500 }, final: { number: 100 } },
    ],
    [
      'of a chain where nothing is final is read by hashes',
      'blocks',
      { head: { number: 500 }, final: { number: null } },
    ],
    [
      'far above the tip with final blocks between is read in windows',
      'range',
      { head: { number: 500 }, final: { number: 101 } },
    ],
    [
      '31 blocks above the first final one is read by hashes',
      'blocks',
      { head: { number: 132 }, final: { number: 132 } },
    ],
    ['32 blocks above it is read in windows', 'range', { head: { number: 133 }, final: { number: 133 } }],
    [
      'below the first block is read in windows',
      'range',
      { cursor: { blockNumber: -1, blockHash: '' }, head: { number: 500 } },
    ],
  ],
  'a step that': [
    [
      'met a fork is followed by the search for the ancestor',
      'fork',
      { isForked: true, done: ['blocks'], head: { number: 500 } },
    ],
    ['searched and has to go on is followed by itself', 'fork', { isForked: true, done: ['fork'] }],
    ['ended the turn is followed by none', 'rest', { isForked: true, done: ['fork'], result: 'progress' }],
    ['read blocks is the only one of its turn', 'rest', { done: ['blocks'], head: { number: 500 } }],
    [
      'read a window is the only one of its turn',
      'rest',
      { done: ['range'], head: { number: 500 }, final: { number: 400 } },
    ],
    [
      'read blocks is followed by the past also while the head is far',
      'past',
      { done: ['blocks'], head: { number: 500 }, synced: [false] },
    ],
    ['read blocks leaves the hash at the earlier head aside', 'rest', { done: ['blocks'], hashAtHead: 'z' }],
  ],
  'what was put off': [
    ['is derived once a turn', 'confirm', { opened: ['head', 'confirmed'] }],
    ['is derived after the head', 'blocks', { opened: ['head', 'confirmed'], head: { number: 101 } }],
    ['is derived before the past', 'confirm', { opened: ['confirmed'], synced: [false] }],
    [
      'is derived once and then the past is read',
      'past',
      { opened: ['confirmed'], synced: [true, false], done: ['confirm'] },
    ],
    [
      'makes the past wait while there is more',
      'rest',
      { opened: ['confirmed'], synced: [false], done: ['confirm'], isMore: true },
    ],
  ],
  'the past of sources': [
    ['is read where one is not read as far as the chain', 'past', { synced: [true, false] }],
    ['is read one window a turn', 'rest', { synced: [false], done: ['past'], isMore: true }],
    ['makes traces wait', 'rest', { synced: [false], done: ['past'], isMore: true, areTracesAwaited: true }],
  ],
  'a chain at its head': [
    ['takes up traces', 'traces', { areTracesAwaited: true }],
    ['takes up traces once a turn', 'rest', { areTracesAwaited: true, done: ['traces'] }],
    ['takes up traces before it looks again', 'traces', { areTracesAwaited: true, cursor: { checkedTo: 20 } }],
    [
      'looks again where enough blocks wait',
      'recheck',
      { cursor: { checkedTo: 40 }, memory: { suspect: {}, again: { atMs: 1_000_000, blocks: 200 } } },
    ],
    [
      'waits where one less waits and it looked just now',
      'rest',
      { cursor: { checkedTo: 41 }, memory: { suspect: {}, again: { atMs: 1_000_000, blocks: 200 } } },
    ],
    [
      'looks again where few wait for long',
      'recheck',
      { cursor: { checkedTo: 89 }, memory: { suspect: {}, again: { atMs: 990_000, blocks: 200 } } },
    ],
    [
      'waits a millisecond before that',
      'rest',
      { cursor: { checkedTo: 89 }, memory: { suspect: {}, again: { atMs: 990_001, blocks: 200 } } },
    ],
    ['looks again once a turn', 'rest', { cursor: { checkedTo: 20 }, done: ['recheck'] }],
    ['looks at no block above its tip', 'rest', { cursor: { checkedTo: 100, finalizedNumber: 300 } }],
    ['looks at nothing where nothing is final', 'rest', { cursor: { checkedTo: -1, finalizedNumber: null } }],
    [
      'waits where a node lied just now',
      'rest',
      { cursor: { checkedTo: 20 }, memory: { suspect: { untilMs: 1_000_001 }, again: { atMs: 0, blocks: 200 } } },
    ],
    [
      'looks again when that is over',
      'recheck',
      { cursor: { checkedTo: 20 }, memory: { suspect: { untilMs: 1_000_000 }, again: { atMs: 0, blocks: 200 } } },
    ],
  ],
  'a chain that catches up': [
    ['leaves traces for later', 'rest', { head: { number: 133 }, done: ['blocks'], areTracesAwaited: true }],
    [
      'leaves the second look for later',
      'rest',
      { head: { number: 133 }, done: ['blocks'], cursor: { checkedTo: 20 } },
    ],
    [
      'has time 32 blocks behind the head',
      'traces',
      { head: { number: 132 }, done: ['blocks'], areTracesAwaited: true },
    ],
  ],
}

describe.each(Object.entries(cases))('%s', (_of, own) => {
  it.each(own)('%s: %s', (_what, step, over) => {
    expect(decide(factsOf(over))).toBe(step)
  })
})
