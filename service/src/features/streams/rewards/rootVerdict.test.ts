import { describe, expect, it } from 'vitest'
import { buildTree } from '../tree.js'
import {
  checkTree,
  compareLeaves,
  describeLeaf,
  follow,
  isDue,
  judgeReadings,
  type RootReading,
  type RootResult,
  type RootVerdict,
} from './rootVerdict.js'

const rootOf = (digit: string): RootResult => ({ root: `0x${digit.repeat(64)}`, total: 10n })
const [claimed, other, third] = [rootOf('a'), rootOf('b'), rootOf('c')]
const recheckMs = 2_000
const at = (ms: number) => new Date(1_760_000_000_000 + ms)

/** A source that came to a result at once, or twice some milliseconds apart. */
const read = (
  source: string,
  result: RootResult | undefined,
  over: Partial<RootReading> & { apart?: number } = {},
): RootReading => {
  const { apart = 0, ...rest } = over
  return {
    ...{ source, kind: source === 'stored' ? 'stored' : 'node', result, problems: [], since: at(0), readAt: at(apart) },
    ...rest,
  }
}
const twice = { apart: recheckMs }

describe('the verdict on a root', () => {
  it.each<[string, readonly RootReading[], RootVerdict]>([
    [
      'is that it is right where the stored facts and every url come to it',
      [read('stored', claimed), read('a', claimed)],
      'right',
    ],
    ['… by the stored facts alone, where no url is asked', [read('stored', claimed)], 'right'],
    ['is open before anything was read', [], 'open'],
    ['is open while a node lags', [read('stored', claimed), read('a', undefined)], 'open'],
    ['is open where nobody can tell', [read('stored', undefined), read('a', undefined, twice)], 'open'],
    ['is a veto where two urls agree on another', [read('stored', other), read('a', other), read('b', other)], 'veto'],
    ['… against stored facts that are cut', [read('stored', claimed), read('a', other), read('b', other)], 'veto'],
    [
      '… against the third of three urls',
      [read('stored', other), read('a', other), read('b', other), read('c', claimed)],
      'veto',
    ],
    ['… on another total alone', ['a', 'b'].map((url) => read(url, { ...claimed, total: 11n })), 'veto'],
    [
      'is an alarm where two urls stand against two, and the stored facts with the root',
      [
        read('stored', claimed),
        ...['a', 'b'].map((url) => read(url, other, twice)),
        ...['c', 'd'].map((url) => read(url, claimed)),
      ],
      'alarm',
    ],
    ['is an alarm where one url stands against one source', [read('stored', claimed), read('a', other)], 'alarm'],
    ['… however often it says so', [read('stored', claimed), read('a', other, { apart: 3_600_000 })], 'alarm'],
    [
      '… where the other url comes to the root',
      [read('stored', other), read('a', other, twice), read('b', claimed)],
      'alarm',
    ],
    ['… where the other url lags', [read('stored', claimed), read('a', other, twice), read('b', undefined)], 'alarm'],
    ['… where the stored facts cannot tell', [read('stored', undefined), read('a', other, twice)], 'alarm'],
    ['… where the stored facts come to a third', [read('stored', third), read('a', other, twice)], 'alarm'],
    [
      'is a veto where one url says it twice and the stored facts agree',
      [read('stored', other), read('a', other, twice)],
      'veto',
    ],
    ['… while another url lags', [read('stored', other), read('a', other, twice), read('b', undefined)], 'veto'],
    ['… and lies otherwise', [read('stored', other), read('a', other, twice), read('b', third, twice)], 'veto'],
    ['is an alarm where it says it once', [read('stored', other), read('a', other)], 'alarm'],
    [
      '… or twice within the time of a second look',
      [read('stored', other), read('a', other, { apart: recheckMs - 1 })],
      'alarm',
    ],
    [
      'is an alarm where two urls contradict each other and the root',
      [read('stored', claimed), read('a', other, twice), read('b', third, twice)],
      'alarm',
    ],
    [
      'is an alarm where the stored facts alone come to another',
      [read('stored', other, twice), read('a', claimed)],
      'alarm',
    ],
    ['… without any url', [read('stored', other, twice)], 'alarm'],
    [
      'is an alarm where the root is right and something else is wrong',
      [read('stored', claimed, { problems: ['x'] }), read('a', claimed)],
      'alarm',
    ],
    [
      'is no alarm for the reason why a node cannot tell',
      [read('stored', claimed), read('a', undefined, { problems: ['x'] })],
      'open',
    ],
  ])('%s', (_promise, readings, verdict) => {
    expect(judgeReadings(claimed, readings, { recheckMs })).toBe(verdict)
    expect(judgeReadings(claimed, [...readings].reverse(), { recheckMs })).toBe(verdict)
  })

  it('needs two readings also where a second look may follow at once', () => {
    const [once, again] = [read('a', other), read('a', other, { apart: 1 })]
    expect(judgeReadings(claimed, [read('stored', other), once], { recheckMs: 0 })).toBe('alarm')
    expect(judgeReadings(claimed, [read('stored', other), again], { recheckMs: 0 })).toBe('veto')
  })
})

