import { createEarnClient, type EarnClient, type ResponseInfo } from '@openearn/sdk'
import { createContext, useContext, useMemo, useState, useSyncExternalStore } from 'react'
import { serviceUrl } from '../place.js'

/** Units of the hour of a key, as the last answer told them. */
export type Budget = { limit: number; used: number; remaining: number }

export type KeyState = {
  /** The reader's own key; undefined: that of the operator. */
  own: string | undefined
  setOwn(key: string | undefined, isKept: boolean): void
}

export const KeyContext = createContext<KeyState | undefined>(undefined)

/** @throws Error outside of the portal. */
export function useKey(): KeyState {
  const found = useContext(KeyContext)
  if (!found) throw new Error('this part stands within the portal')
  return found
}

const name = 'openearn:key'

/** The reader's own key, where he had it kept. */
export function readKeptKey(): string | undefined {
  try {
    const kept = localStorage.getItem(name)
    return kept?.startsWith('pk_') ? kept : undefined
  } catch {
    // Storage is refused: the key of the operator.
    return undefined
  }
}

function keep(key: string | undefined): void {
  try {
    if (key === undefined) localStorage.removeItem(name)
    else localStorage.setItem(name, key)
  } catch {
    // Storage is refused: the key is gone with the page.
  }
}

function toBudget({ headers }: ResponseInfo): Budget | undefined {
  const read = (each: string) => Number(headers.get(`x-ratelimit-${each}`) ?? Number.NaN)
  const budget = { limit: read('limit'), used: read('used'), remaining: read('remaining') }
  return Object.values(budget).some(Number.isNaN) ? undefined : budget
}

let budget: Budget | undefined
const listeners = new Set<() => void>()

function hear(info: ResponseInfo): void {
  budget = toBudget(info) ?? budget
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The hour of the key, as the last answer told it; undefined before the first. */
export const useBudget = (): Budget | undefined => useSyncExternalStore(subscribe, () => budget)

/** A client by the operator's key, or by the reader's own one. */
export const openClient = (apiKey: string, own: string | undefined): EarnClient =>
  createEarnClient({ baseUrl: serviceUrl, apiKey: own ?? apiKey, onResponse: hear })

/** The client of the pages: by the operator's key, or by one that the reader typed. */
export function useClient(apiKey: string): { earn: EarnClient; key: KeyState } {
  const [own, set] = useState(readKeptKey)
  const earn = useMemo(() => openClient(apiKey, own), [own, apiKey])
  const key = useMemo(
    (): KeyState => ({
      own,
      setOwn: (next, isKept) => {
        keep(isKept ? next : undefined)
        set(next)
      },
    }),
    [own],
  )
  return { earn, key }
}
