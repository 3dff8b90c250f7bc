import { type DehydratedState, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { createConfig, custom, injected, useConnect, useConnectorClient, WagmiProvider } from 'wagmi'
import { App, getTold, openEarn, type Settings } from './app.js'

export type { DehydratedState }

/** The connector client of wagmi is the wallet. */
function WithWagmi({ settings, earn }: { settings: Settings; earn: ReturnType<typeof openEarn> }) {
  const { connect, connectors } = useConnect()
  const { data: client } = useConnectorClient()
  const [connector] = connectors
  useEffect(() => {
    if (connector) connect({ connector })
  }, [connect, connector])
  return <App settings={settings} provider={client} earn={earn} />
}

const chain = {
  id: 31_337,
  name: 'Devnet',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
} as const

const app = {
  faults: [] as string[],
  told: getTold,
  open: (settings: Settings) => {
    const wallet = (globalThis as unknown as { ethereum: Parameters<typeof custom>[0] }).ethereum
    const config = createConfig({
      chains: [chain],
      connectors: [injected()],
      transports: { [chain.id]: custom(wallet) },
    })
    const root = createRoot(document.getElementById('root') as HTMLElement)
    root.render(
      <WagmiProvider config={config}>
        <QueryClientProvider client={new QueryClient()}>
          <WithWagmi settings={settings} earn={openEarn(settings)} />
        </QueryClientProvider>
      </WagmiProvider>,
    )
  },
}
Object.assign(globalThis, { app })
document.title = 'ready'
