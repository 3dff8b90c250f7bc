/**
 * Holders looked through, a second time: written from the definitions (docs/methodology.md, "Holders looked through", and how kept
 * shares, netting, lots and entries are defined there), without the code under test. Of each transaction it takes the facts in the
 * order of the logs, and whom each deposit and withdrawal is credited to.
 */
export type Fact = { at: number } & (
  | { kind: 'transfer'; from: string; to: string; amount: bigint }
  | { kind: 'deposit' | 'withdraw'; owner: string; shares: bigint; code: string | null }
  | { kind: 'in' | 'out'; holder: string; account: string; shares: bigint; emitsFirst: boolean }
  | { kind: 'move'; holder: string; account: string; to: string; shares: bigint }
  | { kind: 'upgrade'; holder: string }
)

export type Rules = {
  vault: string
  zero: string
  /** Of each holder the instants of its declarations. */
  declared: ReadonlyMap<string, readonly number[]>
  /** Instants at which the view of a holder was found to contradict its events. */
  doubts: readonly { holder: string; at: number }[]
}

/** A chip: shares that arrived at a place in this transaction. `old`: the place that held them before it. */
type Chip = { n: bigint; mark: Fact | undefined; old: string | undefined }
type Place = { chips: Chip[]; left: bigint; lots: Map<string, bigint> }
/** An entry of the ledger: the fact that is its event, in its transaction. A share is a unit of the asset here. */
export type Entry = { at: number; kind: 'deposit' | 'withdraw'; wallet: string; code: string; assets: bigint }
/** Old shares of a place that were burned; `by`: the Withdraw, whose burn is the Transfer before it. */
type Burn = { place: string; n: bigint; at: number; by: Fact | undefined }
type Standing = { counts: boolean; brokenAt: number; ignored: number }

const free = '~'
const sum = (all: Iterable<bigint>): bigint => [...all].reduce((a, b) => a + b, 0n)
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Largest fractions first; then the larger lot; then the lowest name, what nobody sourced last. */
export function share(amount: bigint, lots: ReadonlyMap<string, bigint>): Map<string, bigint> {
  const total = sum(lots.values())
  const names = [...lots.keys()].sort()
  const parts = new Map(names.map((name) => [name, total === 0n ? 0n : (amount * (lots.get(name) ?? 0n)) / total]))
  const rest = (name: string) => (total === 0n ? 0n : (amount * (lots.get(name) ?? 0n)) % total)
  const order = names.sort((a, b) => {
    const [x, y] = [rest(a), rest(b)]
    if (x !== y) return x > y ? -1 : 1
    const [p, q] = [lots.get(a) ?? 0n, lots.get(b) ?? 0n]
    return p !== q ? (p > q ? -1 : 1) : a < b ? -1 : 1
  })
  let open = total === 0n ? 0n : amount - sum(parts.values())
  for (const name of order) {
    if (open === 0n) break
    parts.set(name, (parts.get(name) ?? 0n) + 1n)
    open -= 1n
  }
  return parts
}

