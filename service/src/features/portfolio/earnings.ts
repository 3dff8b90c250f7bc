import { formatUnits, parseDecimal, usdDecimals } from '../../kernel/amount.js'
import { type CatalogueContext, type CatalogueSnapshot, findOpportunityByVault } from '../catalogue/index.js'
import { sumFlows, type VaultEarnings } from './storeEarnings.js'
import type { FlowVault } from './storeMarks.js'

/** An amount of a vault's asset in whole units, and its worth; null where something of it has no price. */
export type Sum = { native: string; usd: string | null }

/** The earnings of a wallet in an opportunity: earned = current + withdrawn − deposited, to the last digit. */
export type OpportunityEarning = {
  opportunityId: string
  vaultId: number
  assetDecimals: number
  /** The held shares, including those that wait for a redemption. */
  shares: string
  deposited: Sum
  withdrawn: Sum
  current: Sum
  earned: Sum
  /** Null where all it ever had was transferred to it. */
  firstDepositAt: Date | null
  lastActivityAt: Date | null
}

export type Earnings = {
  earnings: OpportunityEarning[]
  /** Of these nothing can be said: no share price of their vaults is known yet. */
  unvalued: { opportunityId: string; chainId: number }[]
}

/** The price of a share at the block at which holdings are read: smallest units of the asset for 10^exponent of shares. */
export type SharePrice = { numerator: bigint; exponent: number }
/** Finds the price of a vault's share at that block; undefined where it was not read. */
export type FindSharePrice = (vault: Pick<VaultEarnings, 'chainId' | 'receiptToken'>) => SharePrice | undefined

/** Earnings of a wallet (lower-case) by opportunity, of confirmed blocks, in no order. `vaults`: those it was in, if known. */
export async function listEarnings(
  { db, catalogue, clock }: Pick<CatalogueContext, 'db' | 'catalogue' | 'clock'>,
  wallet: string,
  { vaults, findSharePrice = () => undefined }: { vaults?: readonly FlowVault[]; findSharePrice?: FindSharePrice } = {},
): Promise<Earnings> {
  return valueFlows(catalogue.current(), await sumFlows(db, wallet, vaults, clock.now()), findSharePrice)
}

/** Earnings from the sums of flows, of the opportunities that the catalogue shows. Pure. */
export function valueFlows(
  snapshot: CatalogueSnapshot,
  rows: readonly VaultEarnings[],
  findSharePrice: FindSharePrice,
): Earnings {
  const all: Earnings = { earnings: [], unvalued: [] }
  for (const row of rows) {
    const opportunity = findOpportunityByVault(snapshot, row.chainId, row.vaultAddress)
    if (!opportunity) continue
    const sums = computeEarnings(row, findSharePrice(row))
    if (!sums) all.unvalued.push({ opportunityId: opportunity.id, chainId: row.chainId })
    else {
      const { vaultId, assetDecimals, shares, firstDepositAt, lastActivityAt } = row
      const of = { opportunityId: opportunity.id, vaultId, assetDecimals, shares }
      all.earnings.push({ ...of, ...sums, firstDepositAt, lastActivityAt })
    }
  }
  return all
}

/** A sum in smallest units of the asset, and in US dollars scaled by 10^18. */
export type Exact = { native: bigint; usd: bigint | null }

/**
 * Earnings from the sums of a wallet's flows, with the share price of the block at which holdings are read, if it was; undefined
 * if a share price is needed and missing. Pure.
 */
export function computeEarnings(
  row: VaultEarnings,
  atBlock?: SharePrice,
): Pick<OpportunityEarning, 'deposited' | 'withdrawn' | 'current' | 'earned'> | undefined {
  const current = computeCurrent(row, atBlock)
  if (!current || row.deposited === null || row.withdrawn === null) return undefined
  const deposited = { native: BigInt(row.deposited), usd: parseUsd(row.depositedUsd) }
  const withdrawn = { native: BigInt(row.withdrawn), usd: parseUsd(row.withdrawnUsd) }
  const earned = {
    native: current.native + withdrawn.native - deposited.native,
    usd:
      current.usd === null || withdrawn.usd === null || deposited.usd === null
        ? null
        : current.usd + withdrawn.usd - deposited.usd,
  }
  const show = (sum: Exact) => showSum(sum, row.assetDecimals)
  return { deposited: show(deposited), withdrawn: show(withdrawn), current: show(current), earned: show(earned) }
}

/** The worth of the held shares; 0 shares are worth 0, also without any share price. */
function computeCurrent(row: VaultEarnings, atBlock: SharePrice | undefined): Exact | undefined {
  const shares = BigInt(row.shares)
  if (shares === 0n) return { native: 0n, usd: 0n }
  const isRead = atBlock !== undefined && !row.isHeldBack
  const native = isRead ? (shares * atBlock.numerator) / 10n ** BigInt(atBlock.exponent) : atSnapshot(row, shares)
  if (native === undefined) return undefined
  const price = parseUsd(isRead ? row.newestPriceUsd : row.priceUsd)
  return { native, usd: price === null ? null : (native * price) / 10n ** BigInt(row.assetDecimals) }
}

/**
 * The worth of shares at the newest snapshot. It may be older than the wallet's last deposit or withdrawal: then what that paid
 * for a share counts, if it is more, so that a fresh deposit is no loss.
 */
function atSnapshot(row: VaultEarnings, shares: bigint): bigint | undefined {
  const { priceNumerator, priceExponent, freshShares, freshAssets } = row
  if (priceNumerator === null || priceExponent === null) return undefined
  const worth = (shares * BigInt(priceNumerator)) / 10n ** BigInt(priceExponent)
  if (freshShares === null || freshAssets === null) return worth
  const fresh = (shares * BigInt(freshAssets)) / BigInt(freshShares)
  return fresh > worth ? fresh : worth
}

export function showSum({ native, usd }: Exact, decimals: number): Sum {
  return { native: formatUnits(native, decimals), usd: usd === null ? null : showUsd(usd) }
}

/** US dollars, scaled by 10^18, as text. */
export const showUsd = (usd: bigint): string => formatUnits(usd, usdDecimals)

export function readSum({ native, usd }: Sum, decimals: number): Exact {
  return { native: parseDecimal(native, decimals), usd: parseUsd(usd) }
}

/** US dollars as text, scaled by 10^18 and cut. */
export function parseUsd(text: string | null): bigint | null {
  return text === null ? null : parseDecimal(text, usdDecimals)
}
