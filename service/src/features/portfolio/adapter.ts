import type { Address, Hex } from 'viem'
import type { Chain, ChainContext } from '../../rpc/chains.js'
import type { Read } from '../../rpc/multicall.js'
import type { Header } from '../../rpc/raw.js'
import type { CatalogueContext, CatalogueSnapshot } from '../catalogue/index.js'
import type { itemTypes } from './schema.js'

/** A block that holdings are of. */
export type BlockRef = Pick<Header, 'number' | 'hash' | 'timestamp'>

/** A token as rows show it. Addresses lower-case. */
export type ShownToken = {
  address: string
  symbol: string
  name: string
  decimals: number
  logoUrl: string
}

/** So much of a token. */
export type Amount = {
  token: ShownToken
  /** Smallest units. */
  raw: bigint
  opportunityId?: string | undefined
  /**
   * The receipt token whose balance this is: that balance is left out of the wallet's own tokens, and counted here alone.
   * Lower-case.
   */
  explains?: string
}

export type ItemType = (typeof itemTypes)[number]

/** One position of a wallet in a protocol. */
export type Item = {
  protocol: { id: string; name: string; siteUrl: string; logoUrl: string }
  name: string
  type: ItemType
  opportunityId: string | null
  /** The vault, market or stream. Lower-case. */
  pool: string
  description: string
  supplied: Amount[]
  borrowed: Amount[]
  rewards: Amount[]
}

/** The asset behind a receipt token at the block: `numerator` smallest units of the asset for 10^exponent of its own. */
export type ShareOf = { asset: string; assetDecimals: number; numerator: bigint; exponent: number; decimals: number }

export type AdapterAnswer = {
  items: Item[]
  /** Failed reads, as sentences. */
  problems?: string[]
  /** Prices of receipt tokens in their assets, by receipt token. */
  shares?: ReadonlyMap<string, ShareOf>
  /** Further reads that turned out to be needed; their result is added to this one. */
  more?: Read<AdapterAnswer>
}

/** A request of the wallet as controller that is not fully claimed or cancelled. */
export type OpenRequestId = { chainId: number; vaultAddress: string; kind: 'deposit' | 'redeem'; requestId: string }

export type AdapterInput = {
  ctx: ChainContext & CatalogueContext
  chain: Chain
  snapshot: CatalogueSnapshot
  /** Lower-case. */
  wallet: Address
  /** The block of all reads. Adapters run before it is known: work that waits for it delays the response. */
  block: () => Promise<BlockRef>
  /** Of all chains, as far as they are derived. */
  openRequests: readonly OpenRequestId[]
  /** Runs work whose result is of no chain in particular once a request. */
  once<T>(name: string, work: () => Promise<T>): Promise<T>
}

/**
 * An adapter reads the positions of a wallet in a protocol. The reads of all adapters are sent together with the balances of
 * tokens, at one block; equal reads are sent once.
 */
export type Adapter = {
  /** Its name in `errors`: `adapter:<name>`. */
  readonly name: string
  /** The views it reads at the block, and the function from their results to rows. Runs again if the block was orphaned. */
  ask(input: AdapterInput): Promise<Read<AdapterAnswer>>
}

/** `balanceOf(wallet)`. */
export function balanceCall(wallet: Address): Hex {
  return `0x70a08231${wallet.slice(2).toLowerCase().padStart(64, '0')}`
}

/** The word a view answered; undefined for anything but 32 bytes. */
export function parseWord(result: Hex | undefined): bigint | undefined {
  return result === undefined || result.length !== 66 ? undefined : BigInt(result)
}
