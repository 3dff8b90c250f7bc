import { zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { insertOneVault } from '../../../test/oneVault.js'
import { emptyState, requestKey } from '../../derive/rows.js'
import { newId } from '../../kernel/ids.js'
import { inPlace } from '../../sync/projection.js'
import { addRequests } from './storeState.js'

const chainId = 31_337
const vault = `0x${'cc'.repeat(20)}`
const wallet = `0x${'01'.repeat(20)}`

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
  await insertOneVault(test.db, { chainId, vault, asset: zeroAddress, distributorId: 'acme', startBlock: 1 })
})
afterAll(() => test?.close())

it('of all deposits of a wallet only those are loaded that may still be given back, so that the state does not grow with them', async () => {
  const { db } = test
  const [{ id: vaultId } = { id: 0 }] = await db<{ id: number }[]>`select id from vaults`
  const record = (number: number, openUntil: number | null, remaining = 9) => db`
    insert into requests (id, chain_id, block_number, block_timestamp, vault_id, transaction_index, log_index,
      transaction_hash, kind, controller, owner, request_id, amount, counted, lots, remaining, open_until)
    values (${newId()}, ${chainId}, ${number}, now(), ${vaultId}, 0, 0, sha256('x'), 'refund', hex_bytes(${wallet}),
      hex_bytes(${wallet}), ${number}, 9, 9, '', ${remaining}, ${openUntil})`
  for (let number = 1; number <= 100; number += 1) await record(number, 1_000 + number)
  await record(101, 5_000, 0)
  const load = async (timestamp: number) => {
    const state = emptyState()
    const owner = { vaultId, kind: 'refund', controller: wallet } as const
    await addRequests(db, state, new Map([[requestKey(vaultId, 'refund', wallet), owner]]), inPlace, timestamp)
    const ids = (state.requests.get(requestKey(vaultId, 'refund', wallet)) ?? []).map(({ requestId }) => requestId)
    expect(state.closing.map(({ requestId }) => requestId)).toEqual(ids)
    return ids
  }
  expect(await load(1_099)).toEqual([99n, 100n])
  expect(await load(1_101)).toEqual([])
  // A block of before, in the place of one that has gone: what had closed is open.
  expect(await load(1_001)).toHaveLength(100)
})
