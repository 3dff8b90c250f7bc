import { DatabaseError } from 'pg'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'
import { OutboundError } from '../kernel/outbound.js'
import { createQuietLog, noRoom } from './quietLog.js'
import { createRepeats } from './repeats.js'

function open() {
  const lines: unknown[][] = []
  const log: Log = {
    ...{ debug: () => undefined, info: (...words: unknown[]) => lines.push(words) },
    ...{ warn: (...words: unknown[]) => lines.push(words), error: (...words: unknown[]) => lines.push(words) },
    child: () => log,
  }
  const clock = fakeClock('2026-01-01T00:00:00Z')
  return { lines, clock, log: createQuietLog(log, clock) }
}

const gone = (kind: 'network' | 'open' = 'network') => new OutboundError(kind, 'node:8545 could not be reached')

describe('the log of a process', () => {
  it('tells of a node that is gone once a minute, whoever meets it, and how often', () => {
    const { lines, clock, log } = open()
    for (let second = 0; second < 120; second++) {
      log.child({ chainId: 1 }).warn({ err: gone() }, `watching failed; trying again in ${second} ms`)
      log.warn({ err: gone('open') }, 'the vaults of a chain could not be read')
      log.error({ err: new Error('cannot be read', { cause: gone() }), code: 503 }, 'POST /v2 failed')
      clock.advance(1_000)
    }
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatchObject([{ times: 180 }, 'watching failed; trying again in 60 ms'])
  })

  it('says of a database without room what to do, whoever meets it first', () => {
    const { lines, clock, log } = open()
    const full = Object.assign(new DatabaseError('could not extend file "base/1"', 0, 'error'), { code: '53100' })
    for (let second = 0; second < 30; second++) {
      log.child({ chainId: 1 }).warn({ err: full }, 'the past of the vaults of a chain could not be read')
      log.error({ err: new Error('failed', { cause: full }), code: 503 }, 'POST /v2 failed')
      log.error({ err: full }, noRoom)
      clock.advance(1_000)
    }
    expect(lines).toEqual([[{ err: full }, noRoom]])
  })

  it('tells of one state once a minute, and of another at once', () => {
    const { lines, log } = open()
    for (const block of [1, 2, 3]) log.warn({ err: new Error(`block ${block} does not link`) }, 'watching failed')
    log.warn({ err: new Error('the node has no receipts') }, 'watching failed')
    expect(lines).toHaveLength(2)
  })

  it('tells of the same state of two chains for each of them', () => {
    const { lines, log } = open()
    for (const chainId of [1, 1, 2]) log.child({ chainId }).warn({ err: new Error('no receipts') }, 'watching failed')
    for (const chainId of [3, 3, 4]) log.warn({ err: new Error('no receipts'), chainId }, 'watching failed')
    expect(lines).toHaveLength(4)
  })

  it('writes every failure of ours, and all that is no failure', () => {
    const { lines, log } = open()
    for (let n = 0; n < 3; n++) {
      log.error({ err: new TypeError('x is undefined'), code: 500, requestId: String(n) }, 'GET /v2/chains/ failed')
      log.info({ n }, 'watching goes on')
      log.warn('said without fields')
    }
    expect(lines).toHaveLength(9)
  })
})

describe('what is said again', () => {
  it('says what lasts at once and then once a minute, each thing by itself', () => {
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const repeats = createRepeats(clock)
    const said: [string, number][] = []
    const say = (what: string) => repeats.say(what, (times) => said.push([what, times]))
    say('a')
    say('a')
    say('b')
    clock.advance(60_000)
    say('a')
    expect(said).toEqual([
      ['a', 1],
      ['b', 1],
      ['a', 2],
    ])
  })
})
