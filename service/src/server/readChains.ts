import type { Context } from '../postgres/context.js'
import type { ChainSettings } from '../rpc/chains.js'
import { listChainSettings } from '../rpc/storeChains.js'

/** The watched chains; RPC urls of the environment replace those of the database. */
export async function readChains({ db, config }: Context): Promise<ChainSettings[]> {
  const settings = await listChainSettings(db, { watchedOnly: true })
  return settings.map((chain) => ({ ...chain, rpcUrls: config.rpcUrls.get(chain.chainId) ?? chain.rpcUrls }))
}
