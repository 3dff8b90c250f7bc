import { type Announced, useAnnounced, useDiscovered } from '@openearn/widget/parts'
import { useCallback, useEffect } from 'react'

export type PortalWallet = ReturnType<typeof useWallet>

const key = 'openearn:wallet'

function readLast(): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    // Storage is refused: the reader connects again.
    return null
  }
}

function keepLast(rdns: string | undefined): void {
  try {
    if (rdns === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, rdns)
  } catch {
    // Storage is refused: the reader connects again.
  }
}

/** The wallet of the reader, of those that announced themselves; after a reload the same one, where it lets the page see it. */
export function useWallet() {
  const wallets = useAnnounced()
  const { wallet, error, connect, disconnect } = useDiscovered()
  const isConnected = wallet !== undefined
  useEffect(() => {
    const last = readLast()
    const found = isConnected ? undefined : wallets.find(({ info }) => info.rdns === last)
    if (!found) return
    const reconnect = async () => {
      const ask = found.provider.request as (call: { method: string }) => Promise<unknown>
      const accounts = await ask({ method: 'eth_accounts' })
      if (Array.isArray(accounts) && accounts.length > 0) await connect(found.provider)
    }
    // It is a wallet's own matter whether it can be seen: the button to connect it is there.
    reconnect().catch(() => keepLast(undefined))
  }, [wallets, isConnected, connect])
  return {
    ...{ wallets, wallet, error },
    account: wallet?.account,
    connect: useCallback(
      async ({ info, provider }: Announced) => {
        keepLast(info.rdns)
        await connect(provider)
      },
      [connect],
    ),
    disconnect: useCallback(() => {
      keepLast(undefined)
      disconnect()
    }, [disconnect]),
  }
}
