import type { Provider } from '@openearn/sdk/flows'
import { useSyncExternalStore } from 'react'

/** A wallet that announced itself to the page (EIP-6963). */
export type Announced = { info: { uuid: string; name: string }; provider: Provider }

let wallets: readonly Announced[] = []
const none: readonly Announced[] = []

function subscribe(listener: () => void): () => void {
  const hear = (event: Event) => {
    const { detail } = event as CustomEvent<Announced>
    if (wallets.some(({ info }) => info.uuid === detail.info.uuid)) return
    wallets = [...wallets, detail]
    listener()
  }
  window.addEventListener('eip6963:announceProvider', hear)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  return () => window.removeEventListener('eip6963:announceProvider', hear)
}

/** All wallets of the browser, as they announce themselves. */
export const useWallets = (): readonly Announced[] =>
  useSyncExternalStore(
    subscribe,
    () => wallets,
    () => none,
  )
