import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { listTransactionAttributions } from './index.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

describe('what was recorded of a transaction that was mined again', () => {
  it('has the live block last, also where it is lower than the one that was taken back', async () => {
    const hash = `0x${'ab'.repeat(32)}`
    for (const [number, retracted] of [
      [7, true],
      [5, false],
    ] as const)
      await test.db`
        insert into transaction_attributions (chain_id, block_number, block_timestamp, transaction_index, retracted,
          block_hash, transaction_hash, sender, codes)
        values (1, ${number}, now(), 0, ${retracted}, decode(lpad(${String(number)}, 64, '0'), 'hex'), hex_bytes(${hash}),
          decode(repeat('01', 20), 'hex'), '{}')`
    const rows = await listTransactionAttributions(test.db, hash)
    expect(rows.map(({ blockNumber, retracted }) => [blockNumber, retracted])).toEqual([
      [7, true],
      [5, false],
    ])
  })
})
