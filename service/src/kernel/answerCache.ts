import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Cached values of one kind by name. */
export type Shelf<T> = {
  find(name: string): T | undefined
  /** `byteLength` is the size of the value without its name; after `ttlMs`, if given, the value is dropped. */
  keep(name: string, answer: T, byteLength: number, ttlMs?: number): void
}

/**
 * All cached values of this process, within one limit in bytes: callers choose the names, so a number of entries would limit
 * nothing. The least recently used value is dropped first.
 */
export type AnswerCache = {
  /**
   * `title` separates the names of one kind from all others. `lasting` values stay when the others are dropped.
   */
  shelf<T extends object>(title: string, options?: { lasting?: boolean }): Shelf<T>
  /** True while this many more bytes leave a third of the room to others. */
  hasPlentyFor(byteLength: number): boolean
  /** The size of all values and names. */
  byteLength(): number
  forget(): void
}

export const bytesMaxDefault = 48 * 1024 * 1024
/** Approximate overhead of an entry, without its name and value. */
const entryBytes = 400
/** Longer names are kept as their digest. */
const nameLengthMax = 256

export function createAnswerCache(bytesMax: number = bytesMaxDefault): AnswerCache {
  const entries = new LRUCache<string, object>({ maxSize: bytesMax })
  const lastingTitles = new Set<string>()
  return {
    shelf: <T extends object>(title: string, { lasting = false } = {}): Shelf<T> => {
      if (lasting) lastingTitles.add(title)
      return {
        // Nobody else writes under this title.
        find: (name) => entries.get(toKey(title, name)) as T | undefined,
        keep: (name, answer, byteLength, ttlMs) => {
          const key = toKey(title, name)
          // A character may take two bytes.
          const size = entryBytes + 2 * key.length + Math.ceil(byteLength)
          entries.set(key, answer, ttlMs === undefined ? { size } : { size, ttl: ttlMs })
        },
      }
    },
    hasPlentyFor: (byteLength) => entries.calculatedSize + byteLength <= (bytesMax * 2) / 3,
    byteLength: () => entries.calculatedSize,
    forget: () => {
      if (lastingTitles.size === 0) return entries.clear()
      for (const key of [...entries.keys()]) if (!lastingTitles.has(key.slice(0, key.indexOf(' ')))) entries.delete(key)
    },
  }
}

function toKey(title: string, name: string): string {
  return name.length <= nameLengthMax
    ? `${title} ${name}`
    : `${title} sha256 ${createHash('sha256').update(name).digest('base64url')}`
}