describe('a source', () => {
  it.each<[string, RootReading | undefined, number, boolean]>([
    ['is asked once', undefined, 0, true],
    ['is not asked again where it comes to the root', read('a', claimed), 1e9, false],
    ['is asked again where it comes to another, after the time of a second look', read('a', other), recheckMs, true],
    ['… and not before', read('a', other), recheckMs - 1, false],
    ['… and no third time where it said the same', read('a', other, twice), 1e9, false],
    ['is asked again a minute after it could not tell', read('a', undefined), 60_000, true],
    ['… and not before', read('a', undefined), 59_999, false],
    ['… for an hour', read('a', undefined, { apart: 3_540_000 }), 3_600_000, false],
  ])('%s', (_promise, reading, ms, due) => {
    expect(isDue(claimed, reading, { now: at(ms), recheckMs })).toBe(due)
  })

  it('says the same since it said it first, without another result in between', () => {
    const told = (result: RootResult | undefined, ms: number) => {
      const { since: _, ...reading } = read('a', result, { readAt: at(ms) })
      return reading
    }
    const first = follow(undefined, told(other, 5))
    expect(first.since).toEqual(at(5))
    expect(follow(first, told(other, 9))).toMatchObject({ since: at(5), readAt: at(9) })
    for (const result of [third, undefined, { ...other, total: 11n }])
      expect(follow(first, told(result, 9)).since).toEqual(at(9))
    const silent = follow(undefined, told(undefined, 5))
    expect([follow(silent, told(undefined, 9)).since, follow(silent, told(other, 9)).since]).toEqual([at(5), at(9)])
  })
})

describe('the leaves of a tree', () => {
  const [ann, bob, cat] = ['a', 'b', 'c'].map((letter) => `0x${letter.repeat(40)}`) as [string, string, string]
  const honest = [
    { wallet: ann, cumulative: 5n },
    { wallet: bob, cumulative: 7n },
  ]
  it.each([
    ['that are right differ in nothing', honest, []],
    ['tell one unit more', [{ wallet: ann, cumulative: 6n }, honest[1]!], [`${ann} has 6, and has earned 5`]],
    ['tell one that is dropped', [honest[1]!], [`${ann} is missing: it has earned 5`]],
    ['tell one that stands there twice', [...honest, honest[0]!], [`${ann} has 2 leaves, of 5 and 5: it has earned 5`]],
    [
      'tell one that has earned nothing',
      [...honest, { wallet: cat, cumulative: 1n }],
      [`${cat} has 1, and has earned 0`],
    ],
  ])('%s', (_promise, tree, lines) => {
    expect(compareLeaves(tree, honest).map(describeLeaf)).toEqual(lines)
  })

  it('have their own root and their own sum', () => {
    const root = buildTree(honest)?.root ?? null
    expect(checkTree({ root, total: 12n }, honest)).toEqual([])
    expect(checkTree({ root, total: 13n }, honest)).toEqual(['its leaves are 12 in all, and it says 13'])
    expect(checkTree({ root, total: 5n }, [honest[0]!])).toEqual([
      expect.stringMatching(/^its leaves have the root 0x/),
    ])
    expect(checkTree({ root, total: 0n }, [])).toEqual(['its leaves have no root'])
  })
})
