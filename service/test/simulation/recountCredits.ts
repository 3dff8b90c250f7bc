import {
  asyncVault,
  type How,
  type ModelCall,
  type ModelEvent,
  type ModelFrame,
  type ModelTransaction,
} from './model.js'
import { follow } from './recountShares.js'

export type Rules = {
  chainId: number
  distributors: { id: string; from: number }[]
  signedOnly: { id: string; from: number; value: boolean }[]
  vaults: { address: string; from: number }[]
  /** What a whole token is worth from when on, in millionths of a dollar, oldest first. */
  prices: { from: number; micros: bigint }[]
}

export type Credit = { id: string; how: How }

type Sides = { rules: Rules; block: { number: number; timestamp: number }; used: Map<string, number> }

/** Who brought the shares of a wallet, for each event of a transaction. `used` are signatures that have counted. */
export function creditEvents(
  tx: ModelTransaction,
  calls: readonly ModelEvent[],
  all: readonly ModelEvent[],
  { rules, block, used }: Sides,
): (event: ModelEvent, wallet: string) => Credit | null {
  const time = block.timestamp
  const vaults = [...new Set(calls.map(({ vault }) => vault))]
  const told = new Map(
    vaults.map((vault) => [
      vault,
      follow(
        vault,
        all.filter((event) => event.vault === vault),
      ),
    ]),
  )
  const walletsOf = (event: ModelEvent): string[] => {
    if ('controller' in event) return [event.controller]
    const kept = [...(told.get(event.vault)?.kept.get(event)?.keys() ?? [])]
    return event.kind === 'deposit' && event.vault === asyncVault ? [event.owner] : kept
  }
  const partiesOf = (event: ModelEvent): string[] =>
    ['sender', 'owner', 'controller'].flatMap((name) => (name in event ? [String(event[name as never])] : []))

  const makers = new Map<ModelEvent, ModelFrame[]>()
  for (const group of tx.groups) {
    const mine = calls.filter(({ at }) => at >= group.from && at < group.to)
    for (const [event, frames] of match(mine, group.frames, (event) => [...partiesOf(event), ...walletsOf(event)]))
      makers.set(event, frames)
  }

  const names = new Map<ModelEvent, Map<string, Credit>>()
  /** Calls of this transaction for which a signature counted. */
  const counted = new Map<string, ModelFrame>()
  for (const event of calls) {
    const vault = rules.vaults.find(({ address }) => address === event.vault)
    const frames = makers.get(event) ?? []
    if (!vault || vault.from > time || frames.length === 0) continue
    const hows = frames.map((frame): How => {
      if (frame.how !== 'signed' || frame.code === null) return frame.how
      if (frames.length > 1 || frame.signedFor !== rules.chainId) return 'unsigned'
      const key = `${event.vault} ${frame.caller} ${frame.target} ${frame.code} ${frame.body}`
      const before = counted.get(key)
      if (before ? before !== frame : used.has(key)) return 'unsigned'
      counted.set(key, frame)
      used.set(key, block.number)
      return 'signed'
    })
    const own = new Map<string, Credit>()
    for (const wallet of walletsOf(event)) {
      const found = frames.map(({ caller, code }, i): Credit | undefined => {
        const how = hows[i] ?? 'unsigned'
        const mayName = caller === wallet || partiesOf(event).includes(caller)
        return mayName && code !== null && accepts(code, how) ? { id: code, how } : undefined
      })
      const [first] = found
      if (first && found.every((each) => each?.id === first.id)) {
        const order: How[] = ['legacy', 'unsigned', 'signed']
        const weak = Math.min(...found.map((each) => order.indexOf(each?.how ?? 'legacy')))
        own.set(wallet, { id: first.id, how: order[weak] ?? 'legacy' })
      }
    }
    names.set(event, own)
  }
  return (event, wallet) => names.get(event)?.get(wallet) ?? null

  function accepts(code: string, how: How): boolean {
    if (!rules.distributors.some(({ id, from }) => id === code && from <= time)) return false
    const settings = rules.signedOnly.filter(({ id, from }) => id === code && from <= time)
    const setting = settings.sort((a, b) => a.from - b.from).at(-1)
    return how === 'signed' || setting?.value !== true
  }
}

/** The calls that can have made each event: by its arguments, by its kind, by what they call, or at all. */
function match(
  events: readonly ModelEvent[],
  frames: readonly ModelFrame[],
  haveSay: (event: ModelEvent) => readonly string[],
): Map<ModelEvent, ModelFrame[]> {
  const able = (event: ModelEvent) =>
    frames.filter((frame) => {
      if (frame.makes === 'nothing' || !haveSay(event).includes(frame.caller)) return false
      const isForeign = frame.target === event.vault && frame.makes !== null && frame.makes.kind !== event.kind
      return !isForeign || frame.isWhole
    })
  const exact = (event: ModelEvent) => able(event).filter((frame) => isOf(frame, event) && hasArguments(frame, event))
  const taken = new Set(events.flatMap(exact))
  const found = new Map<ModelEvent, ModelFrame[]>()
  const ranks = new Map<ModelEvent, number>()
  for (const event of events) {
    const own = exact(event)
    const free = able(event).filter((frame) => !taken.has(frame))
    const left = free.length > 0 ? free : able(event)
    const alike = left.filter((frame) => isOf(frame, event))
    const aimed = left.filter(({ target }) => 'sender' in event && target === event.sender && target !== event.vault)
    const tiers = [own, alike, aimed, left]
    const rank = tiers.findIndex(({ length }) => length > 0)
    found.set(event, tiers[rank] ?? [])
    ranks.set(event, rank)
  }
  for (const event of events) {
    const frames = found.get(event) ?? []
    if (frames.length < 2 || ranks.get(event) === 3) continue
    const same = events.filter((each) => {
      const other = found.get(each) ?? []
      return other.length === frames.length && other.every((frame, i) => frame === frames[i]) && ranks.get(each) !== 3
    })
    if (same.length !== frames.length) continue
    same.forEach((each, i) => {
      const frame = frames[i]
      if (frame) found.set(each, [frame])
    })
  }
  return found
}

function madeBy({ makes }: ModelFrame): ModelCall | undefined {
  return makes === null || makes === 'nothing' ? undefined : makes
}

/** Whether a call to an event's vault makes such events, for its caller; a claim may be sent by anybody. */
function isOf(frame: ModelFrame, event: ModelEvent): boolean {
  const made = madeBy(frame)
  if (frame.target !== event.vault || made?.kind !== event.kind) return false
  const isClaim = made.kind === 'deposit' && made.controller !== undefined
  const callers = ['sender', 'controller'].flatMap((name) => (name in event ? [event[name as never]] : []))
  return isClaim || callers.some((caller) => caller === frame.caller)
}

function hasArguments(frame: ModelFrame, event: ModelEvent): boolean {
  const made = madeBy(frame)
  if (!made || !('owner' in event) || made.owner !== event.owner) return false
  const amounts = 'assets' in event ? [event.assets, event.shares] : [event.amount]
  const controller = 'controller' in event ? event.controller : event.sender
  return amounts[made.of] === made.amount && (made.controller === undefined || made.controller === controller)
}
