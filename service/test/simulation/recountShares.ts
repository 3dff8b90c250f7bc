import { type ModelEvent, zero } from './model.js'

/** What became of a vault's shares in one transaction, each share by itself in runs of equal ones. */
export type Followed = {
  /** Old shares each wallet has less of, and shares that came to it and are new there. */
  gone: Map<string, bigint>
  arrived: Map<string, bigint>
  /** By event: what it minted or burned, and the part of each wallet. */
  moved: Map<ModelEvent, bigint>
  kept: Map<ModelEvent, Map<string, bigint>>
}

type Move = Extract<ModelEvent, { kind: 'transfer' }>
/** A run of shares: minted by an event, or old ones of a wallet, or neither. */
type Run = { count: bigint; by?: ModelEvent; from?: string }

const isCall = (event: ModelEvent) => event.kind !== 'transfer'
const min = (a: bigint, b: bigint) => (a < b ? a : b)
const total = (runs: readonly { count: bigint }[]) => runs.reduce((sum, { count }) => sum + count, 0n)

export function follow(vault: string, events: readonly ModelEvent[]): Followed {
  const { owned, moved } = assign(vault, events)
  const pockets = new Map<string, Run[]>()
  const pocket = (wallet: string): Run[] => {
    const known = pockets.get(wallet) ?? []
    pockets.set(wallet, known)
    return known
  }
  const gone = new Map<string, bigint>()
  const addGone = (wallet: string, count: bigint) => gone.set(wallet, (gone.get(wallet) ?? 0n) + count)
  const burnt: { wallet: string; count: bigint; by: ModelEvent | undefined }[] = []

  for (const move of events) {
    if (move.kind !== 'transfer' || move.from === move.to) continue
    const { from, to, amount } = move
    let runs: Run[] = [{ count: amount }]
    if (from !== zero) {
      runs = take(pocket(from), amount)
      const old = amount - total(runs)
      if (old > 0n) {
        runs.push({ count: old, from })
        addGone(from, old)
      }
    }
    const claims = owned.get(move)
    if (claims?.event.kind === 'deposit')
      runs = split(runs, claims.count, (run) => ({ count: run.count, by: claims.event }))
    else if (claims || to === zero)
      split(runs, claims?.count ?? 0n, (run) => {
        if (run.from !== undefined) burnt.push({ wallet: run.from, count: run.count, by: claims?.event })
        return run
      }).forEach((run, index, all) => {
        const isRest = total(all.slice(0, index)) >= (claims?.count ?? 0n)
        if (isRest && to === zero && run.from !== undefined)
          burnt.push({ wallet: run.from, count: run.count, by: undefined })
      })
    if (to === zero) continue
    for (const run of runs)
      if (run.from === to) addGone(to, -run.count)
      else pocket(to).push({ ...run })
  }

  const kept = new Map<ModelEvent, Map<string, bigint>>()
  const arrived = new Map<string, bigint>()
  const credit = (event: ModelEvent, wallet: string, count: bigint) => {
    if (count === 0n) return
    const parts = kept.get(event) ?? new Map<string, bigint>()
    parts.set(wallet, (parts.get(wallet) ?? 0n) + count)
    kept.set(event, parts)
  }
  for (const wallet of new Set([...gone.keys(), ...pockets.keys()])) {
    const runs = pocket(wallet)
    const marks = runs.filter(({ by }) => by !== undefined)
    const burns = burnt.filter((each) => each.wallet === wallet)
    const netted = wallet === vault ? 0n : min(total(marks), total(burns))
    arrived.set(wallet, total(runs) - netted)
    addGone(wallet, -netted)
    for (const list of [marks, burns]) {
      let left = netted
      for (const each of [...list].reverse()) {
        const drop = min(left, each.count)
        each.count -= drop
        left -= drop
      }
    }
    if (wallet === vault) continue
    for (const { by, count } of marks) if (by) credit(by, wallet, count)
    for (const { by, count } of burns) if (by?.kind === 'withdraw') credit(by, wallet, count)
  }
  return { gone, arrived, moved, kept }
}

/** Newest first. */
function take(runs: Run[], amount: bigint): Run[] {
  const taken: Run[] = []
  for (let left = amount; left > 0n; ) {
    const run = runs.pop()
    if (!run) break
    const count = min(run.count, left)
    taken.push({ ...run, count })
    if (run.count > count) runs.push({ ...run, count: run.count - count })
    left -= count
  }
  return taken
}

/** Changes the first `count` shares. */
function split(runs: readonly Run[], count: bigint, change: (run: Run) => Run): Run[] {
  let left = count
  return runs.flatMap((run) => {
    const part = min(run.count, left)
    left -= part
    const rest = run.count - part
    return [...(part > 0n ? [change({ ...run, count: part })] : []), ...(rest > 0n ? [{ ...run, count: rest }] : [])]
  })
}

/** Which Transfers are whose, how much of each, and how much each event has. */
function assign(vault: string, events: readonly ModelEvent[]) {
  const owned = new Map<Move, { event: ModelEvent; count: bigint }>()
  const moved = new Map<ModelEvent, bigint>()
  const kinds: [string[], (event: ModelEvent, move: Move) => boolean][] = [
    [['deposit'], (event, move) => 'owner' in event && move.to === event.owner && [zero, vault].includes(move.from)],
    [
      ['withdraw', 'requestRedeem'],
      (event, move) => 'owner' in event && move.from === event.owner && [zero, vault].includes(move.to),
    ],
  ]
  for (const [names, fits] of kinds) {
    let side: 'before' | 'after' | undefined
    for (const event of events.filter(({ kind }) => names.includes(kind))) {
      const shares = 'shares' in event ? event.shares : 'amount' in event ? event.amount : 0n
      if (shares === 0n) continue
      const index = events.indexOf(event)
      const before = sliceWhile([...events.slice(0, index)].reverse())
      const after = sliceWhile(events.slice(index + 1))
      const own = (list: ModelEvent[]) =>
        list.filter((each): each is Move => each.kind === 'transfer' && each.from !== each.to && fits(event, each))
      side ??= own(before).length > 0 ? 'before' : own(after).length > 0 ? 'after' : undefined
      let left = shares
      for (const move of own(side === 'after' ? after : before)) {
        const count = min(move.amount, left)
        if (count === 0n || owned.has(move)) continue
        owned.set(move, { event, count })
        left -= count
      }
      moved.set(event, shares - left)
    }
  }
  return { owned, moved }
}

/** Up to the next event that is no Transfer. */
function sliceWhile(events: ModelEvent[]): ModelEvent[] {
  const end = events.findIndex(isCall)
  return end < 0 ? events : events.slice(0, end)
}
