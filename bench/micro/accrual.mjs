// A year of a reward stream: node bench/micro/accrual.mjs [wallets] [changes]. Balances, their changes and 35,040 price steps
// are read from a database, accrued, and written as a snapshot with its reward file, beside the bare loop over the same
// integers.

import { computeSnapshot } from '../../service/dist/features/streams/amounts.js'
import { encodeRewardFile, toResult } from '../../service/dist/features/streams/rewards/rewardFile.js'
import { readInputs } from '../../service/dist/features/streams/snapshotInputs.js'
import { recordSnapshot } from '../../service/dist/features/streams/storeSnapshots.js'
import { newId } from '../../service/dist/kernel/ids.js'
import { inTransaction } from '../../service/dist/postgres/pool.js'
import { findStreamTarget } from '../../service/dist/snapshots/index.js'
import { openBenchDatabase } from './database.mjs'

const wallets = Number(process.argv[2] ?? 100_000)
const changes = Number(process.argv[3] ?? 1_000_000)
const startAt = 1_700_000_000
const year = 31_536_000
const interval = 900

const bench = await openBenchDatabase()
const { db } = bench
const id = newId()
await db`insert into chains (chain_id, name, slug) values (1, 'C', 'c')`
await db`insert into organizations (id, name, organization_type) values (${id}, 'O', 'distributor')`
await db`insert into stream_points (id, organization_id, symbol, name, decimals, created_at, updated_at)
  values (${id}, ${id}, 'P', 'P', 18, now(), now())`
const [{ vaultId }] = await db`
  insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, dust_floor)
  values (1, '0xaa', 'erc4626', '0xbb', 6, '0xaa', 18, 0) returning id as "vaultId"`
await db`
  insert into streams (id, organization_id, type, target_vault_id, target_chain_id, target_token, point_id, starts_at,
    custom_args, created_at, updated_at)
  values (${id}, ${id}, 1, ${vaultId}, 1, '0xaa', ${id}, to_timestamp(${startAt}), '{}', now(), now())`
await db`
  insert into balance_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, before, after,
    attributed_before, attributed_after)
  select 1, n, to_timestamp(${startAt} + (n::numeric * ${year} / ${changes})::bigint), ${vaultId}, 0,
    decode(lpad(to_hex(n % ${wallets}::int), 40, '0'), 'hex'),
    case when n <= ${wallets}::int then 0 else (n - ${wallets}::int) * 1000000007::numeric end, n * 1000000007::numeric, 0, 0
  from generate_series(1, ${changes}::int) n`
await db`
  insert into balances (chain_id, first_block, vault_id, wallet, shares, attributed)
  select 1, min(block_number), vault_id, wallet, max(after), 0 from balance_changes group by vault_id, wallet`
await db`
  insert into vault_snapshots (block_number, block_timestamp, price_observation_id, vault_id, price_exponent, total_assets,
    total_supply, price_numerator, price_usd, block_hash)
  select n, to_timestamp(${startAt}::bigint + n * ${interval}::int), n, ${vaultId}, 30, 1, 1000000, 1000000000000000000 + n, 1 + n / 1e6,
    decode(lpad('', 64, '0'), 'hex')
  from generate_series(0, ${year / interval - 1}::int) n`
await db`analyze balance_changes`
await db`analyze balances`
await db`analyze vault_snapshots`

const terms = {
  ...{ streamId: id, strategy: { type: 1, tokensPerUsd: 10n ** 15n }, adapters: [], startAt, endAt: null },
  ...{ budget: null, increases: [], rewardDecimals: 18 },
}
const stream = { id, targetVaultId: vaultId, chainId: null, rewardToken: null, pointId: id }
const to = startAt + year
const marks = []
async function timed(what, run) {
  const before = performance.now()
  const result = await run()
  marks.push([what, (performance.now() - before) / 1_000])
  return result
}

const target = await findStreamTarget(db, vaultId)
const block = { number: changes, hash: `0x${'00'.repeat(32)}` }
const inputs = await timed('reading', () => readInputs(db, { stream, terms, target, previous: undefined, block, to }))
const { amounts, states } = await timed('accrual', () => computeSnapshot(terms, inputs.facts, to))
const file = await timed('tree and file', () => encodeRewardFile(inputs, toResult(amounts.wallets)))
await timed('writing', () =>
  inTransaction(db, (tx) =>
    recordSnapshot(tx, {
      ...{ id: newId(), streamId: id, targetChainId: 1, block, previousId: null, isLast: false, amounts, states },
      ...{ pins: {}, file, createdAt: new Date() },
    }),
  ),
)

/** The least that has to be done: an accumulator, and what each wallet has of it. */
function loop() {
  const [shares, settled, earned] = [new Map(), new Map(), new Map()]
  const prices = inputs.facts.sharePrices
  const scale = 10n ** 36n
  let accumulator = 0n
  let rate = 0n
  let at = startAt
  let price = 0
  const advance = (until) => {
    accumulator += rate * BigInt(until - at)
    at = until
  }
  for (const change of inputs.facts.balances) {
    for (; price < prices.length && prices[price].at <= change.at; price++) {
      advance(Math.max(at, prices[price].at))
      const { numerator, denominator } = prices[price].usd
      rate = (scale * terms.strategy.tokensPerUsd * numerator) / (denominator * 1_000n)
    }
    advance(change.at)
    const held = shares.get(change.wallet) ?? 0n
    earned.set(
      change.wallet,
      (earned.get(change.wallet) ?? 0n) + held * (accumulator - (settled.get(change.wallet) ?? 0n)),
    )
    settled.set(change.wallet, accumulator)
    shares.set(change.wallet, change.shares)
  }
}
await timed('the bare loop', loop)

const total = marks.slice(0, -1).reduce((sum, [, seconds]) => sum + seconds, 0)
console.log(`${wallets} wallets, ${changes} changes of balances, ${inputs.facts.sharePrices.length} price steps`)
for (const [what, seconds] of marks) console.log(`  ${what.padEnd(16)}${seconds.toFixed(2)} s`)
console.log(`in all ${total.toFixed(2)} s (≤ 10 s), ${amounts.userCount} wallets have earned`)
await bench.close()
process.exit(total <= 10 ? 0 : 1)
