import { expect, it } from 'vitest'
import { describeKey } from './describeKeys.js'
import type { SenderStatus } from './storeSenders.js'

const now = new Date('2026-01-01T01:00:00Z')
const status: SenderStatus = {
  ...{ chainId: 1, address: '0xaa', stopped: null, stoppedAt: null, isReleased: false, open: 0 },
  ...{ oldestId: null, oldestAt: null, oldestReason: null },
}

it('a key is well while nothing of it waits long, and else says why and what to do', () => {
  expect(describeKey(status, now)).toMatchObject({ name: 'sender 0xaa on 1', well: true, advice: '' })
  const open = {
    ...status,
    open: 2,
    oldestId: 'x',
    oldestReason: 'the sender holds 0',
    oldestAt: new Date('2026-01-01T00:30:00Z'),
  }
  expect(describeKey(open, now)).toMatchObject({ well: true })
  expect(describeKey({ ...open, oldestAt: new Date('2026-01-01T00:29:59Z') }, now)).toMatchObject({
    well: false,
    detail: '2 open, the oldest (x) for 1801 s: the sender holds 0',
    advice: expect.stringContaining('openearn sender cancel x'),
  })
  expect(describeKey({ ...status, stopped: 'the transaction of nonce 3 is not ours' }, now)).toMatchObject({
    well: false,
    detail: 'nothing is signed: the transaction of nonce 3 is not ours',
    advice: expect.stringContaining('openearn sender release 0xaa --chain 1'),
  })
})
