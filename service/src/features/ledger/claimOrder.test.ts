import { describe, expect, it } from 'vitest'
import type { Activity } from './activity.js'
import { orderByRequest } from './claimOrder.js'

const entry = (distributorId: string, logIndex: number, id = distributorId) =>
  ({ id, distributorId, logIndex, chainId: 1, blockNumber: 50 }) as Activity
const claimed = (distributorId: string | null, at: number, logIndex: number) => ({
  ...{ distributorId, logIndex, chainId: 1 },
  ...{ requestBlock: 10 + at, requestLog: 0 },
})
const order = (entries: Activity[], requests: ReturnType<typeof claimed>[], own?: string) =>
  orderByRequest(entries, requests, own).map(({ id }) => id)

describe('the entries of a transaction', () => {
  it('of one claim stand in the order of their oldest requests', () => {
    const entries = [entry('mobile', 3), entry('wallet', 3)]
    expect(order(entries, [claimed('wallet', 1, 3), claimed('mobile', 2, 3), claimed('wallet', 3, 3)])).toEqual([
      'wallet',
      'mobile',
    ])
    expect(order(entries, [claimed('mobile', 1, 3), claimed('wallet', 2, 3)])).toEqual(['mobile', 'wallet'])
  })

  it("count a request nobody brought for whom the claim's own code names", () => {
    const entries = [entry('mobile', 3), entry('wallet', 3)]
    expect(order(entries, [claimed(null, 1, 3), claimed('mobile', 2, 3)], 'wallet')).toEqual(['wallet', 'mobile'])
    expect(order(entries, [claimed(null, 1, 3), claimed('wallet', 2, 3), claimed('mobile', 3, 3)], 'mobile')).toEqual([
      'mobile',
      'wallet',
    ])
  })

  it('of several events stand oldest request first, deposits of their own after them in the order of their logs', () => {
    const entries = [entry('a', 2, 'own'), entry('a', 4, 'late'), entry('b', 6, 'early'), entry('c', 8, 'last')]
    expect(order(entries, [claimed('a', 5, 4), claimed('b', 1, 6)])).toEqual(['early', 'late', 'own', 'last'])
  })

  it('keep the order they have where no request is older', () => {
    const entries = [entry('b', 2, '1'), entry('a', 2, '2')]
    expect(order(entries, [])).toEqual(['1', '2'])
  })
})
