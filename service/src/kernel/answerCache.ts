import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Answers of one sort by their names. */
export type Shelf<T> = {
  find(name: string): T | undefined
  /** `byteLength` is what the answer takes beside its name; after `ttlMs`, if given, it is gone. */
  keep(name: string, answer: T, byteLength: number, ttlMs?: number): void
}

/**
 * Everything this process keeps of answers to give them again, within one limit in bytes: callers choose the names, so a
 * number of entries would limit nothing. What was not asked for longest makes room. While more than a quarter is used,
 * only what is kept a second time comes in: whoever asks each thing once drives nothing out and takes no memory.
 */
export type AnswerCache = {
  /**
   * `title` sets the names of one sort apart from all others. What is `lasting` comes in at once and stays when answers are
   * forgotten.
   */
  shelf<T extends object>(title: string, options?: { lasting?: boolean }): Shelf<T>
  /** True while so many bytes more leave a third of the room to others. */
  hasPlentyFor(byteLength: number): boolean
  /** What is kept, names included. */
  byteLength(): number
  forget(): void
}

export const bytesMaxDefault = 48 * 1024 * 1024
/** About what an entry takes beside its name and its answer. */
const entryBytes = 400
/** Longer names are kept as their digest. */
const nameLengthMax = 256
/** Of so many names turned away, about the last ones are known when they come again. */
const turnedAwayMax = 1 << 18

export function createAnswerCache(bytesMax: number = bytesMaxDefault): AnswerCache {
  const entries = new LRUCache<string, object>({ maxSize: bytesMax })
  const lastingTitles = new Set<string>()
  const turnedAway = new Uint32Array(turnedAwayMax)
  // Two names of one hash at one place are one name here: then a single one may come in early.
  const cameBefore = (key: string): boolean => {
    const hash = hashOf(key)
    const place = hash % turnedAwayMax
    if (turnedAway[place] === hash) return true
    turnedAway[place] = hash
    return false
  }
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
          const isRoomy = entries.calculatedSize + size <= bytesMax / 4
          if (!lasting && !isRoomy && !entries.has(key) && !cameBefore(key)) return
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

/** FNV-1a, 32 bits, never 0. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0 || 1
}
