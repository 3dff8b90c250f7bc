import { sumFlows } from '../../src/features/portfolio/storeEarnings.js'
import type { Database } from '../../src/postgres/pool.js'
import { createFindings } from './compare.js'
import { priceOf } from './expected.js'
import { tokenDecimals } from './model.js'
import type { Outcome } from './playedChain.js'
import { createRandom, type Random } from './random.js'
import { type CountedFlow, recountFlows } from './recountFlows.js'

type Vault = { id: number; address: string }
type Snapshot = {
  vault: string
  number: number
  timestamp: number
  numerator: bigint
  exponent: number
  micros: bigint | null
}

/** Share prices of some of the chain's blocks. */
async function observe(db: Database, random: Random, vaults: readonly Vault[], played: Outcome): Promise<Snapshot[]> {
  const snapshots: Snapshot[] = []
  await db`delete from vault_snapshots where vault_id = any(${vaults.map(({ id }) => id)}::int[])`
  for (const { address } of vaults) {
    const chosen = played.blocks.filter(() => random.chance(0.25))
    // Of the blocks of one second a vault has one snapshot; there is always some.
    const some = chosen.length > 0 ? chosen : played.blocks.slice(0, 1)
    const blocks = some.filter(({ timestamp }, at) => some[at + 1]?.timestamp !== timestamp)
    for (const { number, timestamp } of blocks) {
      const micros = random.chance(0.2) ? null : BigInt(random.int(1, 3_000_000))
      const exponent = random.pick([18, 18, 6])
      const numerator = BigInt(random.int(1, 3 * 10 ** 6)) * 10n ** BigInt(exponent - 6) + BigInt(random.int(0, 9))
      snapshots.push({ vault: address, number, timestamp, numerator, exponent, micros })
    }
  }
  const ids = new Map(vaults.map(({ id, address }) => [address, id]))
  const column = <T>(of: (snapshot: Snapshot) => T) => snapshots.map(of)
  await db`
    insert into vault_snapshots (vault_id, block_number, block_timestamp, price_exponent, total_assets, total_supply,
      price_numerator, price_usd, block_hash)
    select vault, number, to_timestamp(timestamp), exponent, 0, 0, numerator, micros / 1000000, decode(repeat('00', 32), 'hex')
    from unnest(${column(({ vault }) => ids.get(vault) ?? 0)}::int[], ${column(({ number }) => number)}::bigint[],
      ${column(({ timestamp }) => timestamp)}::bigint[], ${column(({ exponent }) => exponent)}::int[],
      ${column(({ numerator }) => String(numerator))}::numeric[],
      ${column(({ micros }) => (micros === null ? null : String(micros)))}::numeric[])
      as s (vault, number, timestamp, exponent, numerator, micros)`
  return snapshots
}

const worthOf = (shares: bigint, { numerator, exponent }: Snapshot) => (shares * numerator) / 10n ** BigInt(exponent)

const isIn = ({ kind }: CountedFlow) => kind === 'deposit' || kind === 'transfer-in'

/**
 * Differences between flows and what wallets earned by them and a recount, at random share prices; empty when there is
 * none. What all holders of a vault earned together is its yield less fees, to one unit a flow.
 */
export async function findFlowsDifferences(db: Database, played: Outcome, seed: number): Promise<string[]> {
  const { found, same } = createFindings()
  const { chainId, rules } = played
  const [derived] = await db<{ to: number }[]>`
    select derived_to as to from projections where chain_id = ${chainId} and name = 'flows'`
  const confirmed = (played.blocks.at(-1)?.number ?? 0) - played.confirmations + 1
  if ((derived?.to ?? -1) < confirmed) found.push(`flows are derived up to ${derived?.to} only`)
  const wanted = recountFlows(
    // A fork to a shorter branch takes nothing back of what was confirmed before it and is on the branch too.
    played.blocks.filter(({ number }) => number <= Math.max(confirmed, derived?.to ?? -1)),
    rules,
  )
  const rows = await db<{ line: string }[]>`
    select concat_ws(' ', f.block_number, f.transaction_index, v.address, hex_text(f.wallet), f.kind, f.shares,
      coalesce(f.assets::text, '-')) as line
    from flows f join vaults v on v.id = f.vault_id where f.chain_id = ${chainId}`
  same(
    'flow',
    rows.map(({ line }) => line),
    wanted.map((flow) =>
      [flow.block.number, flow.index, flow.vault, flow.wallet, flow.kind, flow.shares, flow.assets ?? '-'].join(' '),
    ),
  )
  const vaults = await db<Vault[]>`select id, address from vaults where chain_id = ${chainId}`
  const snapshots = await observe(db, createRandom(seed), vaults, played)
  const earned = new Map<string, Awaited<ReturnType<typeof sumFlows>>>()
  for (const wallet of new Set(wanted.map((flow) => flow.wallet))) earned.set(wallet, await sumFlows(db, wallet))
  for (const { address: vault } of vaults) {
    const own = wanted.filter((flow) => flow.vault === vault)
    const prices = snapshots.filter((snapshot) => snapshot.vault === vault)
    found.push(...findWrongEarnings(earned, { chainId, rules }, vault, own, prices))
  }
  return found
}

