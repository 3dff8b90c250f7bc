import { describe, expect, it } from 'vitest'
import { chooseRequestIds } from './requestIds.js'

const deposits = (...ids: (string | number)[]) => ids.map((id) => ({ kind: 'deposit' as const, requestId: String(id) }))
const redemption = (id: number) => ({ kind: 'redeem' as const, requestId: String(id) })
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

describe('the requests a vault is asked about', () => {
  it.each([
    ['id 0 where none is known', [], [0n], 0],
    ['id 0 where that alone is open', deposits(0), [0n], 0],
    ['those with ids of their own', deposits(7, 9), [7n, 9n], 0],
    ['no request twice where an id of 0 is open beside others', deposits(0, 7, 0, 9), [7n, 9n], 0],
    ['each id once', deposits(7, 7, 9), [7n, 9n], 0],
    ['those of one side alone', [...deposits(7), redemption(8)], [7n], 0],
    ['id 0 of a side that has none where the other has some', [redemption(8)], [0n], 0],
    ['32 of them at most', deposits(...upTo(32)), upTo(32).map(BigInt), 0],
    ['the first 32 of more, and how many are left out', deposits(...upTo(35)), upTo(32).map(BigInt), 3],
  ] as const)('are %s', (_case, open, ids, unasked) => {
    expect(chooseRequestIds(open, 'deposit')).toEqual({ ids, unasked })
  })
})
