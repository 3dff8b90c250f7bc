import type { Address } from 'viem'
import type { ChainContext } from '../../rpc/chains.js'
import type { Signer } from '../../rpc/signer.js'
import type { Vault } from '../../vaults/index.js'
import type { CatalogueContext, CatalogueSnapshot, OpportunityRecord } from '../catalogue/index.js'

/**
 * Where a service is asked over HTTP: a path gives the text of its answer, and whatever fails an OutboundError. With a body,
 * which is JSON, it is posted.
 */
export type HttpApi = { readonly host: string; fetchText(path: string, body?: string): Promise<string> }

export type ActionContext = ChainContext &
  CatalogueContext & {
    /** The key that signs attributions; absent means plans cannot be built. */
    readonly attributionSigner: Signer | undefined
    /** The services asked for swaps. */
    readonly swapApis: Readonly<Record<'enso' | 'lifi', HttpApi>>
  }

/** Whom and what an action is about, once all of it is known to exist and to belong together. */
export type Target = {
  snapshot: CatalogueSnapshot
  opportunity: OpportunityRecord
  wallet: Address
  vault: Vault
  /** Whose key asked. */
  organizationId: string
}
