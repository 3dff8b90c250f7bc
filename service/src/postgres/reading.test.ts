import { describe, expect, it } from 'vitest'
import {
  chooseReader,
  findLate,
  lagBytesMax,
  parsePosition,
  type Reader,
  type ReplicaState,
  type Seen,
} from './reading.js'

const state = (replayed: bigint, lastEvent: number, other: Partial<ReplicaState> = {}): ReplicaState => ({
  ...{ isReplica: true, replayed, lastEvent, lagBytes: 0 },
  ...other,
})
const seen = (lastWrite: string | null, lastEvent: number): Seen => ({ lastWrite, lastEvent })
const far = state(0x100n, 9)

describe('who serves a read', () => {
  it.each<[string, (ReplicaState | undefined)[], Seen | undefined, number, Reader | undefined, Reader]>([
    ['the replica that is far enough', [far], seen('0/100', 9), 0, undefined, 0],
    ['a replica for a key that never wrote', [state(0n, 0)], seen(null, 0), 0, undefined, 0],
    ['the primary where what was seen is not known', [far], undefined, 0, undefined, 'primary'],
    ['the primary without replicas', [], seen(null, 0), 0, undefined, 'primary'],
    ['the primary before the write of the key is replayed', [far], seen('0/101', 9), 0, undefined, 'primary'],
    ['the primary before the last event is there', [far], seen('0/100', 10), 0, undefined, 'primary'],
    ['the preferred of two', [far, far], seen(null, 9), 1, undefined, 1],
    ['the other one where the preferred is behind', [far, state(1n, 9)], seen('0/100', 9), 1, undefined, 0],
    ['the other one where the preferred is away', [undefined, far], seen(null, 9), 0, undefined, 1],
    ['nobody but the primary where all are away', [undefined, undefined], seen(null, 0), 1, undefined, 'primary'],
    [
      'not a server that was promoted',
      [state(0x100n, 9, { isReplica: false })],
      seen(null, 0),
      0,
      undefined,
      'primary',
    ],
    [
      'one that is behind by what is allowed',
      [state(1n, 9, { lagBytes: lagBytesMax })],
      seen(null, 9),
      0,
      undefined,
      0,
    ],
    ['not one that lags more', [state(1n, 9, { lagBytes: lagBytesMax + 1 })], seen(null, 9), 0, undefined, 'primary'],
    ['who served page 1 serves page 2', [far, far], seen(null, 9), 0, 1, 1],
    ['the primary serves page 2 where it served page 1', [far, far], seen(null, 9), 0, 'primary', 'primary'],
    ['the primary serves page 2 where the replica is away', [far, undefined], seen(null, 9), 0, 1, 'primary'],
  ])('is %s', (_name, replicas, needed, preferred, before, reader) => {
    expect(chooseReader(replicas, needed, { preferred, before })).toBe(reader)
  })
})

describe('who is asked again', () => {
  it.each<[string, (ReplicaState | undefined)[], Reader | undefined, number | undefined]>([
    ['one that is well', [far, far], undefined, 0],
    ['the next where the first is away', [undefined, far], undefined, 1],
    ['nobody where all are promoted or lag', [state(1n, 9, { isReplica: false })], undefined, undefined],
    ['nobody for what goes on from the primary', [far], 'primary', undefined],
    ['the one that served before', [far, far], 1, 1],
  ])('is %s', (_name, replicas, before, place) => {
    expect(findLate(replicas, seen('F/0', 99), { preferred: 0, before })).toBe(place)
  })
})

describe('a position', () => {
  it('counts the high half above the low one', () => {
    expect(parsePosition('0/FFFFFFFF')).toBe(0xffff_ffffn)
    expect(parsePosition('1/0')).toBe(0x1_0000_0000n)
    expect(parsePosition('16/B374D848')).toBe(0x16_b374_d848n)
  })
})
