import T, { type Static } from 'typebox'
import { ChainId } from '../kernel/wire.js'
import { AddressText, Instant, RpcUrl, Slug, Text, Url } from '../postgres/fileMembers.js'
import { describeImported, kept, list, optional, required } from '../postgres/imported.js'
import { type NewRow, readRows, upsertRows } from '../postgres/importedRows.js'
import type { Fragment, Queryable } from '../postgres/pool.js'
import type { ChainSettings } from './chains.js'

const Whole = (minimum: number, maximum: number) => T.Integer({ minimum, maximum })

const exact = { additionalProperties: false }

/** Contracts of a service that is called over HTTP: the router, and the spender of the input token if it is another contract. */
const Aggregator = T.Object({ router: AddressText, spender: T.Optional(AddressText) }, exact)

/** The exchanges of a chain, each as it was deployed there, and the tokens a route may pass through. */
export const SwapSettingsSchema = T.Object(
  {
    hubTokens: T.Optional(T.Array(AddressText, { maxItems: 8 })),
    uniswapV2: T.Optional(T.Object({ factory: AddressText, router: AddressText }, exact)),
    uniswapV3: T.Optional(
      T.Object(
        {
          factory: AddressText,
          quoter: AddressText,
          router: AddressText,
          /** SwapRouter, or SwapRouter02, which has its deadline around its calls. */
          routerKind: T.Optional(T.Union([T.Literal('uniswap-v3'), T.Literal('swap-router-02')])),
          /** Fee tiers of its pools, in millionths. */
          fees: T.Optional(T.Array(Whole(0, 999_999), { minItems: 1, maxItems: 8 })),
        },
        exact,
      ),
    ),
    /** Wrappers that are got by their own deposit of what they wrap, and left by their own way out. */
    wrappers: T.Optional(
      T.Array(
        T.Object(
          {
            address: AddressText,
            asset: AddressText,
            /** By what calls: those of ERC-4626, of wstETH, or of StataToken for the aToken itself. */
            kind: T.Optional(T.Union([T.Literal('erc4626'), T.Literal('wsteth'), T.Literal('static-a-token')])),
          },
          exact,
        ),
        { maxItems: 32 },
      ),
    ),
    enso: T.Optional(Aggregator),
    lifi: T.Optional(Aggregator),
    /** The settlement contract of signed orders (GPv2), who moves what is sold for it and says who may settle, and who fills them. */
    orders: T.Optional(
      T.Object(
        {
          settlement: AddressText,
          relayer: AddressText,
          authenticator: AddressText,
          /** Our own order book, or the public one. */
          venue: T.Optional(T.Union([T.Literal('local'), T.Literal('cow')])),
          /** The url of the public order book for this chain, without `/api/v1`. */
          orderBook: T.Optional(Url),
        },
        exact,
      ),
    ),
  },
  exact,
)

/** A market of Aave V3, or of what has its contracts: its pool, and the contract that tells its tokens. */
const AaveMarket = T.Object({ pool: AddressText, dataProvider: AddressText, name: T.Optional(Text) }, exact)

/** Lending markets, shown in the portfolios of wallets. */
export const LendingSettingsSchema = T.Object({ aaveV3: T.Optional(T.Array(AaveMarket, { maxItems: 8 })) }, exact)

export type LendingSettings = Static<typeof LendingSettingsSchema>

/** A contract that calls vaults in the name of the sender their events tell of (Euler's connector, ERC-2771), since when, and the block from which it registers accounts. */
const ForwarderSchema = T.Object(
  { address: AddressText, activeFrom: Instant, startBlock: T.Optional(Whole(0, Number.MAX_SAFE_INTEGER)) },
  exact,
)

export type SwapSettings = Static<typeof SwapSettingsSchema>

/** Blocks after which an event counts as confirmed, of a chain that a file or a command does not say it of. */
const confirmationsDefault = 12

