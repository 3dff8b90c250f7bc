import { expect, it } from 'vitest'
import type { RawLog } from '../rpc/raw.js'
import { isSame } from './fetch.js'

const word = (digit: string) => `0x${digit.repeat(64)}`
const log: RawLog = {
  ...{ blockNumber: 7, logIndex: 3, transactionIndex: 1, transactionHash: word('e') },
  ...{ address: `0x${'a'.repeat(40)}`, topics: [word('1'), word('2'), word('3')], data: '0x' },
}
const others: [string, Partial<RawLog>][] = [
  ['block', { blockNumber: 8 }],
  ['place', { logIndex: 4 }],
  ['transaction', { transactionHash: word('f') }],
  ['address', { address: `0x${'b'.repeat(40)}` }],
  ['data', { data: '0x00' }],
  ['first topic', { topics: [word('0'), word('2'), word('3')] }],
  ['last topic', { topics: [word('1'), word('2'), word('4')] }],
  ['number of topics', { topics: [word('1'), word('2')] }],
]

it.each(others)('logs of which one has another %s are not the same', (_what, change) => {
  expect(isSame([log, { ...log, ...change }], [log, log])).toBe(false)
  expect(isSame([{ ...log, ...change }], [log])).toBe(false)
})

it('logs are the same where each is, and none is missing', () => {
  expect(isSame([], [])).toBe(true)
  expect(isSame([log, log], [{ ...log }, { ...log }])).toBe(true)
  expect(isSame([log], [log, log])).toBe(false)
  expect(isSame([log, log], [log])).toBe(false)
})
