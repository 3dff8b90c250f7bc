import T from 'typebox'
import { ChainId } from '../kernel/wire.js'
import { AddressText, Decimals, DecimalText, Text, Url, Usd } from '../postgres/fileMembers.js'
import { decimal, describeImported, kept, optional, required } from '../postgres/imported.js'
import { type NewRow, readRowPages, upsertRows } from '../postgres/importedRows.js'
import type { Queryable } from '../postgres/pool.js'
import type { TokenKey } from './store.js'

const PriceFeed = T.Object(
  { address: AddressText, heartbeatSeconds: T.Integer({ minimum: 1, maximum: 31_536_000 }) },
  { additionalProperties: false },
)

const PriceId = T.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9:._-]{0,127}$',
  says: 'must be letters, digits, colons, dots, _ and -',
})

/** The tokens, as an import writes them and they are read. */
export const tokensTable = describeImported('tokens', ['chainId', 'address'], {
  chainId: required(ChainId),
  address: required(AddressText),
  decimals: required(Decimals),
  symbol: required(Text),
  name: required(Text),
  logoUrl: optional(Url, ''),
  active: kept(T.Boolean(), true),
  pegUsd: decimal(T.Union([Usd, DecimalText]), null),
  /** The feed that prices it, and how often at least the feed speaks. */
  priceFeed: optional(PriceFeed, null),
  /** The vault it is a share of: its price follows from that of the vault's asset. */
  priceVault: optional(AddressText, null),
  /** Its id at the price provider. */
  priceId: optional(PriceId, null),
  /** approve() refuses to change a non-zero allowance to another non-zero one. */
  approvalReset: optional(T.Boolean(), false),
  /** Why it cannot be deposited; `''` when it can. */
  unsupportedReason: optional(Text, ''),
  /** Whether reward streams may pay it. */
  isAllowedRewardToken: optional(T.Boolean(), false),
})

/** Adds tokens, or replaces what describes them: a switch left out keeps its present value. */
export async function writeTokens(tx: Queryable, rows: readonly NewRow[]): Promise<void> {
  await upsertRows(tx, tokensTable, rows)
}

/** All tokens, by chain and address; read a page at a time. */
export function listTokens(db: Queryable) {
  return readRowPages(db, tokensTable, 'order by chain_id, address')
}

export type TokenDecimals = TokenKey & { decimals: number }

export async function listTokenDecimals(db: Queryable): Promise<TokenDecimals[]> {
  return db<TokenDecimals[]>`select chain_id as "chainId", address, decimals from tokens`
}
