import { describe, expect, it } from 'vitest'
import { type KeyRecord, standingOf } from './lease.js'

const at = (seconds: number) => new Date(Date.parse('2026-11-20T12:00:00Z') + seconds * 1_000)
const same = Buffer.from('what is asked')
/** Taken at 0, leased for a minute, kept for an hour. */
const atWork: KeyRecord = {
  ...{ fingerprint: same, turn: 'a', leasedUntil: at(60), expiresAt: at(3_600) },
  ...{ status: null, body: null },
}
const answered: KeyRecord = { ...atWork, status: 200, body: '{}' }
const other = Buffer.from('something else')

describe('how an Idempotency-Key stands to a request', () => {
  it.each<[string, KeyRecord | undefined, number, Buffer, string]>([
    ['a key nobody has used', undefined, 0, same, 'free'],
    ['a request at work', atWork, 0, same, 'at work'],
    ['a request at work, to the last millisecond of its lease', atWork, 59.999, same, 'at work'],
    ['a request whose lease has run out', atWork, 60, same, 'free'],
    ['a different request at work', atWork, 59.999, other, 'taken'],
    ['a different request whose lease has run out', atWork, 60, other, 'free'],
    ['an answer', answered, 0, same, 'answered'],
    ['an answer whose lease has run out', answered, 60, same, 'answered'],
    ['an answer long after its lease', answered, 3_599.999, same, 'answered'],
    ['the answer to a different request', answered, 60, other, 'taken'],
    ['an answer that has expired', answered, 3_600, same, 'free'],
    ['the answer to a different request that has expired', answered, 3_600, other, 'free'],
    [
      'a request at work that is to be kept no longer than its lease',
      { ...atWork, expiresAt: at(30) },
      30,
      same,
      'free',
    ],
  ])('%s', (_case, record, seconds, fingerprint, kind) => {
    expect(standingOf(record, fingerprint, at(seconds)).kind).toBe(kind)
  })

  it('gives the answer as it is kept', () => {
    expect(standingOf(answered, same, at(60))).toEqual({ kind: 'answered', answer: { status: 200, body: '{}' } })
  })
})
