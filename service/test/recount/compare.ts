import type { DeriveConfig } from '../../src/derive/config.js'
import type { RawBlock } from '../../src/rpc/raw.js'
import type { Entry } from './entries.js'
import { type Recounted, recount } from './recount.js'
import { showBlocks } from './show.js'
import { type Derived, deriveRows, findWrongGains, findWrongSums } from './sums.js'
import { config, contracts, people, settlement } from './traffic/world.js'

/** What two derivations say, as lines that can be compared. */
export type Lines = string[]

const members = [
  'id',
  'vaultId',
  'kind',
  'blockNumber',
  'blockHash',
  'timestamp',
  'transactionHash',
  'transactionIndex',
  'logIndex',
  'wallet',
  'distributorId',
  'attribution',
  'assets',
  'shares',
  'isSwap',
] as const
const entryLine = (entry: { [member in (typeof members)[number]]: Entry[member] }): string =>
  `entry ${members.map((member) => (member.endsWith('Hash') ? String(entry[member]).slice(-12) : entry[member])).join(' ')}`
const lotsText = (lots: Iterable<[string, bigint]>): string =>
  [...lots]
    .filter(([, lot]) => lot > 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, lot]) => `${id}=${lot}`)
    .join(',')

function linesOfProduct({ rows, state }: Derived): Lines {
  const lines: Lines = []
  for (const { interactions } of rows) for (const entry of interactions) lines.push(entryLine(entry))
  const keys = [...state.holders.keys()].sort()
  for (const key of keys) {
    const holder = state.holders.get(key)!
    if (holder.shares > 0n) lines.push(`holder ${key} ${holder.shares} ${lotsText(holder.lots)}`)
  }
  const lots = new Map<string, Map<string, bigint>>()
  for (const { balanceChanges, lotChanges } of rows) {
    for (const { vaultId, wallet, distributorId, after, blockNumber, transactionIndex } of lotChanges) {
      const of = lots.get(`${vaultId}:${wallet}`) ?? new Map<string, bigint>()
      lots.set(`${vaultId}:${wallet}`, of.set(distributorId, after))
      lines.push(`lot ${vaultId}:${wallet} ${blockNumber}.${transactionIndex} ${distributorId}=${after}`)
    }
    for (const { vaultId, wallet, after, before, blockNumber, transactionIndex } of balanceChanges)
      if (after !== before) lines.push(`balance ${vaultId}:${wallet} ${blockNumber}.${transactionIndex} ${after}`)
  }
  const requests = new Map<string, { line: string; state: { remaining: bigint; cancelled: bigint } }>()
  for (const { requests: opened, requestChanges } of rows) {
    // Deposits that may be given back are kept as the service likes: what is told of them is the entry and the lots.
    for (const each of opened.filter(({ kind }) => kind !== 'refund'))
      requests.set(each.id, {
        line: `request ${each.vaultId} ${each.kind} ${each.controller} ${each.owner} #${each.requestId} ${each.distributorId} ${each.attribution} ${each.amount} ${each.blockNumber} ${each.logIndex}`,
        state: each,
      })
    for (const { requestId, after } of requestChanges) {
      const known = requests.get(requestId)
      if (known) known.state = after
    }
  }
  for (const { line, state: left } of requests.values())
    lines.push(`${line} left ${left.remaining} cancelled ${left.cancelled}`)
  return lines.sort()
}

function linesOfRecount(told: Recounted): Lines {
  const lines: Lines = told.entries.map(entryLine)
  for (const [key, shares] of [...told.balances].sort())
    if (shares > 0n) lines.push(`holder ${key} ${shares} ${lotsText(Object.entries(told.lots.get(key)!))}`)
  const known = new Map<string, { after: bigint; lots: Record<string, bigint> }>()
  for (const { vaultId, wallet, after, lots, blockNumber, transactionIndex } of told.changes) {
    const key = `${vaultId}:${wallet}`
    const before = known.get(key) ?? { after: 0n, lots: {} }
    for (const id of new Set([...Object.keys(before.lots), ...Object.keys(lots)]))
      if ((before.lots[id] ?? 0n) !== (lots[id] ?? 0n))
        lines.push(`lot ${key} ${blockNumber}.${transactionIndex} ${id}=${lots[id] ?? 0n}`)
    if (before.after !== after) lines.push(`balance ${key} ${blockNumber}.${transactionIndex} ${after}`)
    known.set(key, { after, lots })
  }
  for (const each of told.requests)
    lines.push(
      `request ${each.vaultId} ${each.kind} ${each.controller} ${each.owner} #${each.requestId} ${each.distributorId} ${each.attribution} ${each.amount} ${each.blockNumber} ${each.logIndex} left ${each.remaining} cancelled ${each.cancelled}`,
    )
  return lines.sort()
}

