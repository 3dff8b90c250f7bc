import type { Flow } from '@openearn/sdk/flows'

/** A flow as it is kept. `at`: Unix milliseconds of its first state. */
export type Kept = { at: number; flow: unknown }

/**
 * Keeps flows, each under the slot of its hook: for a reload, or another tab. What is in it is
 * believed in nothing; `@openearn/sdk/flows` compares it anew.
 */
export type FlowStore = {
  /** All that is kept under a slot, the newest first. */
  list(slot: string): Promise<readonly Kept[]> | readonly Kept[]
  put(slot: string, flow: Flow): Promise<void> | void
  remove(slot: string, id: string): Promise<void> | void
}

/** The part of a page's storage that is used. */
export type PageStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

const prefixOf = (slot: string) => `openearn:${JSON.stringify(slot)}:`

/** A store in `localStorage`, or in another storage of a page. */
export function createPageStore(storage: PageStorage): FlowStore {
  return {
    list: (slot) => {
      const kept: Kept[] = []
      for (let index = 0; index < storage.length; index++) {
        const key = storage.key(index)
        const found = key?.startsWith(prefixOf(slot)) ? parse(storage.getItem(key)) : undefined
        if (found) kept.push(found)
      }
      return kept.sort((a, b) => b.at - a.at)
    },
    put: (slot, flow) => {
      const key = prefixOf(slot) + flow.id
      const at = parse(storage.getItem(key))?.at ?? Date.now()
      storage.setItem(key, JSON.stringify({ at, flow }))
    },
    remove: (slot, id) => storage.removeItem(prefixOf(slot) + id),
  }
}

function parse(text: string | null): Kept | undefined {
  try {
    const { at, flow } = JSON.parse(text ?? '{}')
    return typeof at === 'number' && typeof flow === 'object' && flow !== null ? { at, flow } : undefined
  } catch {
    return undefined
  }
}

/** Keeps flows as long as the page lives. */
export function createMemoryStore(): FlowStore {
  const kept = new Map<string, string>()
  const storage: PageStorage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
    key: (index) => [...kept.keys()][index] ?? null,
    get length() {
      return kept.size
    },
  }
  return createPageStore(storage)
}

/** `localStorage`; where the browser refuses it, as in some frames, what is kept lasts as long as the page. */
export function openDefaultStore(): FlowStore {
  try {
    const { localStorage } = globalThis
    localStorage.getItem('openearn')
    return createPageStore(localStorage)
  } catch {
    return createMemoryStore()
  }
}
