import { asyncVault, type How, type ModelBlock, type ModelEvent, type ModelTransaction, zero } from './model.js'

/**
 * What the tables should say, counted from what happened and from docs/methodology.md alone: one transaction after the
 * other, with no cache, no rewinding and none of the service's code.
 */

export type Rules = {
  distributors: { id: string; from: number }[]
  signedOnly: { id: string; from: number; value: boolean }[]
  vaults: { address: string; from: number }[]
}

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
  entries: string[]
  watched: string[]
}

type Credit = { id: string; how: How }
type Position = { free: bigint; lots: Map<string, bigint> }
type Request = Expected['requests'][number] & { how: How | null; marked: boolean }

export function recount(blocks: readonly ModelBlock[], rules: Rules): Expected {
  const positions = new Map<string, Position>()
  const requests: Request[] = []
  const entries: string[] = []
  const watched: string[] = []
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
      const credits = creditEvents(transaction, calls, known, rules, block.timestamp)
      for (const { address: vault } of rules.vaults) {
        const own = known.filter((event) => event.vault === vault)
        if (own.length > 0) settle(vault, own, credits, block, transaction)
      }
    }

  function settle(
    vault: string,
    events: ModelEvent[],
    credits: Map<ModelEvent, Credit>,
    block: ModelBlock,
    tx: ModelTransaction,
  ) {
    const net = netOf(events)
    const gain = new Map([...net].filter(([, change]) => change > 0n))
    const loss = new Map([...net].filter(([, change]) => change < 0n).map(([wallet, change]) => [wallet, -change]))
    const entry = (event: ModelEvent, kind: string, wallet: string, credit: Credit, amounts: [bigint, bigint]) =>
      entries.push([block.hash, tx.hash, event.at, kind, vault, wallet, credit.id, credit.how, ...amounts].join(' '))
    const put = (wallet: string, amount: bigint, id: string) => {
      const held = position(vault, wallet)
      held.lots.set(id, (held.lots.get(id) ?? 0n) + amount)
      gain.set(wallet, (gain.get(wallet) ?? 0n) - amount)
    }
    /** What owners passed on, and what owners keep of their own deposits that nobody brought. */
    const passedOn: { amount: bigint; credit: Credit }[] = []
    const own = new Map<string, bigint>()
    const give = (owner: string, amount: bigint, credit: Credit) => {
      const kept = least(amount, gain.get(owner) ?? 0n)
      put(owner, kept, credit.id)
      passedOn.push({ amount: amount - kept, credit })
    }
    const keep = (event: ModelEvent, owner: string, amount: bigint) =>
      own.set(owner, (own.get(owner) ?? 0n) + least(amount, mints.get(event)?.kept ?? 0n))
    const giveOthers = ({ amount, credit }: (typeof passedOn)[number]) => {
      const others = [...gain]
        .map(([wallet, left]) => [wallet, left - (own.get(wallet) ?? 0n)] as const)
        .filter(([, left]) => left > 0n)
        .sort(([a], [b]) => (a < b ? -1 : 1))
      const rest = least(
        amount,
        others.reduce((sum, [, left]) => sum + left, 0n),
      )
      const parts = share(
        rest,
        others.map(([, left]) => left),
      )
      others.forEach(([wallet], i) => {
        put(wallet, parts[i] ?? 0n, credit.id)
      })
    }
    const takeOwn = (owner: string, amount: bigint, credit: Credit) => {
      const held = position(vault, owner)
      const taken = least(held.lots.get(credit.id) ?? 0n, least(amount, loss.get(owner) ?? 0n))
      held.lots.set(credit.id, (held.lots.get(credit.id) ?? 0n) - taken)
      loss.set(owner, (loss.get(owner) ?? 0n) - taken)
    }
    const movedFor = createMoves(events)
    const mints = readMints(vault, events)

    for (const event of events) {
      const credit = credits.get(event) ?? null
      if (event.kind === 'deposit') {
        const minted = mints.get(event)?.minted ?? 0n
        if (vault !== asyncVault) {
          if (!credit) {
            keep(event, event.owner, minted)
            continue
          }
          give(event.owner, minted, credit)
          entry(event, 'deposit', event.owner, credit, [event.assets, event.shares])
          continue
        }
        const parts = consume('deposit', event.sender, event.assets, credit)
        const delivered = share(
          minted,
          parts.map(({ amount }) => amount),
        )
        const shares = share(
          event.shares,
          parts.map(({ amount }) => amount),
        )
        parts.forEach((part, i) => {
          if (!part.credit) {
            keep(event, event.owner, delivered[i] ?? 0n)
            return
          }
          give(event.owner, delivered[i] ?? 0n, part.credit)
          entry(event, 'deposit', event.sender, part.credit, [part.amount, shares[i] ?? 0n])
        })
      } else if (event.kind === 'withdraw') {
        if (vault === asyncVault) {
          const parts = consume('redeem', event.owner, event.shares, null)
          const assets = share(
            event.assets,
            parts.map(({ amount }) => amount),
          )
          parts.forEach((part, i) => {
            if (part.credit) entry(event, 'withdraw', event.owner, part.credit, [assets[i] ?? 0n, part.amount])
          })
          continue
        }
        const burned = movedFor(event, (from, to) => from === event.owner && (to === zero || to === vault))
        if (!credit) continue
        takeOwn(event.owner, burned, credit)
        entry(event, 'withdraw', event.owner, credit, [event.assets, event.shares])
      } else if (event.kind === 'requestDeposit' || event.kind === 'requestRedeem') {
        const kind = event.kind === 'requestDeposit' ? 'deposit' : 'redeem'
        const { controller, amount } = event
        requests.push({
          controller,
          kind,
          distributor: credit?.id ?? null,
          how: credit?.how ?? null,
          amount,
          remaining: amount,
          cancelled: 0n,
          marked: false,
        })
        if (kind === 'redeem') {
          const sent = movedFor(event, (from, to) => from === event.owner && (to === zero || to === vault))
          if (credit) takeOwn(event.owner, sent, credit)
        }
      } else if (event.kind === 'cancelledDeposit' || event.kind === 'cancelledRedeem') {
        let left = event.amount
        const kind = event.kind === 'cancelledDeposit' ? 'deposit' : 'redeem'
        const own = requests.filter((each) => each.kind === kind && each.controller === event.controller).reverse()
        // Those that were cancelled before those made since.
        for (const request of [...own.filter((each) => each.marked), ...own.filter((each) => !each.marked)]) {
          const taken = least(left, request.remaining)
          request.remaining -= taken
          request.cancelled += taken
          request.marked = false
          left -= taken
        }
      } else if (event.kind === 'cancelDeposit' || event.kind === 'cancelRedeem') {
        const kind = event.kind === 'cancelDeposit' ? 'deposit' : 'redeem'
        for (const request of requests)
          if (request.kind === kind && request.controller === event.controller && request.remaining > 0n)
            request.marked = true
      }
    }
    passedOn.forEach(giveOthers)
    for (const [wallet, left] of gain) position(vault, wallet).free += left
    for (const [wallet, left] of loss) reduce(position(vault, wallet), left)
  }

  /** Oldest requests first; what none covers, or whose request had nobody, is the claim's own. */
  function consume(kind: string, controller: string, amount: bigint, own: Credit | null) {
    const parts: { credit: Credit | null; amount: bigint }[] = []
    let left = amount
    const add = (credit: Credit | null, taken: bigint) => {
      const same = parts.find((part) => part.credit?.id === credit?.id)
      if (!same) parts.push({ credit: credit && { ...credit }, amount: taken })
      else {
        same.amount += taken
        if (same.credit && credit && credit.how !== 'signed') same.credit.how = credit.how
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
      )
    }
    if (left > 0n || parts.length === 0) add(own, left)
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
    requests: requests.map(({ how: _, marked: __, ...rest }) => rest),
    entries: entries.sort(),
    watched: watched.sort(),
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
function share(amount: bigint, weights: bigint[]): bigint[] {
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

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function netOf(events: ModelEvent[]): Map<string, bigint> {
  const net = new Map<string, bigint>()
  for (const event of events) {
    if (event.kind !== 'transfer') continue
    if (event.from !== zero) net.set(event.from, (net.get(event.from) ?? 0n) - event.amount)
    if (event.to !== zero) net.set(event.to, (net.get(event.to) ?? 0n) + event.amount)
  }
  return net
}

/** Finds shares that came to or left an owner for an event: by mint, burn, or through the vault; each once. */
function createMoves(events: readonly ModelEvent[]) {
  const claimed = new Set<ModelEvent>()
  return (event: ModelEvent, matches: (from: string, to: string) => boolean): bigint => {
    const calls = events.filter(({ kind }) => kind !== 'transfer')
    const after = calls.find(({ at }) => at > event.at)?.at ?? Number.POSITIVE_INFINITY
    const find = (low: number, high: number) => {
      let sum = 0n
      for (const each of events)
        if (
          each.kind === 'transfer' &&
          !claimed.has(each) &&
          each.at > low &&
          each.at < high &&
          matches(each.from, each.to)
        ) {
          claimed.add(each)
          sum += each.amount
        }
      return sum
    }
    return find(-1, event.at) || find(event.at, after)
  }
}

/** What each deposit minted, and how much of that its owner keeps. */
function readMints(vault: string, events: readonly ModelEvent[]): Map<ModelEvent, { minted: bigint; kept: bigint }> {
  const movedFor = createMoves(events)
  const left = netOf([...events])
  const mints = new Map<ModelEvent, { minted: bigint; kept: bigint }>()
  for (const event of events) {
    if (event.kind !== 'deposit') continue
    const minted = movedFor(event, (from, to) => to === event.owner && (from === zero || from === vault))
    const gain = left.get(event.owner) ?? 0n
    const kept = gain > 0n ? least(gain, minted) : 0n
    left.set(event.owner, gain - kept)
    mints.set(event, { minted, kept })
  }
  return mints
}

/** Whether a wallet ends with shares a deposit minted: its owner's, or what the owners of all deposits did not keep. */
function endsWith(wallet: string, event: ModelEvent, all: readonly ModelEvent[]): boolean {
  if (event.kind !== 'deposit') return false
  const events = all.filter((one) => one.vault === event.vault)
  const mints = readMints(event.vault, events)
  const { minted, kept } = mints.get(event) ?? { minted: 0n, kept: 0n }
  if (wallet === event.owner && kept > 0n) return true
  if (minted > 0n && minted === kept) return false
  const own = [...mints]
    .filter(([one]) => one.kind === 'deposit' && one.owner === wallet)
    .reduce((sum, [, mint]) => sum + mint.kept, 0n)
  return (netOf(events).get(wallet) ?? 0n) > own
}

/** The nth matching frame of a sender to the nth matching event. */
function creditEvents(
  tx: ModelTransaction,
  calls: ModelEvent[],
  all: ModelEvent[],
  rules: Rules,
  time: number,
): Map<ModelEvent, Credit> {
  const credits = new Map<ModelEvent, Credit>()
  for (const group of tx.groups) {
    const used = new Set<unknown>()
    for (const event of calls.filter(({ at }) => at >= group.from && at < group.to)) {
      const vault = rules.vaults.find(({ address }) => address === event.vault)
      if (!vault || vault.from > time) continue
      const frame = group.frames.find((each) => {
        const gained = endsWith(each.caller, event, all)
        const parties: string[] = ['sender', 'owner', 'controller'].flatMap((name) =>
          name in event ? [String(event[name as never])] : [],
        )
        const aims = each.target === event.vault || !rules.vaults.some(({ address }) => address === each.target)
        return !used.has(each) && aims && (parties.includes(each.caller) || gained)
      })
      if (!frame) continue
      if (group.frames.length > 1) used.add(frame)
      const registered = rules.distributors.some(({ id, from }) => id === frame.code && from <= time)
      if (!registered) continue
      const setting = rules.signedOnly
        .filter(({ id, from }) => id === frame.code && from <= time)
        .sort((a, b) => a.from - b.from)
        .at(-1)
      if (setting?.value && frame.how !== 'signed') continue
      credits.set(event, { id: frame.code, how: frame.how })
    }
  }
  return credits
}
