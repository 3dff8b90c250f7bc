import { listInteractionsByTx } from '../../src/features/ledger/index.js'
import { listActivity } from '../../src/features/ledger/storePages.js'
import type { Database } from '../../src/postgres/pool.js'
import { createFindings } from './compare.js'
import { type Counted, listVerified, priceOf, type Totals } from './expected.js'
import { tokenDecimals } from './model.js'

/**
 * Differences between what concerns several chains and the sum of their recounts; empty when there is none. When
 * thorough, a page and a single transaction are asked for as well.
 */
export async function findDifferencesOfAll(
  db: Database,
  counted: readonly Counted[],
  { productId, totals, isThorough }: { productId: string; totals: Totals; isThorough: boolean },
): Promise<string[]> {
  const found = await findWrongTotals(db, totals)
  found.push(...(await findWrongActivity(db, counted, { productId, isThorough })))
  if (isThorough) found.push(...(await findWrongTransaction(db, counted)))
  return found
}

/** Sums over the whole database: chains of earlier schedules stand as they were. */
async function findWrongTotals(db: Database, totals: Totals): Promise<string[]> {
  const { found, same } = createFindings()
  const rows = await db<{ name: string; sum: string }[]>`
    select 'lots of ' || distributor_id as name, sum(shares)::text as sum from lots group by distributor_id having sum(shares) > 0
    union all
    select 'shares of ' || hex_text(wallet), sum(shares)::text from balances group by wallet having sum(shares) > 0
    union all
    select kind || ' assets of ' || distributor_id, sum(assets)::text from interactions group by kind, distributor_id
      having sum(assets) > 0
    union all
    select kind || ' entries of ' || distributor_id, count(*)::text from interactions group by kind, distributor_id
    union all
    select kind || ' counted of ' || distributor_id, sum(entries)::text from interaction_counts group by kind, distributor_id
    union all
    select kind || ' requests of ' || hex_text(controller), sum(remaining)::text from requests group by kind, controller
      having sum(remaining) > 0
    union all
    select 'used signatures in ' || v.address, count(*)::text from used_signatures u join vaults v on v.id = u.vault_id
      group by v.address
    union all
    select 'entries whose choice of a price is gone', count(*)::text from interactions i join vaults v on v.id = i.vault_id
      where i.price_observation_id is not null and not exists (select from price_choices c where c.chain_id = i.chain_id
        and c.address = v.asset and c.block_hash = i.block_hash and c.price_observation_id = i.price_observation_id)
      having count(*) > 0
    union all
    select 'transactions watched', count(*)::text from transaction_attributions where not retracted having count(*) > 0`
  same(
    'total',
    rows.map(({ name, sum }) => `${name}: ${sum}`),
    [...totals].map(([name, sum]) => `${name}: ${sum}`),
  )
  return found
}

/** The list of what happened on all chains, in the order of time, and a page from its middle. */
async function findWrongActivity(
  db: Database,
  counted: readonly Counted[],
  { productId, isThorough }: { productId: string; isThorough: boolean },
): Promise<string[]> {
  const { found, same } = createFindings()
  const wanted = counted.flatMap((one) =>
    listVerified(one).map((entry) => {
      const price = priceOf(one.outcome.rules, entry.block.timestamp)
      const usd = price === undefined ? '-' : formatUnits(entry.assets * price, tokenDecimals + 6)
      const place = [entry.block.timestamp, one.outcome.chainId, entry.block.number, entry.logIndex]
      const said = [entry.transactionHash, entry.kind, entry.wallet, entry.distributor, entry.how, entry.assets, usd]
      return { place, line: [...place, ...said].join(' ') }
    }),
  )
  const list = (request: { limit: number; offset: number }) =>
    listActivity(db, { productId }, { page: 1, ...request }, { by: 'date', order: 'asc' })
  const { rows, total } = await list({ limit: 10_000, offset: 0 })
  const lines = rows.map((row) => {
    const place = [row.blockTimestamp.getTime() / 1000, row.chainId, row.blockNumber, row.logIndex]
    const said = [row.transactionHash, row.kind, row.wallet, row.distributorId, row.attribution, row.assets]
    const usd = row.amountUsd === null ? '-' : row.amountUsd.replace(/\.?0+$/, '')
    return { id: row.id, place, line: [...place, ...said, usd].join(' ') }
  })
  const all = lines.map(({ line }) => line)
  same(
    'activity',
    all,
    wanted.map(({ line }) => line),
  )
  if (total !== wanted.length) found.push(`activity: ${total} in all instead of ${wanted.length}`)
  lines.forEach(({ place, line }, index) => {
    const next = lines[index + 1]
    if (next && isAfter(place, next.place)) found.push(`activity out of order: ${line}`)
  })
  if (!isThorough) return found
  const middle = Math.floor(total / 2)
  const page = (await list({ limit: 5, offset: middle })).rows.map(({ id }) => id)
  const ids = lines.slice(middle, middle + 5).map(({ id }) => id)
  if (page.join() !== ids.join()) found.push(`a page of activity from ${middle} on: ${page} instead of ${ids}`)
  return found
}

function isAfter(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((value, index) => value !== b[index])
  return at !== -1 && (a[at] ?? 0) > (b[at] ?? 0)
}

/** What is told of a transaction that was sent on several chains: on any of them, and on each. */
async function findWrongTransaction(db: Database, counted: readonly Counted[]): Promise<string[]> {
  const { found, same } = createFindings()
  const [one, ...others] = counted.map((each) => ({ chainId: each.outcome.chainId, entries: listVerified(each) }))
  const hash = one?.entries
    .map(({ transactionHash }) => transactionHash)
    .find((mine) => others.every(({ entries }) => entries.some(({ transactionHash }) => transactionHash === mine)))
  if (hash === undefined || others.length === 0) return []
  const wanted = counted.flatMap((each) =>
    listVerified(each)
      .filter(({ transactionHash }) => transactionHash === hash)
      .map((entry) => ({
        chainId: each.outcome.chainId,
        line: [each.outcome.chainId, entry.block.number, entry.logIndex, entry.wallet, entry.distributor].join(' '),
      })),
  )
  for (const chainId of [undefined, ...counted.map(({ outcome }) => outcome.chainId)]) {
    const told = await listInteractionsByTx(db, hash, chainId)
    same(
      `entries of ${hash} on ${chainId ?? 'any chain'}`,
      told.map((each) =>
        [each.chainId, each.blockNumber, each.logIndex, each.walletAddress.toLowerCase(), each.distributorId].join(' '),
      ),
      wanted.filter((each) => chainId === undefined || each.chainId === chainId).map(({ line }) => line),
    )
  }
  return found
}

function formatUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const [whole, part] = [digits.slice(0, -decimals), digits.slice(-decimals)]
  return `${whole}.${part}`.replace(/\.?0+$/, '')
}
