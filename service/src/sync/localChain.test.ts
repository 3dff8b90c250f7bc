import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Header } from '../rpc/raw.js'
import { decideStep, finalNumber, judgeReorg } from './localChain.js'

const header = (number: number, fork = 'a', parentFork = fork): Header => ({
  number,
  hash: `${fork}${number}`,
  parentHash: `${parentFork}${number - 1}`,
  timestamp: number,
})
const local = (number: number) => (number <= 10 ? `a${number}` : undefined)
const tip = { number: 10, hash: 'a10' }

describe('decideStep', () => {
  it('appends the next block only when it names the tip as its parent', () => {
    expect(decideStep(tip, header(11), local)).toEqual({ kind: 'append' })
    expect(decideStep(tip, header(11, 'b'), local)).toEqual({ kind: 'fork' })
    expect(decideStep(tip, header(11, 'b', 'a'), local)).toEqual({ kind: 'append' })
  })

  it('takes any block at the right height as the first', () => {
    expect(decideStep({ number: 4, hash: '' }, header(5), () => undefined)).toEqual({ kind: 'append' })
  })

  it('asks for what lies between when blocks are missing', () => {
    expect(decideStep(tip, header(14), local)).toEqual({ kind: 'gap', next: 11 })
  })

  it('ignores a block it has, and a lower head of the same chain', () => {
    expect(decideStep(tip, header(10), local)).toEqual({ kind: 'known' })
    expect(decideStep(tip, header(7), local)).toEqual({ kind: 'known' })
  })

  it('sees a fork in another block at or below its tip, but not where it kept no header', () => {
    expect(decideStep(tip, header(10, 'b'), local)).toEqual({ kind: 'fork' })
    expect(decideStep(tip, header(3, 'b'), local)).toEqual({ kind: 'fork' })
    expect(decideStep(tip, header(3, 'b'), () => undefined)).toEqual({ kind: 'known' })
  })
})

describe('judgeReorg', () => {
  const rule = { head: 100, confirmations: 12, finalized: 60, finalityDepth: 64 }

  it('applies at once what removes no confirmed block', () => {
    expect(judgeReorg({ ...rule, ancestor: 90 })).toBe('apply')
    expect(judgeReorg({ ...rule, ancestor: 89 })).toBe('apply')
  })

  it('wants a second read once a confirmed block would go', () => {
    expect(judgeReorg({ ...rule, ancestor: 88 })).toBe('recheck')
    expect(judgeReorg({ ...rule, ancestor: 60 })).toBe('recheck')
  })

  it('never removes a final block by itself', () => {
    expect(judgeReorg({ ...rule, ancestor: 59 })).toBe('refuse')
    expect(judgeReorg({ ...rule, finalized: null, ancestor: 36 })).toBe('refuse')
    expect(judgeReorg({ ...rule, finalized: null, ancestor: 37 })).toBe('recheck')
  })

  it('is never milder for a deeper reorganisation', () => {
    const severity = { apply: 0, recheck: 1, refuse: 2 }
    fc.assert(
      fc.property(
        fc.nat(100),
        fc.nat(100),
        fc.integer({ min: 1, max: 64 }),
        fc.nat(100),
        (a, b, confirmations, finalized) => {
          const judge = (ancestor: number) =>
            severity[judgeReorg({ ancestor, head: 100, confirmations, finalized, finalityDepth: 64 })]
          expect(judge(Math.min(a, b))).toBeGreaterThanOrEqual(judge(Math.max(a, b)))
        },
      ),
    )
  })
})

describe('finalNumber', () => {
  it("takes the node's word, else the depth, and never goes back", () => {
    expect(finalNumber({ head: 100, finalized: 70, finalityDepth: 64, previous: null })).toBe(70)
    expect(finalNumber({ head: 100, finalized: null, finalityDepth: 64, previous: null })).toBe(37)
    expect(finalNumber({ head: 100, finalized: 70, finalityDepth: 64, previous: 80 })).toBe(80)
    expect(finalNumber({ head: 10, finalized: null, finalityDepth: 64, previous: null })).toBeNull()
  })
})