export function createRecount(rules: Rules) {
  const { vault, zero, declared, doubts } = rules
  /** By place: `account` for what it has itself, `account in holder`, and `holder` for what is nobody's there. */
  const lots = new Map<string, Map<string, bigint>>()
  const standings = new Map(
    [...declared.keys()].map((h) => [h, { counts: false, brokenAt: -1, ignored: 0 } as Standing]),
  )
  const lotsAt = (place: string) => {
    const known = lots.get(place) ?? new Map<string, bigint>()
    lots.set(place, known)
    return known
  }
  /** Holders that a doubt has ended at least once, so that a test sees that some were. */
  const doubted = new Set<string>()
  const standingOf = (holder: string) => standings.get(holder) as Standing
  const isAccount = (address: string) => address !== vault && address !== zero && !declared.has(address)
  const inside = (account: string, holder: string) => `${account} in ${holder}`
  const splitPlace = (place: string) => place.split(' in ') as [string, string | undefined]
  const whose = (place: string) => {
    const [account, holder] = splitPlace(place)
    return holder === undefined || standingOf(holder).counts ? account : holder
  }
  const total = (place: string) => sum(lotsAt(place).values())

  function start(time: number) {
    for (const [holder, dates] of declared) {
      const standing = standingOf(holder)
      const newest = Math.max(...dates.filter((date) => date <= time), -1)
      if (!standing.counts && newest >= 0 && newest > standing.brokenAt) standing.counts = true
      // A declaration from after the doubt is one anew.
      const isDoubted = doubts.some((doubt) => doubt.holder === holder && newest <= doubt.at && doubt.at < time)
      if (standing.counts && isDoubted) {
        breakHolder(holder, 'doubt', time, 0n)
        doubted.add(holder)
      }
    }
  }

  function matchEvents(facts: readonly Fact[]) {
    const taker = { in: new Map<Fact, Fact>(), out: new Map<Fact, Fact>() }
    for (const event of facts) {
      if ((event.kind !== 'in' && event.kind !== 'out') || event.shares === 0n) continue
      const fits = facts.filter(
        (each) =>
          each.kind === 'transfer' &&
          each.from !== each.to &&
          each.amount > 0n &&
          (event.kind === 'in' ? each.to : each.from) === event.holder &&
          (event.emitsFirst ? each.at > event.at : each.at < event.at) &&
          !taker[event.kind].has(each),
      )
      const found = event.emitsFirst ? fits[0] : fits.at(-1)
      if (found && isAccount(event.account)) taker[event.kind].set(found, event)
      else standingOf(event.holder).ignored += 1
    }
    return taker
  }

  function transact(time: number, facts: readonly Fact[]): Entry[] {
    // A receipt that an account sends to itself moves no share: with that alone it is no transaction of the vault.
    if (facts.every((fact) => fact.kind === 'move' && fact.account === fact.to)) return []
    start(time)
    const places = new Map<string, Place>()
    const open = (name: string): Place => {
      const known = places.get(name) ?? { chips: [], left: total(name), lots: lotsAt(name) }
      places.set(name, known)
      return known
    }
    const has = (name: string) => open(name).left + sum(open(name).chips.map(({ n }) => n))
    const broken = new Map<string, 'short' | 'upgrade'>()
    const taker = matchEvents(facts)
    const burns: Burn[] = []
    const lacking = new Map<string, bigint>()
    let clock = 0
    const arrivals = new Map<Chip, number>()
    /** The share of a Transfer that a deposit minted: at most its shares, of Transfers from zero to its owner nearby. */
    const mintOf = (fact: Fact) => {
      if (fact.kind !== 'transfer' || fact.from !== zero) return undefined
      const events = facts.filter(({ kind }) => kind === 'deposit' || kind === 'withdraw')
      return events.find((each) => each.kind === 'deposit' && each.owner === fact.to && each.at === fact.at + 1)
    }
    /** The Withdraw that a Transfer to zero burned for. */
    const burnOf = (fact: Fact) =>
      fact.kind === 'transfer' && fact.to === zero
        ? facts.find((each) => each.kind === 'withdraw' && each.owner === fact.from && each.at === fact.at + 1)
        : undefined
    const moveChips = (from: string, to: string, amount: bigint, mint: Fact | undefined, by?: Fact) => {
      if (from === to || amount === 0n) return
      const moving: Chip[] = []
      let wanted = amount
      if (from === zero) {
        const marked = mint?.kind === 'deposit' ? least(mint.shares, amount) : 0n
        if (marked > 0n) moving.push({ n: marked, mark: mint, old: undefined })
        if (amount > marked) moving.push({ n: amount - marked, mark: undefined, old: undefined })
      } else {
        const place = open(from)
        while (wanted > 0n && place.chips.length > 0) {
          const last = place.chips.at(-1) as Chip
          const n = least(last.n, wanted)
          moving.push({ ...last, n })
          last.n -= n
          wanted -= n
          if (last.n === 0n) place.chips.pop()
        }
        if (wanted > place.left) lacking.set(from, (lacking.get(from) ?? 0n) + wanted - place.left)
        if (wanted > 0n) moving.push({ n: wanted, mark: undefined, old: from })
        place.left -= least(wanted, place.left)
      }
      for (const chip of moving) {
        clock += 1
        if (to === zero) {
          if (chip.old !== undefined) burns.push({ place: chip.old, n: chip.n, at: clock, by })
        } else if (chip.old === to) open(to).left += chip.n
        else {
          open(to).chips.push(chip)
          arrivals.set(chip, clock)
        }
      }
    }
    for (const fact of facts) {
      if (fact.kind === 'upgrade') {
        if (standingOf(fact.holder).counts && !broken.has(fact.holder)) broken.set(fact.holder, 'upgrade')
      } else if (fact.kind === 'move') {
        if (!isAccount(fact.account) || fact.account === fact.to) continue
        const from = inside(fact.account, fact.holder)
        const amount = least(fact.shares, has(from))
        if (amount < fact.shares) standingOf(fact.holder).ignored += 1
        moveChips(from, isAccount(fact.to) ? inside(fact.to, fact.holder) : fact.holder, amount, undefined)
      } else if (fact.kind === 'transfer' && fact.from !== fact.to) {
        const { from, to, amount } = fact
        const out = taker.out.get(fact) as Extract<Fact, { kind: 'in' | 'out' }> | undefined
        const into = taker.in.get(fact) as Extract<Fact, { kind: 'in' | 'out' }> | undefined
        const ofAccount = out ? least(least(out.shares, amount), has(inside(out.account, from))) : 0n
        const toAccount = into ? least(into.shares, amount) : 0n
        if (declared.has(from) && amount - ofAccount > has(from)) broken.set(from, 'short')
        const sources: [string, bigint][] =
          out && ofAccount > 0n
            ? [
                [inside(out.account, from), ofAccount],
                [from, amount - ofAccount],
              ]
            : [[from, amount]]
        const targets: [string, bigint][] =
          into && toAccount > 0n
            ? [
                [inside(into.account, to), toAccount],
                [to, amount - toAccount],
              ]
            : [[to, amount]]
        const mint = mintOf(fact)
        for (const source of sources)
          for (const target of targets) {
            const n = least(source[1], target[1])
            moveChips(source[0], target[0], n, mint, burnOf(fact))
            source[1] -= n
            target[1] -= n
          }
      }
    }
    settle(places, burns, arrivals, lacking)
    const entries = listEntries(places, burns)
    for (const [holder, why] of broken) breakHolder(holder, why, time, lacking.get(holder) ?? 0n)
    return entries
  }

  /** What accounts kept of credited deposits, and lost of old shares to credited withdrawals. */
  function listEntries(places: ReadonlyMap<string, Place>, burns: readonly Burn[]): Entry[] {
    const sums = new Map<string, Entry>()
    const count = (fact: Fact | undefined, place: string, n: bigint) => {
      const wallet = whose(place)
      if ((fact?.kind !== 'deposit' && fact?.kind !== 'withdraw') || fact.code === null) return
      if (n === 0n || !isAccount(wallet)) return
      const key = `${fact.at} ${wallet}`
      const { at, kind, code } = fact
      sums.set(key, { at, kind, wallet, code, assets: (sums.get(key)?.assets ?? 0n) + n })
    }
    for (const [place, { chips }] of places) for (const { mark, n } of chips) count(mark, place, n)
    for (const { by, place, n } of burns) count(by, place, n)
    return [...sums.values()]
  }

  function settle(
    places: ReadonlyMap<string, Place>,
    burns: Burn[],
    arrivals: ReadonlyMap<Chip, number>,
    lacking: ReadonlyMap<string, bigint>,
  ) {
    /** Old shares that an account moved from one of its places to another. */
    const carried: { from: string; to: string; n: bigint }[] = []
    const gone = new Map([...places].map(([name, { left }]) => [name, total(name) - left]))
    const newest = (a: { at: number }, b: { at: number }) => b.at - a.at
    for (const [to, { chips }] of places)
      for (const chip of chips)
        if (chip.old !== undefined && whose(chip.old) === whose(to)) {
          carried.push({ from: chip.old, to, n: chip.n })
          chip.n = 0n
        }
    const accounts = new Set([...places.keys()].map(whose).filter(isAccount))
    for (const account of accounts) {
      const marks = [...places].flatMap(([place, { chips }]) =>
        whose(place) === account
          ? chips.filter(({ mark }) => mark).map((chip) => ({ place, chip, at: arrivals.get(chip) ?? 0 }))
          : [],
      )
      const own = burns.filter(({ place }) => whose(place) === account).sort(newest)
      for (const { place, chip } of marks.sort(newest))
        for (const burn of own) {
          const n = least(chip.n, burn.n)
          chip.n -= n
          burn.n -= n
          // Within one place nothing happened; between two, old shares moved.
          if (place === burn.place) gone.set(place, (gone.get(place) ?? 0n) - n)
          else if (n > 0n) carried.push({ from: burn.place, to: place, n })
        }
    }
    const taken = new Map<string, Map<string, bigint>>()
    for (const [place, n] of gone) {
      const parts = n > 0n ? share(n, lotsAt(place)) : new Map<string, bigint>()
      for (const [name, part] of parts) lotsAt(place).set(name, (lotsAt(place).get(name) ?? 0n) - part)
      taken.set(place, parts)
    }
    const add = (place: string, name: string, n: bigint) =>
      place === zero || lotsAt(place).set(name, (lotsAt(place).get(name) ?? 0n) + n)
    for (const { from, to, n } of carried) {
      const pool = taken.get(from) ?? new Map<string, bigint>()
      const within = least(n, sum(pool.values()))
      for (const [name, part] of share(within, pool)) {
        pool.set(name, (pool.get(name) ?? 0n) - part)
        add(to, name, part)
      }
      add(to, free, n - within)
    }
    for (const [place, { chips }] of places)
      for (const { n, mark } of chips) {
        const code = mark?.kind === 'deposit' && isAccount(whose(place)) ? mark.code : null
        add(place, code ?? free, n)
      }
    if ([...lacking.keys()].some((place) => !declared.has(place))) throw new Error('a wallet sent what it had not')
  }

  function breakHolder(holder: string, why: 'short' | 'upgrade' | 'doubt', time: number, lacking: bigint) {
    for (const place of [...lots.keys()]) {
      const [account, of] = splitPlace(place)
      if (of !== holder) continue
      const all = total(place)
      lots.delete(place)
      const to = why === 'short' ? lotsAt(holder) : lotsAt(inside(account, holder))
      to.set(free, (to.get(free) ?? 0n) + all)
    }
    const own = lotsAt(holder)
    own.set(free, (own.get(free) ?? 0n) - least(lacking, own.get(free) ?? 0n))
    standings.set(holder, { ...standingOf(holder), counts: false, brokenAt: time })
  }

  return {
    transact,
    /** What counts for each account, by lot: itself and in holders that count; of a holder what counts for nobody. */
    holdings: (): Record<string, Record<string, string>> => {
      const all = new Map<string, Map<string, bigint>>()
      for (const [place, parts] of lots) {
        const own = all.get(whose(place)) ?? new Map<string, bigint>()
        all.set(whose(place), own)
        for (const [name, n] of parts) own.set(name, (own.get(name) ?? 0n) + n)
      }
      return toPlain(all)
    },
    /** How many shares each holder keeps for an account, whether or not it counts. */
    held: (): Record<string, string> =>
      Object.fromEntries(
        [...lots]
          .flatMap(([place, parts]) =>
            place.includes(' in ') && sum(parts.values()) > 0n ? [[place, `${sum(parts.values())}`]] : [],
          )
          .sort(),
      ),
    doubted: () => doubted.size,
    standings: () => Object.fromEntries([...standings].map(([h, { counts, ignored }]) => [h, `${counts} ${ignored}`])),
  }
}

function toPlain(all: ReadonlyMap<string, ReadonlyMap<string, bigint>>): Record<string, Record<string, string>> {
  const rows = [...all].flatMap(([who, lots]) => {
    const parts = [...lots].filter(([, n]) => n !== 0n).sort()
    return parts.length === 0 ? [] : [[who, Object.fromEntries(parts.map(([name, n]) => [name, `${n}`]))] as const]
  })
  return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)))
}