function findWrongEarnings(
  all: ReadonlyMap<string, Awaited<ReturnType<typeof sumFlows>>>,
  { chainId, rules }: Pick<Outcome, 'chainId' | 'rules'>,
  vault: string,
  flows: readonly CountedFlow[],
  snapshots: readonly Snapshot[],
): string[] {
  const { found, same } = createFindings()
  const [first, newest] = [snapshots[0], snapshots.at(-1)]
  if (!first || !newest) return [`no snapshot of ${vault}`]
  const at = ({ block }: CountedFlow) =>
    snapshots.findLast(({ number, timestamp }) => number <= block.number && timestamp <= block.timestamp) ?? first
  const natives = new Map(flows.map((flow) => [flow, flow.assets ?? worthOf(flow.shares, at(flow))]))
  const sum = (of: readonly CountedFlow[]) => of.reduce((all, flow) => all + (natives.get(flow) ?? 0n), 0n)
  /** Millionths of a millionth of a dollar; undefined where a flow has no price. */
  const usd = (of: readonly CountedFlow[]) =>
    of.reduce<bigint | undefined>((all, flow) => {
      const price = priceOf(rules, flow.block.timestamp)
      return all === undefined || price === undefined ? undefined : all + (natives.get(flow) ?? 0n) * price
    }, 0n)
  const units = (amount: bigint | undefined) => (amount === undefined ? '-' : String(amount))
  const heldOf = (of: readonly CountedFlow[]) =>
    of.reduce((all, flow) => all + (isIn(flow) ? flow.shares : -flow.shares), 0n)
  let earned = 0n
  for (const wallet of new Set(flows.map((flow) => flow.wallet))) {
    const own = flows.filter((flow) => flow.wallet === wallet)
    const [into, out] = [own.filter(isIn), own.filter((flow) => !isIn(flow))]
    const rows = (all.get(wallet) ?? []).filter((row) => row.chainId === chainId && row.vaultAddress === vault)
    const scaled = (text: string | null) => (text === null ? '-' : shift(text, tokenDecimals + 6))
    same(
      `earnings of ${wallet} in ${vault}`,
      rows.map((row) =>
        [
          ...[row.shares, row.deposited, row.withdrawn, scaled(row.depositedUsd), scaled(row.withdrawnUsd)],
          ...[row.priceNumerator, row.priceUsd === null ? '-' : shift(row.priceUsd, 6)],
        ].join(' '),
      ),
      [
        [
          ...[heldOf(own), sum(into), sum(out), units(usd(into)), units(usd(out))],
          ...[newest.numerator, newest.micros ?? '-'],
        ].join(' '),
      ],
    )
    const [row] = rows
    earned += worthOf(BigInt(row?.shares ?? 0), newest) + BigInt(row?.withdrawn ?? 0) - BigInt(row?.deposited ?? 0)
  }
  // The vault's books: what it has for its holders, what was paid in and out, and shares it made for nothing.
  const paid = (kind: CountedFlow['kind']) =>
    flows.reduce((all, flow) => (flow.kind === kind ? all + (flow.assets ?? 0n) : all), 0n)
  const made = (kind: CountedFlow['kind']) => sum(flows.filter((flow) => flow.kind === kind))
  const profit = worthOf(heldOf(flows), newest) + paid('withdrawal') - paid('deposit')
  const fees = made('transfer-in') - made('transfer-out')
  const off = earned - (profit - fees)
  if (off > BigInt(flows.length) || off < -BigInt(flows.length))
    found.push(`all holders of ${vault} earned ${earned}, its yield less fees is ${profit - fees}`)
  return found
}

/** A decimal number times a power of ten; nothing may be left behind the point. */
function shift(text: string, digits: number): string {
  const [whole = '', fraction = ''] = text.split('.')
  if (/[1-9]/.test(fraction.slice(digits))) return `${text} has more digits`
  return String(BigInt(`${whole}${fraction.slice(0, digits).padEnd(digits, '0')}`))
}
