import { describe, expect, it } from 'vitest'
import { isNext, isTooMany, type Watcher } from './share.js'

/** Watchers by what they have; all know the chains 1 to 9. */
const all = [1, 2, 3, 4, 5, 6, 7, 8, 9]
const watchers = (...held: number[][]): Watcher[] => held.map((each, pid) => ({ pid, known: all, held: each }))

describe('a free chain', () => {
  it.each([
    ['is taken by the only process', watchers([1, 2]), true],
    ['is taken by one of those that have the fewest', watchers([1], [2], [3, 4]), true],
    ['is left to one that has fewer', watchers([1, 2], [3]), false],
    [
      'is taken though one has fewer, which does not know it',
      [...watchers([1, 2]), { pid: 1, known: [3], held: [] }],
      true,
    ],
  ])('%s', (_, given, expected) => {
    expect(isNext(given, 0, 9)).toBe(expected)
  })
})

describe('a chain that is followed', () => {
  it.each([
    ['stays where it is alone', watchers([1, 2, 3]), false],
    ['stays where another has one less', watchers([1, 2], [3]), false],
    ['is left where another has two less', watchers([1, 2], []), true],
    ['stays where the other does not know it', [...watchers([1, 2]), { pid: 1, known: [3], held: [] }], false],
  ])('%s', (_, given, expected) => {
    expect(isTooMany(given, 0, 1)).toBe(expected)
  })

  it('comes to rest: from any shares, moves end, and then no two differ by more than one', () => {
    for (let seed = 0; seed < 3 ** 6; seed++) {
      const held: number[][] = [[], [], []]
      for (let chain = 1; chain <= 6; chain++) held[Math.floor(seed / 3 ** (chain - 1)) % 3]?.push(chain)
      let moves = 0
      for (let isMoving = true; isMoving; ) {
        isMoving = false
        for (const [own, list] of held.entries()) {
          const chain = list[0]
          if (chain === undefined || !isTooMany(watchers(...held), own, chain)) continue
          list.shift()
          const taker = held.findIndex((_, pid) => isNext(watchers(...held), pid, chain))
          expect(taker).not.toBe(own)
          held[taker]?.push(chain)
          isMoving = true
          moves += 1
        }
        expect(moves).toBeLessThan(20)
      }
      expect(held.map(({ length }) => length)).toEqual([2, 2, 2])
    }
  })
})
