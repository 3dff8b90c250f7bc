import { systemClock } from '../kernel/clock.js'
import { createOutbound } from '../kernel/outbound.js'
import { type Chain, openChain } from '../rpc/chains.js'

/** A chain by its urls, to ask it something once: nothing of how it is followed is known, or needed. */
export function openUnlisted(chainId: number, rpcUrls: readonly string[], name = `chain ${chainId}`): Chain {
  return openChain(createOutbound(systemClock), {
    ...{ chainId, name, rpcUrls, nativeSymbol: 'ETH', confirmations: 1, finalityDepth: 64 },
    ...{ pollIntervalMs: 1000, reorgRecheckSeconds: 2, entryPoints: [] },
  })
}
