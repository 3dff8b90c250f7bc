// What a deposit costs by the number of holders: node bench/micro/holders.mjs. The same blocks into two vaults.
import { createHash } from 'node:crypto'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { transferTopic } from '../../service/dist/rpc/abis.js'
import { listProjections } from '../../service/dist/server/projections.js'
import { openStore } from '../../service/dist/sync/chainStore.js'
import { createMemory } from '../../service/dist/sync/state.js'
import { erc4626 } from '../../service/dist/vaults/kinds/erc4626.js'
import { openBenchDatabase, organizationId } from './database.mjs'

const depositTopic = erc4626.emits.find(({ event }) => event.name === 'Deposit').topic

const sizes = [1_000, 1_000_000]
const rounds = 300
const hash = (text) => `0x${createHash('sha256').update(text).digest('hex')}`
const pad = (value) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const zero = `0x${'00'.repeat(20)}`
const bench = await openBenchDatabase()
const { db } = bench
await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
const results = []
const worlds = []
for (const [index, holders] of sizes.entries()) {
  const chainId = 100 + index
  const vault = `0x${String(index + 1).repeat(40)}`
  await db`insert into chains (chain_id, name, slug) values (${chainId}, ${`c${index}`}, ${`c${index}`})`
  await db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from, start_block)
    values (${chainId}, ${vault}, 'erc4626', ${zero}, 6, ${vault}, 6, '1970-01-01', 1)`
  const [{ id }] = await db`select id from vaults where address = ${vault}`
  const wallets = db`select substr(sha256(convert_to(n::text, 'UTF8')), 1, 20) as wallet from generate_series(1, ${holders}::int) n`
  await db`insert into balances (chain_id, vault_id, wallet, shares, attributed, first_block)
    select ${chainId}::bigint, ${id}, wallet, 1000, 0, 1 from (${wallets}) w`
  await db`insert into balance_changes select ${chainId}::bigint, 0, to_timestamp(1700000000), ${id}, 0, wallet, 0, 1000, 0, 0
    from (${wallets}) w`
  const store = openStore({ db, clock: systemClock, log: silentLog }, { chainId, projections: listProjections() })
  const first = { number: 1, hash: hash('b1'), parentHash: hash('b0'), timestamp: 1_700_000_000 }
  const { cursor, held } = await store.begin(first)
  const memory = createMemory(systemClock)
  worlds.push({ chainId, vault, holders, store, state: { cursor, held, memory }, took: [] })
}
await db`vacuum analyze balances`
await db`vacuum analyze balance_changes`
// Turn about, so that whatever else the machine does weighs on both alike.
for (let round = 0; round < rounds; round++)
  for (const world of worlds) {
    const number = world.state.cursor.blockNumber + 1
    const user = `0x${hash(String(round % 2 === 0 ? 1 + (round % world.holders) : `new${round}`)).slice(2, 42)}`
    const transactionHash = hash(`${world.chainId}:${number}`)
    const place = { blockNumber: number, transactionIndex: 0, transactionHash, address: world.vault }
    const amount = 1_000n
    const logs = [
      {
        ...place,
        logIndex: 0,
        topics: [transferTopic, `0x${pad(zero)}`, `0x${pad(user)}`],
        data: `0x${pad(amount)}`,
      },
      {
        ...place,
        logIndex: 1,
        topics: [depositTopic, `0x${pad(user)}`, `0x${pad(user)}`],
        data: `0x${pad(amount)}${pad(amount)}`,
      },
    ]
    const transactions = [
      {
        blockNumber: number,
        transactionIndex: 0,
        hash: transactionHash,
        from: user,
        to: world.vault,
        input: '0x6e553f65',
      },
    ]
    const header = {
      number,
      hash: transactionHash,
      parentHash: world.state.cursor.blockHash,
      timestamp: 1_700_000_000 + number,
    }
    const started = performance.now()
    const above = { blocks: [{ ...header, logs, transactions }], tip: header }
    const changed = await world.store.commit(world.state, { step: 'blocks', above })
    world.state = { ...world.state, ...changed }
    world.took.push(performance.now() - started)
  }
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
for (const { holders, took } of worlds) {
  const warm = took.slice(50)
  results.push(median(warm))
  console.log(
    `${holders} holders: a block with a deposit is derived and committed in ${median(warm).toFixed(2)} ms (median of ${warm.length})`,
  )
}
console.log(`ratio ${(results[1] / results[0]).toFixed(2)}`)
await bench.close()
