import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Answers of one sort by their names. */
export type Shelf<T> = {
  find(name: string): T | undefined
  /** `byteLength` is what the answer takes beside its name. */
  keep(name: string, answer: T, byteLength: number): void
}

/**
 * Everything this process keeps of answers to give them again, within one limit in bytes: callers choose the names, so a
 * number of entries would limit nothing. What was not asked for longest makes room.
 */
export type AnswerCache = {
  /** `title` sets the names of one sort apart from all others. */
  shelf<T extends object>(title: string): Shelf<T>
  /** True while so many bytes more leave three quarters of the room to others. */
  hasPlentyFor(byteLength: number): boolean
  /** What is kept, names included. */
  byteLength(): number
  forget(): void
}

const bytesMaxDefault = 24 * 1024 * 1024
/** About what an entry takes beside its name and its answer. */
const entryBytes = 400
/** Longer names are kept as their digest. */
const nameLengthMax = 256

export function createAnswerCache(bytesMax: number = bytesMaxDefault): AnswerCache {
  const entries = new LRUCache<string, object>({ maxSize: bytesMax })
  return {
    shelf: <T extends object>(title: string): Shelf<T> => ({
      // Nobody else writes under this title.
      find: (name) => entries.get(toKey(title, name)) as T | undefined,
      keep: (name, answer, byteLength) => {
        const key = toKey(title, name)
        // A character may take two bytes.
        entries.set(key, answer, { size: entryBytes + 2 * key.length + Math.ceil(byteLength) })
      },
    }),
    hasPlentyFor: (byteLength) => entries.calculatedSize + byteLength <= bytesMax / 4,
    byteLength: () => entries.calculatedSize,
    forget: () => entries.clear(),
  }
}

function toKey(title: string, name: string): string {
  return name.length <= nameLengthMax
    ? `${title} ${name}`
    : `${title} sha256 ${createHash('sha256').update(name).digest('base64url')}`
}
