import { EarnProvider } from '@openearn/react'
import { askAccounts, type Provider } from '@openearn/sdk/flows'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Earn } from './Earn.js'
import { earn } from './settings.js'
import { useWallets } from './wallets.js'

type Connected = { provider: Provider; wallet: `0x${string}` }

function App() {
  const wallets = useWallets()
  const [connected, setConnected] = useState<Connected>()
  const connect = async (provider: Provider) => {
    const [wallet] = (await askAccounts({ provider })) as `0x${string}`[]
    if (wallet) setConnected({ provider, wallet })
  }
  return (
    <EarnProvider earn={earn} provider={connected?.provider}>
      {connected ? (
        <Earn wallet={connected.wallet} />
      ) : (
        wallets.map(({ info, provider }) => (
          <button key={info.uuid} type="button" onClick={() => connect(provider)}>
            Connect {info.name}
          </button>
        ))
      )}
    </EarnProvider>
  )
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <QueryClientProvider client={new QueryClient()}>
    <App />
  </QueryClientProvider>,
)