/** The chains, as an import writes them and they are read. */
export const chainsTable = describeImported('chains', ['chainId'], {
  chainId: required(ChainId),
  name: required(Text),
  slug: required(Slug),
  logoUrl: optional(Url, ''),
  explorerUrl: optional(Url, ''),
  nativeSymbol: optional(Text, 'ETH'),
  active: kept(T.Boolean(), true),
  /** Followed by this installation; a chain that is only described is not. */
  watched: kept(T.Boolean(), false),
  rpcUrls: list(RpcUrl),
  confirmations: kept(Whole(1, 100_000), confirmationsDefault),
  finalityDepth: kept(Whole(1, 1_000_000), 64),
  pollIntervalMs: kept(Whole(50, 3_600_000), 1_000),
  reorgRecheckSeconds: kept(Whole(0, 3_600), 2),
  entryPoints: list(AddressText),
  /** The ERC-20 that wraps the native token. */
  wrappedNative: kept(AddressText, null),
  /** Where `DepositRouter` of this repository stands: deposits may ask it for a least number of shares. */
  depositRouter: kept(AddressText, null),
  transactionGasCap: kept(Whole(1_000_000, 1_000_000_000), null),
  l1GasInLimit: kept(T.Boolean(), false),
  trustTraces: kept(T.Boolean(), false),
  /** The inputs of each new block are read for suffixes of ours. */
  scanInputs: kept(T.Boolean(), false),
  /** Whether its blocks follow the wall clock, or a clock of its own. */
  clock: kept(T.Union([T.Literal('wall'), T.Literal('chain')]), 'wall'),
  traceWaitSeconds: kept(Whole(0, 604_800), 600),
  forwarders: kept(T.Array(ForwarderSchema, { maxItems: 32 }), []),
  swap: kept(SwapSettingsSchema, null),
  lending: kept(LendingSettingsSchema, null),
  /** The factory of reward streams. */
  streamFactory: kept(AddressText, null),
})

/** The chains, as statements of other rooms read them. */
export const chainsOf = (db: Queryable): Fragment => db.view`(
  select chain_id, name, watched, confirmations, entry_points, trust_traces, forwarders, swap, stream_factory, clock from chains)`

/** Adds chains, or replaces what describes them: a setting left out keeps its present value. */
export async function writeChains(tx: Queryable, rows: readonly NewRow[]): Promise<void> {
  await upsertRows(tx, chainsTable, rows)
}

/** All chains, by id. */
export function listChains(db: Queryable) {
  return readRows(db, chainsTable, 'order by chain_id')
}

/** Which chain has which slug. */
export async function listChainSlugs(db: Queryable): Promise<{ chainId: number; slug: string }[]> {
  return db<{ chainId: number; slug: string }[]>`select chain_id as "chainId", slug from chains`
}

/** How the chains are read. With `watchedOnly`, just those this installation follows. */
export async function listChainSettings(
  db: Queryable,
  options: { watchedOnly?: boolean } = {},
): Promise<(ChainSettings & { watched: boolean; active: boolean })[]> {
  return db<(ChainSettings & { watched: boolean; active: boolean })[]>`
    select chain_id as "chainId", name, native_symbol as "nativeSymbol", rpc_urls as "rpcUrls", confirmations,
      finality_depth as "finalityDepth", poll_interval_ms as "pollIntervalMs",
      reorg_recheck_seconds as "reorgRecheckSeconds", entry_points as "entryPoints", watched, active,
      transaction_gas_cap as "transactionGasCap", l1_gas_in_limit as "l1GasInLimit",
      trust_traces as "trustTraces", trace_wait_seconds as "traceWaitSeconds",
      scan_inputs as "scanInputs", clock
    from chains ${options.watchedOnly ? db`where watched` : db``} order by chain_id`
}

export type NewChain = {
  chainId: number
  name: string
  slug: string
  rpcUrls: string[]
  /** Undefined: as they are, 12 for a new chain. */
  confirmations: number | undefined
  watched: boolean
  /** Undefined: as it is, false for a new chain. */
  l1GasInLimit: boolean | undefined
}

/** Adds a chain, or changes how a known one is read. */
export async function writeChain(tx: Queryable, chain: NewChain): Promise<void> {
  await tx`
    insert into chains (chain_id, name, slug, rpc_urls, confirmations, watched, l1_gas_in_limit)
    values (${chain.chainId}, ${chain.name}, ${chain.slug}, ${chain.rpcUrls},
      ${chain.confirmations ?? confirmationsDefault}, ${chain.watched}, ${chain.l1GasInLimit === true})
    on conflict (chain_id) do update set name = excluded.name, rpc_urls = excluded.rpc_urls,
      confirmations = coalesce(${chain.confirmations ?? null}, chains.confirmations), watched = excluded.watched,
      l1_gas_in_limit = coalesce(${chain.l1GasInLimit ?? null}, chains.l1_gas_in_limit)`
}

/** Deletes a chain; returns false if it does not exist. The database refuses while rows refer to the chain. */
export async function deleteChain(tx: Queryable, chainId: number): Promise<boolean> {
  const removed = await tx`delete from chains where chain_id = ${chainId}`
  return removed.count > 0
}
