import type { ChainContext } from '../../rpc/chains.js'
import type { Signer } from '../../rpc/signer.js'
import type { CatalogueContext } from '../catalogue/index.js'

/** The context of the operations of streams. */
export type StreamContext = ChainContext &
  CatalogueContext & {
    /** The key that signs creations and increases, and that of withdrawals; absent: none are signed here. */
    readonly streamsSigner: Signer | undefined
    readonly withdrawalsSigner: Signer | undefined
  }
