import { zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { insertOneVault } from '../../../test/oneVault.js'
import { newId } from '../../kernel/ids.js'
import { listBalances, listLots, listOpenRequests } from './index.js'

const chainId = 31_337
const vault = `0x${'cc'.repeat(20)}`
const [holder, gone] = [`0x${'01'.repeat(20)}`, `0x${'02'.repeat(20)}`]

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
  await insertOneVault(test.db, { chainId, vault, asset: zeroAddress, distributorId: 'acme', startBlock: 1 })
})
afterAll(() => test?.close())

it('balances and lots are told of what a wallet still holds, and of no vault it has left', async () => {
  const { db } = test
  for (const [wallet, shares] of [
    [holder, 5],
    [gone, 0],
  ] as const) {
    await db`insert into balances (chain_id, first_block, vault_id, wallet, shares, attributed)
      select ${chainId}, 1, id, hex_bytes(${wallet}), ${shares}, ${shares} from vaults`
    await db`insert into lots (chain_id, first_block, vault_id, wallet, distributor_id, shares)
      select ${chainId}, 1, id, hex_bytes(${wallet}), 'acme', ${shares} from vaults`
  }
  const held = { chainId, vaultAddress: vault, wallet: holder, shares: '5' }
  expect(await listBalances(db, [holder, gone])).toEqual([{ ...held, attributed: '5' }])
  expect(await listLots(db, [holder, gone])).toEqual([{ ...held, distributorId: 'acme' }])
})

it('a request to redeem is never told for a pending deposit, nor one of which nothing is left for an open one', async () => {
  const { db } = test
  const record = (kind: string, requestId: number, remaining: number) => db`
    insert into requests (id, chain_id, block_number, block_timestamp, vault_id, transaction_index, log_index,
      transaction_hash, kind, controller, owner, request_id, amount, counted, lots, remaining)
    select ${newId()}, ${chainId}, ${requestId}, now(), id, 0, 0, sha256('x'), ${kind}, hex_bytes(${holder}),
      hex_bytes(${holder}), ${requestId}, 9, 9, '', ${remaining} from vaults`
  await record('deposit', 1, 9)
  await record('redeem', 2, 9)
  await record('deposit', 3, 0)
  const idsOf = async (kind: 'deposit' | 'redeem') =>
    (await listOpenRequests(db, { chainId, vaultAddress: vault, wallet: holder, kind })).map((each) => each.requestId)
  expect([await idsOf('deposit'), await idsOf('redeem')]).toEqual([['1'], ['2']])
})
