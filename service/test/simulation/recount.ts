import { asyncVault, type How, type ModelBlock, type ModelEvent, type ModelTransaction } from './model.js'
import { type Credit, creditEvents, type Rules } from './recountCredits.js'
import { follow } from './recountShares.js'

/**
 * What the tables should say, counted from what happened and from docs/methodology.md alone: one transaction after the
 * other, with no cache, no rewinding and none of the service's code.
 */

export type Expected = {
  balances: Map<string, bigint>
  lots: Map<string, bigint>
  requests: {
    controller: string
    kind: string
    distributor: string | null
    amount: bigint
    remaining: bigint
    cancelled: bigint
  }[]
  entries: Entry[]
  watched: string[]
  /** Vault and block of each signature that counted. */
  used: string[]
}

export type Entry = {
  block: ModelBlock
  transactionHash: string
  logIndex: number
  kind: 'deposit' | 'withdraw'
  vault: string
  wallet: string
  distributor: string
  how: How
  assets: bigint
  shares: bigint
}

type Credits = (event: ModelEvent, wallet: string) => Credit | null
type Position = { free: bigint; lots: Map<string, bigint> }
/** `owner`: whose shares a redemption took, and of which `lots`. */
type Request = Expected['requests'][number] & {
  how: How | null
  marked: boolean
  owner: string
  lots: [string, bigint][]
}

/** What every wallet holds of every vault, by `vault wallet`: outside lots, and in those of each distributor. */
export type Positions = ReadonlyMap<string, { free: bigint; lots: ReadonlyMap<string, bigint> }>

/** What a request has left, and whose shares it took. */
export type Asked = { readonly kind: string; readonly owner: string; readonly remaining: bigint }

