import { createContext, useContext } from 'react'
import type { ChainName, PortalConfig } from './config.js'
import type { ShownTheme } from './shell/theme.js'
import type { PortalWallet } from './shell/wallet.js'

/** The things that all pages share. */
export type Portal = {
  config: PortalConfig
  wallet: PortalWallet
  theme: ShownTheme
}

export const PortalContext = createContext<Portal | undefined>(undefined)

/** @throws Error outside of the portal. */
export function usePortal(): Portal {
  const found = useContext(PortalContext)
  if (!found) throw new Error('this part stands within the portal')
  return found
}

/** A chain by its id; one that the service does not list has its number as its name. */
export function useChain(chainId: number): ChainName {
  const { chains } = usePortal().config
  return chains.find((each) => each.chainId === chainId) ?? { chainId, name: `Chain ${chainId}`, explorerUrl: '' }
}
