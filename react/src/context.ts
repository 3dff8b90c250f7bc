'use client'

import type { EarnClient } from '@openearn/sdk'
import type { Flow, Provider } from '@openearn/sdk/flows'
import { useQueryClient } from '@tanstack/react-query'
import { createContext, createElement, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { type FlowStore, openDefaultStore } from './flowStore.js'
import { isOfWallet } from './queries.js'
import { createRhythm, follow, type Rhythm } from './rhythm.js'
import { createSlot, type Slot, type SlotPlace } from './slot.js'

export type EarnProviderProps = {
  /** The service. Make it once, outside of the component. */
  earn: EarnClient
  /** The wallet, as EIP-1193 has it, once there is one: `window.ethereum`, or what `useConnectorClient` of wagmi returns. */
  provider?: Provider | undefined
  /** The address of the page that asks for a membership; `location.href` unless given. */
  url?: string | undefined
  /** Keeps flows for a reload; `localStorage` unless given. */
  store?: FlowStore | undefined
  children?: ReactNode
}

export type EarnContext = {
  /** The client of the provider above. */
  earn: EarnClient
  /** Something was done elsewhere: what shows wallets is read now, and often for a while. */
  refresh(): void
  rhythm: Rhythm
  openSlot(name: string, kind: Flow['kind']): Slot
}

const Context = createContext<EarnContext | undefined>(undefined)

/** The things that all flows of a page share. Members are read when they are needed: a wallet may come later, or be another one. */
function createPage(first: EarnProviderProps) {
  let props = first
  let holders = 0
  let ownStore: FlowStore | undefined
  const slots = new Map<string, Slot>()
  const rhythm = createRhythm()
  const page: { refresh(): void } = { refresh: () => undefined }
  const provider = {
    request: async (call: never) => {
      if (props.provider) return props.provider.request(call)
      throw Object.assign(new Error('no wallet is connected'), { code: 4100 })
    },
    get handOn() {
      const { provider: present } = props
      return present?.handOn && ((wanted: Parameters<NonNullable<Provider['handOn']>>[0]) => present.handOn?.(wanted))
    },
  } as Provider
  const getStore = () => {
    ownStore ??= props.store ?? openDefaultStore()
    return ownStore
  }
  const world = {
    provider,
    get earn() {
      return props.earn
    },
    get url() {
      return props.url
    },
  }
  const place: SlotPlace = { world, getStore, onDone: () => page.refresh() }
  return Object.assign(page, {
    rhythm,
    update: (next: EarnProviderProps) => {
      props = next
    },
    openSlot: (name: string, kind: Flow['kind']): Slot => {
      const key = JSON.stringify([kind, name])
      const slot = slots.get(key) ?? createSlot(name, kind, place)
      slots.set(key, slot)
      return slot
    },
    /** Flows go on as long as the page is there. In its strict mode React takes it away and puts it back at once. */
    hold: () => {
      holders++
      return () => {
        holders--
        queueMicrotask(() => {
          if (holders === 0) for (const slot of slots.values()) slot.close()
        })
      }
    },
  })
}

/**
 * Gives the hooks below it a service and a wallet. It stands once, near the root and below `QueryClientProvider`: flows go on
 * while it is there.
 */
export function EarnProvider(props: EarnProviderProps): ReactNode {
  const { earn, children } = props
  const queries = useQueryClient()
  const [page] = useState(() => createPage(props))
  useEffect(() => page.update(props))
  useEffect(() => page.hold(), [page])
  const value = useMemo((): EarnContext => {
    const refresh = () => {
      page.rhythm.since = Date.now()
      void queries.invalidateQueries({ predicate: isOfWallet })
    }
    page.refresh = refresh
    return { earn: follow(earn, page.rhythm), refresh, rhythm: page.rhythm, openSlot: page.openSlot }
  }, [earn, queries, page])
  return createElement(Context.Provider, { value }, children)
}

/** The context of the hooks. @throws Error outside of an `EarnProvider`. */
export function useEarnContext(): EarnContext {
  const found = useContext(Context)
  if (!found) throw new Error('put an <EarnProvider earn={…}> around the components that use OpenEarn')
  return found
}

/** The client of the page, and `refresh`, which says that a wallet did something elsewhere. */
export function useEarn(): Pick<EarnContext, 'earn' | 'refresh'> {
  return useEarnContext()
}