/** `observe` sees what is held, and what is asked for, after every transaction. */
export function recount(
  blocks: readonly ModelBlock[],
  rules: Rules,
  observe?: (
    block: ModelBlock,
    positions: Positions,
    transaction: ModelTransaction,
    requests: readonly Asked[],
  ) => void,
): Expected {
  const positions = new Map<string, Position>()
  const requests: Request[] = []
  const entries: Entry[] = []
  const watched: string[] = []
  const used = new Map<string, number>()
  const position = (vault: string, wallet: string): Position => {
    const key = `${vault} ${wallet}`
    const known = positions.get(key) ?? { free: 0n, lots: new Map() }
    positions.set(key, known)
    return known
  }

  for (const block of blocks)
    for (const transaction of block.transactions) {
      const known = transaction.events.filter((event) => rules.vaults.some((vault) => vault.address === event.vault))
      const calls = known.filter((event) => event.kind !== 'transfer')
      if (calls.length > 0) watched.push(`${block.hash} ${transaction.hash}`)
      const credits = creditEvents(transaction, calls, known, { rules, block, used })
      for (const { address: vault } of rules.vaults) {
        const own = known.filter((event) => event.vault === vault)
        if (own.length > 0) settle(vault, own, credits, block, transaction)
      }
      observe?.(block, positions, transaction, requests)
    }

  function settle(vault: string, events: ModelEvent[], credits: Credits, block: ModelBlock, tx: ModelTransaction) {
    const entry = (
      { at: logIndex }: ModelEvent,
      kind: Entry['kind'],
      wallet: string,
      { id: distributor, how }: Credit,
      [assets, amount]: [bigint, bigint],
    ) => {
      const place = { block, transactionHash: tx.hash, logIndex, vault }
      entries.push({ ...place, kind, wallet, distributor, how, assets, shares: amount })
    }
    const told = follow(vault, events)
    const taken = new Map<string, [string, bigint][]>()
    for (const [wallet, gone] of told.gone) {
      const held = position(vault, wallet)
      const before = [...held.lots]
      reduce(held, gone)
      taken.set(
        wallet,
        before.map(([id, lot]) => [id, lot - (held.lots.get(id) ?? 0n)]),
      )
    }
    const rest = new Map(told.arrived)
    const put = (wallet: string, amount: bigint, id: string) => {
      const held = position(vault, wallet)
      held.lots.set(id, (held.lots.get(id) ?? 0n) + amount)
      rest.set(wallet, (rest.get(wallet) ?? 0n) - amount)
    }

    for (const event of events) {
      const creditOf = (wallet: string) => credits(event, wallet)
      if (event.kind === 'deposit') {
        const keepers = told.kept.get(event) ?? new Map<string, bigint>()
        const minted = told.moved.get(event) ?? 0n
        const kept = sumOf(keepers.values())
        if (vault !== asyncVault) {
          const largest = [...keepers].sort(([a, m], [b, n]) => (m === n ? (a < b ? -1 : 1) : m > n ? -1 : 1))[0]?.[0]
          const floors = new Map([...keepers].map(([wallet, part]) => [wallet, (event.assets * part) / minted]))
          const over = kept === minted ? event.assets - sumOf(floors.values()) : 0n
          for (const [wallet, part] of keepers) {
            const credit = creditOf(wallet)
            if (!credit) continue
            put(wallet, part, credit.id)
            const assets = (floors.get(wallet) ?? 0n) + (wallet === largest ? over : 0n)
            entry(event, 'deposit', wallet, credit, [assets, part])
          }
          continue
        }
        const parts = consume('deposit', event.sender, event.assets, creditOf(event.owner))
        if (kept === 0n) continue
        const shares = share(
          kept,
          parts.map(({ amount }) => amount),
        )
        // First among distributors, then among wallets by address.
        const open = new Map([...keepers].sort(([a], [b]) => (a < b ? -1 : 1)))
        parts.forEach((part, i) => {
          const given = share(shares[i] ?? 0n, [...open.values()])
          ;[...open.keys()].forEach((wallet, at) => {
            open.set(wallet, (open.get(wallet) ?? 0n) - (given[at] ?? 0n))
            if (part.credit) put(wallet, given[at] ?? 0n, part.credit.id)
          })
          if (part.credit)
            entry(event, 'deposit', event.sender, part.credit, [(part.amount * kept) / minted, shares[i] ?? 0n])
        })
      } else if (event.kind === 'withdraw') {
        if (vault === asyncVault) {
          const parts = consume('redeem', event.owner, event.shares, null)
          const assets = share(
            event.assets,
            parts.map(({ amount }) => amount),
          )
          parts.forEach((part, i) => {
            if (part.credit) entry(event, 'withdraw', part.owner, part.credit, [assets[i] ?? 0n, part.amount])
          })
          continue
        }
        for (const [wallet, part] of told.kept.get(event) ?? []) {
          const credit = creditOf(wallet)
          if (credit)
            entry(event, 'withdraw', wallet, credit, [(event.assets * part) / (told.moved.get(event) ?? 1n), part])
        }
      } else if (event.kind === 'requestDeposit' || event.kind === 'requestRedeem') {
        const { controller, amount } = event
        const credit = creditOf(controller)
        requests.push({
          controller,
          kind: event.kind === 'requestDeposit' ? 'deposit' : 'redeem',
          distributor: credit?.id ?? null,
          how: credit?.how ?? null,
          amount,
          remaining: amount,
          cancelled: 0n,
          marked: false,
          owner: event.kind === 'requestRedeem' ? event.owner : '',
          lots: event.kind === 'requestRedeem' ? (taken.get(event.owner) ?? []) : [],
        })
      } else if (event.kind === 'cancelledDeposit' || event.kind === 'cancelledRedeem') {
        let left = event.amount
        const kind = event.kind === 'cancelledDeposit' ? 'deposit' : 'redeem'
        const own = requests.filter((each) => each.kind === kind && each.controller === event.controller).reverse()
        // Those that were cancelled before those made since.
        for (const request of [...own.filter((each) => each.marked), ...own.filter((each) => !each.marked)]) {
          const given = least(left, request.remaining)
          request.remaining -= given
          // What comes back to the wallet it was taken of is again what it was.
          const part = (lot: bigint) => (lot * request.cancelled) / request.amount
          const before = request.lots.map(([, lot]) => part(lot))
          request.cancelled += given
          if (request.owner === event.sender)
            for (const [at, [id, lot]] of request.lots.entries()) put(request.owner, part(lot) - (before[at] ?? 0n), id)
          request.marked = false
          left -= given
        }
      } else if (event.kind === 'cancelDeposit' || event.kind === 'cancelRedeem') {
        const kind = event.kind === 'cancelDeposit' ? 'deposit' : 'redeem'
        for (const request of requests)
          if (request.kind === kind && request.controller === event.controller && request.remaining > 0n)
            request.marked = true
      }
    }
    for (const [wallet, left] of rest) position(vault, wallet).free += left
  }

  /** Oldest requests first; what none covers, or whose request had nobody, is the claim's own. */
  function consume(kind: string, controller: string, amount: bigint, own: Credit | null) {
    const parts: { credit: Credit | null; amount: bigint; owner: string }[] = []
    let left = amount
    const add = (credit: Credit | null, taken: bigint, owner: string) => {
      const same = parts.find((part) => part.credit?.id === credit?.id && part.owner === owner)
      if (!same) parts.push({ credit: credit && { ...credit }, amount: taken, owner })
      else {
        same.amount += taken
        if (same.credit && credit) same.credit.how = weakest(same.credit.how, credit.how)
      }
    }
    for (const request of requests.filter((each) => each.kind === kind && each.controller === controller)) {
      const taken = least(left, request.remaining)
      if (taken === 0n) continue
      request.remaining -= taken
      left -= taken
      add(
        request.distributor === null || request.how === null ? own : { id: request.distributor, how: request.how },
        taken,
        request.owner,
      )
    }
    if (left > 0n || parts.length === 0) add(own, left, kind === 'redeem' ? controller : '')
    return parts
  }

  const balances = new Map<string, bigint>()
  const lots = new Map<string, bigint>()
  for (const [key, { free, lots: own }] of positions) {
    const total = [...own.values()].reduce((sum, lot) => sum + lot, free)
    if (total > 0n) balances.set(key, total)
    for (const [id, lot] of own) if (lot > 0n) lots.set(`${key} ${id}`, lot)
  }
  return {
    balances,
    lots,
    requests: requests.map(({ how: _, marked: __, owner: ___, lots: ____, ...rest }) => rest),
    entries,
    watched: watched.sort(),
    used: [...used].map(([key, block]) => `${key.split(' ')[0]} ${block}`).sort(),
  }
}

