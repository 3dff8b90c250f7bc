'use client'

import type { Provider } from '@openearn/sdk/flows'
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'

type Address = `0x${string}`

/** A wallet and its account. */
export type Wallet = { provider: Provider; account: Address }

/** A wallet that announced itself to the page (EIP-6963). */
export type Announced = { info: { uuid: string; name: string; rdns: string }; provider: Provider }

/** The members of a wallet that tells of changes; not each has them. */
type Telling = {
  on?(name: string, listener: (value: unknown) => void): void
  removeListener?(name: string, listener: (value: unknown) => void): void
}

const mostWallets = 20
const none: readonly Announced[] = []
let announced: readonly Announced[] = none

function isAnnounced(value: unknown): value is Announced {
  const { info, provider } = (value ?? {}) as Partial<Announced>
  return (
    typeof info?.uuid === 'string' &&
    typeof info.name === 'string' &&
    typeof (provider as Provider)?.request === 'function'
  )
}

function subscribe(listener: () => void): () => void {
  const hear = (event: Event) => {
    const { detail } = event as CustomEvent<unknown>
    if (!isAnnounced(detail) || announced.length >= mostWallets) return
    if (announced.some(({ info }) => info.uuid === detail.info.uuid)) return
    announced = [...announced, detail]
    listener()
  }
  window.addEventListener('eip6963:announceProvider', hear)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  return () => window.removeEventListener('eip6963:announceProvider', hear)
}

/** All wallets of the browser, as they announce themselves. */
export const useAnnounced = (): readonly Announced[] =>
  useSyncExternalStore(
    subscribe,
    () => announced,
    () => none,
  )

const firstOf = (accounts: unknown): Address | undefined => {
  const [first] = Array.isArray(accounts) ? accounts : []
  return typeof first === 'string' && /^0x[0-9a-f]{40}$/i.test(first) ? (first as Address) : undefined
}

/** The wallet that the user connected, of those that announced themselves. */
export function useDiscovered() {
  const [wallet, setWallet] = useState<Wallet>()
  const [error, setError] = useState<unknown>()
  const provider = wallet?.provider
  useEffect(() => {
    const telling = provider as (Provider & Telling) | undefined
    const hear = (accounts: unknown) => {
      const account = firstOf(accounts)
      setWallet(account && provider ? { provider, account } : undefined)
    }
    telling?.on?.('accountsChanged', hear)
    return () => telling?.removeListener?.('accountsChanged', hear)
  }, [provider])
  const connect = useCallback(async (next: Provider) => {
    setError(undefined)
    try {
      const { askAccounts } = await import('@openearn/sdk/flows')
      const account = firstOf(await askAccounts({ provider: next }))
      setWallet(account && { provider: next, account })
      if (!account) setError(new Error('it has none'))
    } catch (failure) {
      setError(failure)
    }
  }, [])
  const disconnect = useCallback(() => setWallet(undefined), [])
  return { wallet, error, connect, disconnect }
}
