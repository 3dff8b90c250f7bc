import { formatHex } from './calldata.js'

/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | JsonObject
export type JsonObject = { [name: string]: Json }

const depthMax = 16
const nodesMax = 500
const textMax = 1024
const unprintable = /[\0\p{Cs}]/gu

/**
 * Foreign metadata as an object that JSON can carry and that cannot hurt its reader: no prototype, byte strings as 0x
 * hex, NUL and half characters replaced, integers beyond 2^53 and non-finite numbers as text, maps as objects. At most
 * 500 values, 16 levels and 1,024 characters a text; `truncated` says that something was left out, an ellipsis where.
 */
export function renderMetadata(metadata: ReadonlyMap<unknown, unknown>): { value: JsonObject; truncated: boolean } {
  const budget = { nodes: nodesMax, truncated: false }
  return { value: renderEntries(metadata, budget, 1), truncated: budget.truncated }
}

type Budget = { nodes: number; truncated: boolean }

function renderEntries(entries: Iterable<[unknown, unknown]>, budget: Budget, depth: number): JsonObject {
  const object: JsonObject = Object.create(null)
  for (const [key, value] of entries) {
    if (budget.nodes <= 0) {
      budget.truncated = true
      break
    }
    const name = renderKey(key, budget)
    // Keys that differ in CBOR may read the same in JSON (1 and "1"): the first stays.
    if (name in object) budget.truncated = true
    else object[name] = render(value, budget, depth)
  }
  return object
}

function render(value: unknown, budget: Budget, depth: number): Json {
  budget.nodes -= 1
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string') return cut(value, budget)
  if (value instanceof Uint8Array) return cut(formatHex(value), budget)
  if (depth >= depthMax) {
    budget.truncated = true
    return '…'
  }
  if (value instanceof Map) return renderEntries(value, budget, depth + 1)
  if (Array.isArray(value)) return renderItems(value, budget, depth + 1)
  return typeof value === 'object' ? renderEntries(Object.entries(value), budget, depth + 1) : String(value)
}

function renderItems(items: readonly unknown[], budget: Budget, depth: number): Json[] {
  const list: Json[] = []
  for (const item of items) {
    if (budget.nodes <= 0) {
      budget.truncated = true
      break
    }
    list.push(render(item, budget, depth))
  }
  return list
}

function renderKey(key: unknown, budget: Budget): string {
  if (typeof key === 'string') return cut(key, budget)
  if (key instanceof Uint8Array) return cut(formatHex(key), budget)
  return typeof key === 'object' && key !== null ? '…' : String(key)
}

function cut(text: string, budget: Budget): string {
  if (text.length > textMax) budget.truncated = true
  const kept = text.length > textMax ? `${text.slice(0, textMax)}…` : text
  // Code points that are no characters, and NUL, which JSON columns of a database refuse.
  return kept.replace(unprintable, '\uFFFD')
}