function reduce(held: Position, amount: bigint): void {
  const ids = [...held.lots.keys()].sort((a, b) => (a < b ? -1 : 1))
  const parts = share(amount, [...ids.map((id) => held.lots.get(id) ?? 0n), held.free])
  ids.forEach((id, i) => {
    held.lots.set(id, (held.lots.get(id) ?? 0n) - (parts[i] ?? 0n))
  })
  held.free -= parts.at(-1) ?? 0n
}

/** floor(weight × amount / total) each, the units left over one each by largest fraction, larger weight, earlier place. */
export function share(amount: bigint, weights: bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  if (total === 0n) return weights.map(() => 0n)
  const floors = weights.map((weight) => (weight * amount) / total)
  const missing = Number(amount - floors.reduce((sum, floor) => sum + floor, 0n))
  const byFraction = weights
    .map((weight, i) => ({ i, weight, fraction: (weight * amount) % total }))
    .sort(
      (a, b) =>
        Number(b.fraction > a.fraction) - Number(b.fraction < a.fraction) ||
        Number(b.weight > a.weight) - Number(b.weight < a.weight) ||
        a.i - b.i,
    )
  const lucky = new Set(byFraction.slice(0, missing).map(({ i }) => i))
  return floors.map((floor, i) => floor + (lucky.has(i) ? 1n : 0n))
}

export function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function sumOf(list: Iterable<bigint>): bigint {
  return [...list].reduce((sum, each) => sum + each, 0n)
}

function weakest(a: How, b: How): How {
  const order: How[] = ['legacy', 'unsigned', 'signed']
  return order[Math.min(order.indexOf(a), order.indexOf(b))] ?? a
}
