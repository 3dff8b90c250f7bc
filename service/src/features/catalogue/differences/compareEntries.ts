import { isDeepStrictEqual } from 'node:util'

/** An entry of the catalogue as it is stored, by its members. */
export type Entry = {
  kind: 'opportunity' | 'organization' | 'product' | 'tag' | 'distributor' | 'token'
  id: string
  name: string
  members: Readonly<Record<string, unknown>>
}

/** An entry that an import changed. `members`: those that differ, each before and after; null where it was, or is, not there. */
export type Difference = {
  kind: Entry['kind']
  id: string
  name: string
  change: 'added' | 'changed' | 'removed'
  members: Record<string, { before: unknown; after: unknown }>
}

/** `more`: differences that are left out. */
export type Differences = { differences: Difference[]; more: number }

/** Most differences that are kept of an import: the file itself has all of them. */
const differencesMax = 500
/** Most characters of a value that are kept. */
const valueMax = 300

const keyOf = ({ kind, id }: Entry) => `${kind} ${id}`

/** A value as it is kept: a longer one is cut, and is a text then. */
function cut(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > valueMax ? `${text.slice(0, valueMax)}…` : (value ?? null)
}

function compareMembers(before: Entry['members'], after: Entry['members']): Difference['members'] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]))
  return Object.fromEntries(changed.map((name) => [name, { before: cut(before[name]), after: cut(after[name]) }]))
}

/** The differences of two states of the catalogue, in the order of the entries; a new entry's members are told by its file. Pure. */
export function compareEntries(before: readonly Entry[], after: readonly Entry[]): Differences {
  const old = new Map(before.map((entry) => [keyOf(entry), entry]))
  const left = new Set(after.map(keyOf))
  const found: Difference[] = []
  for (const entry of after) {
    const { kind, id, name, members } = entry
    const earlier = old.get(keyOf(entry))
    const changed = earlier ? compareMembers(earlier.members, members) : {}
    if (!earlier) found.push({ kind, id, name, change: 'added', members: {} })
    else if (Object.keys(changed).length > 0) found.push({ kind, id, name, change: 'changed', members: changed })
  }
  for (const entry of before)
    if (!left.has(keyOf(entry)))
      found.push({ kind: entry.kind, id: entry.id, name: entry.name, change: 'removed', members: {} })
  return { differences: found.slice(0, differencesMax), more: Math.max(0, found.length - differencesMax) }
}
