import type { InFlight } from '../../kernel/async/inFlight.js'
import type { findPrices } from '../../prices/index.js'
import type { ChainContext } from '../../rpc/chains.js'
import type { CatalogueContext, TokenRecord } from '../catalogue/index.js'
import type { Adapter, BlockRef, Item, ShareOf } from './adapter.js'
import type { Pricing } from './pricing.js'
import type { EarningRow } from './schema.js'
import type { VaultEarnings } from './storeEarnings.js'

/** Something that could not be told, and whose fault it is: `rpc`, `price`, `adapter:<name>`, `ecosystem`, `earnings`. */
export type Problem = { chainId: number | null; source: string; error: string }

/** The idle balance of a wallet in a token. */
export type Idle = { token: TokenRecord; raw: bigint }

/** An item and the adapter that knows it. */
export type Found = { adapter: string; item: Item }

/** Everything a wallet has on one chain, at one block. */
export type ChainHoldings = {
  chainId: number
  /** Absent where the chain could not be read. */
  block: BlockRef | undefined
  idle: readonly Idle[]
  found: readonly Found[]
  /** The share prices that were read at the block, by receipt token. */
  shares: ReadonlyMap<string, ShareOf>
  pricing: Pricing
  problems: readonly Problem[]
  /** Nothing failed but prices of single tokens and single contracts, so asking again gives the same. */
  isLasting: boolean
}

/** The earnings of a wallet, by the opportunity's name. */
export type Earned = { rows: readonly EarningRow[]; problems: readonly Problem[] }

/** The sums of a wallet's flows, which earnings follow from. */
export type FlowSums = {
  rows: readonly VaultEarnings[]
  problems: readonly Problem[]
  /** Nothing failed, so asking again gives the same. */
  isLasting: boolean
}

/** The newest block of a chain as this process last read it; `last` is the one before that, until it is read. */
export type Head = { reading: Promise<BlockRef>; atMs: number; last: BlockRef | undefined }

/** Longer work on the event loop lets others be served in between. */
export const turns = { sliceMs: 10, pauseMs: 0 }

/** State that the portfolios of this process share. */
export type Portfolio = {
  readonly adapters: readonly Adapter[]
  /** The most an answer may take, in milliseconds. */
  readonly deadlineMs: number
  readonly findPrices: typeof findPrices
  /** By chain. */
  readonly heads: Map<number, Head>
  /** Readings of wallets that are under way: who asks for the same meanwhile gets the same. */
  readonly underWay: InFlight<ChainHoldings>
  /** The same of the sums of flows. */
  readonly sumsUnderWay: InFlight<FlowSums>
}

export type PortfolioContext = ChainContext & CatalogueContext & { readonly portfolio: Portfolio }