const names = new Map([
  ...people.map((each, i) => [each, `person${i}`]),
  ...contracts.map((each, i) => [each, `contract${i}`]),
] as [string, string][])
const short = (line: string): string =>
  [...names].reduce((text, [address, name]) => text.replaceAll(address, name), line)

/** Schedules of every third seed are of a chain whose one node is believed. */
export const configOf = (seed: number): DeriveConfig => (seed % 3 === 0 ? { ...config, trustTraces: true } : config)

/** Both derivations of a schedule: lines that only one of them has, and sums that do not come out. */
export function deriveBoth(blocks: readonly RawBlock[], under: DeriveConfig) {
  const [derived, told] = [deriveRows(blocks, under), recount(blocks, under)]
  const [product, mine] = [linesOfProduct(derived), linesOfRecount(told)]
  return {
    product: without(product, mine).map(short),
    recount: without(mine, product).map(short),
    sums: [...findWrongSums(blocks, derived), ...findWrongGains(told)].map(short),
    played: listPlayed(blocks, told),
  }
}

/** Which kinds of vaults have which entries, and whether a signed settlement made one. */
function listPlayed(blocks: readonly RawBlock[], { entries }: Recounted): string[] {
  const targets = new Map(blocks.flatMap(({ transactions }) => transactions.map(({ hash, to }) => [hash, to])))
  return entries.flatMap(({ vaultId, kind, attribution, transactionHash }) => [
    `${kind} of ${config.vaults.find(({ id }) => id === vaultId)!.kind}`,
    ...(attribution === 'signed' && targets.get(transactionHash) === settlement ? [`${kind} by a settlement`] : []),
  ])
}

/** Whether two derivations differ over the blocks. */
function isDifferent(blocks: readonly RawBlock[], under: DeriveConfig): boolean {
  const { product, recount: mine } = deriveBoth(blocks, under)
  return product.length + mine.length > 0
}

function without(lines: Lines, others: Lines): Lines {
  const left = new Map<string, number>()
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1)
  return lines.filter((line) => {
    const count = left.get(line) ?? 0
    if (count > 0) left.set(line, count - 1)
    return count === 0
  })
}

/** Blocks without a transaction: its logs go with it, the others keep their places. */
function drop(blocks: readonly RawBlock[], hash: string): RawBlock[] {
  return blocks
    .map((block) => ({
      ...block,
      logs: block.logs.filter(({ transactionHash }) => transactionHash !== hash),
      transactions: block.transactions.filter((transaction) => transaction.hash !== hash),
    }))
    .filter(({ transactions }) => transactions.length > 0)
}

/** The fewest transactions of a schedule that still differ. */
function shrink(blocks: readonly RawBlock[], under: DeriveConfig): RawBlock[] {
  let least = [...blocks]
  for (const hash of blocks.flatMap(({ transactions }) => transactions.map((each) => each.hash)).toReversed()) {
    const fewer = drop(least, hash)
    if (fewer.length > 0 && isDifferent(fewer, under)) least = fewer
  }
  return least
}

/** A difference as it can be told: what is left of the schedule, and the lines. */
export function tell(seed: number, blocks: readonly RawBlock[]): string {
  const under = configOf(seed)
  const least = shrink(blocks, under)
  const lines = deriveBoth(least, under)
  return [
    `seed ${seed}: ${least.flatMap(({ transactions }) => transactions).length} transactions differ`,
    ...lines.product.map((line) => `  product ${line}`),
    ...lines.recount.map((line) => `  recount ${line}`),
    short(showBlocks(least)),
  ].join('\n')
}
