import { formatUnits } from '../../kernel/amount.js'
import { formatTs, fromUnixSeconds } from '../../kernel/clock.js'
import { groupBy } from '../../kernel/groups.js'
import { nativeToken } from '../../rpc/native.js'
import { formatAddress } from '../../wallets/format.js'
import {
  assetsOf,
  type Counted,
  type CountedItem,
  type CountedToken,
  count,
  debtOf,
  netOf,
  type Valued,
} from './counting.js'
import type { WalletHoldings } from './portfolio.js'
import { formatUsd } from './pricing.js'
import type { ProtocolRow, TokenRow, WalletBody } from './schema.js'

type OnChain<T> = T & { chainId: number }

/** The answer's rows of a wallet, of all its chains. Pure. */
export function toWalletBody(
  wallet: Pick<WalletBody, 'address' | 'ecosystem'>,
  { chains, problems, unwatched }: Readonly<WalletHoldings>,
  includeProtocolTokens: boolean,
): WalletBody {
  const counted = chains.map((holdings) => ({ chainId: holdings.chainId, ...count(holdings) }))
  const tokens = counted.flatMap(({ chainId, tokens }) => tokens.map((token) => ({ ...token, chainId })))
  const items = counted.flatMap(({ chainId, items }) => items.map((item) => ({ ...item, chainId })))
  const show = createAddresses()
  const total = counted.reduce((sum, { total }: Counted) => sum + total, 0n)
  return {
    ...wallet,
    totalUsd: formatUsd(total),
    tokens: tokens
      .filter(({ isProtocolToken }) => includeProtocolTokens || !isProtocolToken)
      .sort((a, b) => byValue(a.value, b.value) || byText(a.token.address, b.token.address) || a.chainId - b.chainId)
      .map((token) => toTokenRow(token, show)),
    protocols: toProtocolRows(items, show),
    asOf: chains.flatMap(({ chainId, block }) =>
      block === undefined
        ? []
        : [
            {
              ...{ chainId, blockNumber: block.number, blockHash: block.hash },
              timestamp: formatTs(fromUnixSeconds(block.timestamp)),
            },
          ],
    ),
    errors: [...chains.flatMap((chain) => chain.problems), ...problems],
    unwatched: [...unwatched],
  }
}

type Show = (address: string) => string

/** Addresses as they are shown. Many rows are of one asset, and a checksum costs more than the rest of a row. */
function createAddresses(): Show {
  const known = new Map<string, string>()
  return (address) => {
    const shown = known.get(address) ?? formatAddress(address)
    known.set(address, shown)
    return shown
  }
}

/** The largest first, and what has no value last. */
function byValue(a: bigint | undefined, b: bigint | undefined): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a > b ? -1 : 1
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const native = nativeToken.toLowerCase()

function toTokenRow(row: OnChain<CountedToken>, show: Show): TokenRow {
  const { token, raw, isProtocolToken, priceUsd, value, chainId } = row
  const { address, symbol, name, decimals, logoUrl } = token
  return {
    ...{ address: show(address), chainId, symbol, name, decimals, logoUrl },
    ...{ amount: formatUnits(raw, decimals), amountRaw: String(raw), priceUsd: priceUsd ?? null },
    ...{ valueUsd: value === undefined ? null : formatUsd(value), isNative: address === native, isProtocolToken },
  }
}

function toProtocolRows(items: readonly OnChain<CountedItem>[], show: Show): ProtocolRow[] {
  const rows = [...groupBy(items, ({ protocol }) => protocol.id).values()].flatMap((own) => {
    const [first] = own
    if (!first) return []
    const { id, name, siteUrl, logoUrl } = first.protocol
    const net = own.reduce((sum, item) => sum + netOf(item), 0n)
    const list = own.sort(
      (a, b) =>
        byValue(netOf(a), netOf(b)) || byText(a.pool, b.pool) || byText(a.type, b.type) || a.chainId - b.chainId,
    )
    const row: ProtocolRow = {
      ...{ id, name, site_url: siteUrl, logo_url: logoUrl, stats: toStats(own) },
      portfolio_item_list: list.map((item) => toItemRow(item, show)),
    }
    return [{ net, row }]
  })
  return rows.sort((a, b) => byValue(a.net, b.net) || byText(a.row.id, b.row.id)).map(({ row }) => row)
}

function toItemRow(item: OnChain<CountedItem>, show: Show): ProtocolRow['portfolio_item_list'][number] {
  const chain = String(item.chainId)
  const list = (amounts: readonly Valued[]) =>
    [...amounts]
      .sort((a, b) => byValue(a.value, b.value) || byText(a.token.address, b.token.address))
      .map((amount) => toProtocolToken(amount, chain, show))
  return {
    ...{ name: item.name, type: item.type, opportunity_id: item.opportunityId },
    ...{ pool: { id: show(item.pool), chain }, stats: toStats([item]) },
    detail: {
      description: item.description,
      supply_token_list: list(item.supplied),
      borrow_token_list: list(item.borrowed),
      reward_token_list: list(item.rewards),
    },
  }
}

function toProtocolToken(amount: Valued, chain: string, show: Show) {
  const { token, raw, opportunityId, priceUsd, value } = amount
  const { address, symbol, name, decimals, logoUrl } = token
  return {
    ...{ address: show(address), chain, symbol, name, decimals, amount: formatUnits(raw, decimals) },
    ...{ price: priceUsd ?? null, logo_url: logoUrl, opportunity_id: opportunityId ?? null, amount_raw: String(raw) },
    value_usd: value === undefined ? null : formatUsd(value),
  }
}

function toStats(items: readonly CountedItem[]): ProtocolRow['stats'] {
  const add = (of: (item: CountedItem) => bigint) => formatUsd(items.reduce((sum, item) => sum + of(item), 0n))
  return { asset_usd_value: add(assetsOf), debt_usd_value: add(debtOf), net_usd_value: add(netOf) }
}
