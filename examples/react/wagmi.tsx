import { EarnProvider } from '@openearn/react'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { defineChain } from 'viem'
import { arbitrum, base, mainnet } from 'viem/chains'
import { createConfig, http, injected, useAccount, useConnect, useConnectorClient, WagmiProvider } from 'wagmi'
import { Earn } from './Earn.js'
import { earn } from './settings.js'

/** The chain of `npm start`. */
const devnet = defineChain({
  ...{ id: 31_337, name: 'Devnet', nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 } },
  rpcUrls: { default: { http: ['http://127.0.0.1:8545'] } },
})
const config = createConfig({
  chains: [mainnet, base, arbitrum, devnet],
  connectors: [injected()],
  transports: { [mainnet.id]: http(), [base.id]: http(), [arbitrum.id]: http(), [devnet.id]: http() },
})

function App() {
  const { address } = useAccount()
  const { connect, connectors } = useConnect()
  const { data: client } = useConnectorClient()
  return (
    <EarnProvider earn={earn} provider={client}>
      {address ? (
        <Earn wallet={address} />
      ) : (
        connectors.map((connector) => (
          <button key={connector.uid} type="button" onClick={() => connect({ connector })}>
            Connect {connector.name}
          </button>
        ))
      )}
    </EarnProvider>
  )
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <WagmiProvider config={config}>
    <QueryClientProvider client={new QueryClient()}>
      <App />
    </QueryClientProvider>
  </WagmiProvider>,
)
