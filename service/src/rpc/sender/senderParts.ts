import type { Context } from '../../postgres/context.js'
import { type Chain, getTransactionGasCap } from '../chains.js'
import type { Signer } from '../signer.js'
import { type ChainView, createChainView } from './chainView.js'
import type { FeeLevel } from './fees.js'
import type { SenderKey } from './storeOutgoing.js'
import { createWitness, type Witness } from './witness.js'

/** Limits of the cost of transactions, in the smallest unit of the native token. */
export type SenderCaps = {
  /** The most a unit of gas may cost: above it nothing is sent. */
  gasPrice: bigint
  /** The most that all of 24 hours may cost, of this key on this chain. */
  spending: bigint
}

export type SenderOptions = {
  chain: Chain
  signer: Signer
  caps: SenderCaps
  /** Milliseconds after which a transaction that is not mined is sent with a higher fee. Default 30,000. */
  raiseAfterMs?: number
  /** Transactions that wait to be mined at a time. Default 8. */
  inFlightMax?: number
  /** Milliseconds to wait for a signature. Default 10,000. */
  signMs?: number
}

export type SenderContext = Pick<Context, 'db' | 'clock' | 'log'>

/** Values that the parts of a sender share. */
export type SenderParts = SenderContext &
  Required<SenderOptions> & {
    key: SenderKey
    view: ChainView
    /** The same questions to another node. */
    viewOf(rpc: Chain['rpc']): ChainView
    witness: Witness
    gasMax: bigint
    /** When this process handed which form to a node. */
    handed: Map<string, number>
    /** When this process last tried to send which queued transaction. */
    tried: Map<string, number>
  }

/** Where a look found the chain, and what is left to spend. */
export type Situation = {
  head: number
  counted: number
  level: FeeLevel
  balance: bigint
  /** Of what may still be mined: more is not to be had of the balance. */
  reserved: bigint
}

export const dayMs = 86_400_000

export function openParts(ctx: SenderContext, options: SenderOptions): SenderParts {
  const { chain, signer } = options
  const { chainId } = chain
  const viewOf = (rpc: Chain['rpc']) => createChainView({ ...chain, rpc }, signer.address)
  return {
    ...ctx,
    ...{ raiseAfterMs: 30_000, inFlightMax: 8, signMs: 10_000 },
    ...options,
    log: ctx.log.child({ chainId, sender: signer.address }),
    key: { chainId, address: signer.address },
    view: viewOf(chain.rpc),
    viewOf,
    witness: createWitness(chain.rpc, { clock: ctx.clock, recheckMs: chain.reorgRecheckSeconds * 1_000 }),
    gasMax: getTransactionGasCap(chain),
    handed: new Map(),
    tried: new Map(),
  }
}

/** Shortens a text of a node to one line of limited length. */
export function clip(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200)
}
