import { asyncVault, type ModelBlock, type ModelEvent, type ModelTransaction } from './model.js'
import { type Asked, least, type Positions, recount, share } from './recount.js'
import type { Rules } from './recountCredits.js'
import { follow } from './recountShares.js'

/** What a transaction did to what a wallet holds of a vault; `assets` of what an event says was paid. */
export type CountedFlow = {
  block: ModelBlock
  index: number
  vault: string
  wallet: string
  kind: 'deposit' | 'withdrawal' | 'transfer-in' | 'transfer-out'
  shares: bigint
  assets: bigint | null
}

/** `held` with what waits for a redemption; `paid` and `taken` by events, `untold` where one names more than moved. */
type Side = { shares: bigint; untold: bigint; assets: bigint }
type Sums = { held: bigint; paid: Side; taken: Side }
type Call = Extract<ModelEvent, { kind: 'deposit' | 'withdraw' }>

/** The flows of a chain, from what happened and from docs/methodology.md alone, one transaction after the other. */
export function recountFlows(blocks: readonly ModelBlock[], rules: Rules): CountedFlow[] {
  const flows: CountedFlow[] = []
  const balances = new Map<string, bigint>()
  let left: bigint[] = []
  recount(blocks, rules, (block, positions, transaction, requests) => {
    const redeemed = requests.map(({ remaining }, at) => (left[at] ?? 0n) - remaining)
    left = requests.map(({ remaining }) => remaining)
    const index = block.transactions.indexOf(transaction)
    for (const { address: vault } of rules.vaults) {
      const sums = sumUp(vault, transaction, positions, balances)
      if (vault === asyncVault) addRequests(sums, transaction, requests, redeemed)
      for (const [wallet, { held, paid, taken }] of sums) {
        if (wallet === vault) continue
        let rest = held - paid.shares + taken.shares
        // A fee kept in shares explains what is missing, and nothing else.
        const [more, less] = [rest > 0n ? least(rest, paid.untold) : 0n, rest < 0n ? least(-rest, taken.untold) : 0n]
        rest += less - more
        const add = (kind: CountedFlow['kind'], shares: bigint, assets: bigint | null) => {
          if (shares !== 0n || (assets ?? 0n) !== 0n) flows.push({ block, index, vault, wallet, kind, shares, assets })
        }
        add('deposit', paid.shares + more, paid.assets)
        add('withdrawal', taken.shares + less, taken.assets)
        if (rest > 0n) add('transfer-in', rest, null)
        else add('transfer-out', -rest, null)
      }
    }
  })
  return flows
}

/** What each wallet's balance moved by, and what its events say, those of redemptions that were asked for left out. */
function sumUp(
  vault: string,
  { events }: ModelTransaction,
  positions: Positions,
  balances: Map<string, bigint>,
): Map<string, Sums> {
  const sums = new Map<string, Sums>()
  const own = events.filter((event) => event.vault === vault)
  if (own.length === 0) return sums
  for (const [key, { free, lots }] of positions) {
    const [of, wallet = ''] = key.split(' ')
    if (of !== vault) continue
    const now = [...lots.values()].reduce((sum, lot) => sum + lot, free)
    const moved = now - (balances.get(key) ?? 0n)
    balances.set(key, now)
    if (moved !== 0n) sumsOf(sums, wallet).held += moved
  }
  const told = follow(vault, own)
  for (const event of own) {
    if (event.kind !== 'deposit' && (event.kind !== 'withdraw' || vault === asyncVault)) continue
    const moved = told.moved.get(event) ?? 0n
    const parts = new Map(told.kept.get(event) ?? [])
    const known = moved === 0n ? event.shares : moved
    const nobodys = known - [...parts.values()].reduce((sum, part) => sum + part, 0n)
    if (nobodys > 0n || parts.size === 0) parts.set(event.owner, (parts.get(event.owner) ?? 0n) + nobodys)
    give(sums, event, parts)
    sideOf(sumsOf(sums, event.owner), event).untold += event.shares - known
  }
  return sums
}

/** The shares that wait move from the balance and back; a claim is of those whose requests it took from. */
function addRequests(
  sums: Map<string, Sums>,
  { events }: ModelTransaction,
  requests: readonly Asked[],
  redeemed: readonly bigint[],
): void {
  const claim = events.find((event): event is Call => event.kind === 'withdraw' && event.vault === asyncVault)
  const parts = new Map<string, bigint>()
  requests.forEach(({ kind, owner }, at) => {
    const less = redeemed[at] ?? 0n
    if (kind !== 'redeem' || less === 0n) return
    sumsOf(sums, owner).held -= less
    parts.set(owner, (parts.get(owner) ?? 0n) + less)
  })
  if (!claim) return
  const beyond = claim.shares - [...parts.values()].reduce((sum, part) => sum + part, 0n)
  if (beyond > 0n || parts.size === 0) parts.set(claim.owner, (parts.get(claim.owner) ?? 0n) + beyond)
  give(sums, claim, parts)
}

/** Shares and assets of an event to those it is of: assets by largest fraction, wallets in the order of their addresses. */
function give(sums: Map<string, Sums>, event: Call, parts: ReadonlyMap<string, bigint>): void {
  const sorted = [...parts].sort(([a], [b]) => (a < b ? -1 : 1))
  const weights = sorted.map(([, part]) => part)
  const assets = weights.some((weight) => weight > 0n)
    ? share(event.assets, weights)
    : weights.map((_, at) => (at === 0 ? event.assets : 0n))
  sorted.forEach(([wallet, part], at) => {
    const side = sideOf(sumsOf(sums, wallet), event)
    side.shares += part
    side.assets += assets[at] ?? 0n
  })
}

const sideOf = ({ paid, taken }: Sums, { kind }: Call): Side => (kind === 'deposit' ? paid : taken)

function sumsOf(sums: Map<string, Sums>, wallet: string): Sums {
  const none = (): Side => ({ shares: 0n, untold: 0n, assets: 0n })
  const known = sums.get(wallet) ?? { held: 0n, paid: none(), taken: none() }
  sums.set(wallet, known)
  return known
}
