import { formatUnits, parseDecimal, usdDecimals } from '../../kernel/amount.js'
import { type CatalogueContext, findOpportunityByVault } from '../catalogue/index.js'
import { sumFlows, type VaultEarnings } from './storeEarnings.js'
import type { FlowVault } from './storeMarks.js'

/** An amount of a vault's asset in whole units, and its worth; null where something of it has no price. */
export type Sum = { native: string; usd: string | null }

/** The earnings of a wallet in an opportunity: earned = current + withdrawn − deposited, to the last digit. */
export type OpportunityEarning = {
  opportunityId: string
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
  /** Of these nothing can be said: their vaults have no snapshot yet. */
  unvalued: { opportunityId: string; chainId: number }[]
}

/** Earnings of a wallet (lower-case) by opportunity, of confirmed blocks, in no order. `vaults`: those it was in, if known. */
export async function listEarnings(
  { db, catalogue }: Pick<CatalogueContext, 'db' | 'catalogue'>,
  wallet: string,
  vaults?: readonly FlowVault[],
): Promise<Earnings> {
  const rows = await sumFlows(db, wallet, vaults)
  const snapshot = catalogue.current()
  const all: Earnings = { earnings: [], unvalued: [] }
  for (const row of rows) {
    const opportunity = findOpportunityByVault(snapshot, row.chainId, row.vaultAddress)
    if (!opportunity) continue
    const sums = computeEarnings(row)
    if (!sums) all.unvalued.push({ opportunityId: opportunity.id, chainId: row.chainId })
    else {
      const { firstDepositAt, lastActivityAt } = row
      all.earnings.push({ opportunityId: opportunity.id, ...sums, firstDepositAt, lastActivityAt })
    }
  }
  return all
}

type Exact = { native: bigint; usd: bigint | null }

/**
 * Earnings from the sums of a wallet's flows at the newest share price; undefined if that is needed and missing. Pure.
 */
export function computeEarnings(
  row: VaultEarnings,
): Pick<OpportunityEarning, 'deposited' | 'withdrawn' | 'current' | 'earned'> | undefined {
  const current = computeCurrent(row)
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
  const show = ({ native, usd }: Exact): Sum => ({
    native: formatUnits(native, row.assetDecimals),
    usd: usd === null ? null : formatUnits(usd, usdDecimals),
  })
  return { deposited: show(deposited), withdrawn: show(withdrawn), current: show(current), earned: show(earned) }
}

/** The worth of the held shares at the newest snapshot's prices; 0 shares are worth 0, also without a snapshot. */
function computeCurrent(row: VaultEarnings): Exact | undefined {
  const shares = BigInt(row.shares)
  if (shares === 0n) return { native: 0n, usd: 0n }
  if (row.priceNumerator === null || row.priceExponent === null) return undefined
  const native = (shares * BigInt(row.priceNumerator)) / 10n ** BigInt(row.priceExponent)
  const price = parseUsd(row.priceUsd)
  return { native, usd: price === null ? null : (native * price) / 10n ** BigInt(row.assetDecimals) }
}

/** US dollars as text, scaled by 10^18 and cut. */
function parseUsd(text: string | null): bigint | null {
  return text === null ? null : parseDecimal(text, usdDecimals)
}
