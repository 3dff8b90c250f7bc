import { hrefOf } from './place.js'

/** The wallets that a devnet gives to try the portal with. */
export type TestWallet = { chainId: number; rpcUrl: string; accounts: { name: string; address: `0x${string}` }[] }

export type ChainName = { chainId: number; name: string; explorerUrl: string }

/** `/portal/config.json`. */
export type PortalConfig = {
  apiKey: string
  /** The builder code of deposits that are made here; null: none can be made. */
  distributorId: string | null
  chains: ChainName[]
  testWallet: TestWallet | null
}

/** Reads what this service says of its portal. @throws Error with a sentence for the reader. */
export async function readConfig(): Promise<PortalConfig> {
  const response = await fetch(hrefOf('config.json')).catch((cause: unknown) => {
    throw new Error('the service cannot be reached', { cause })
  })
  if (!response.ok) throw new Error(`the service answers ${response.status}`)
  return response.json()
}
