import { formatUnits, parseDecimal } from '../../kernel/amount.js'
import { memo } from '../../kernel/async/memo.js'
import { formatTs } from '../../kernel/clock.js'
import { formatAddress } from '../../wallets/format.js'
import type { OpportunityRecord } from './opportunityRecord.js'
import type { ChainRecord, IncentiveRow, OrganizationRecord, TokenRecord, VaultRecord } from './records.js'
import type { Chain, Deltas, Incentive, Movement, Opportunity, OrganizationOption, Token } from './schema.js'

/** The token as served; the same object for the same record, as a checksum costs more than the rest of it. */
export const toToken: (token: TokenRecord) => Token = memo(({ address, chainId, decimals, symbol, name, logoUrl }) => ({
  address: formatAddress(address),
  chainId,
  decimals,
  symbol,
  name,
  logoUrl,
}))

const toVaultAddress = memo(({ address }: VaultRecord) => formatAddress(address))

export function toChain({ chainId, name, logoUrl, explorerUrl }: ChainRecord): Chain {
  return { chainId, name, logoUrl, explorerUrl }
}

export function toOrganizationOption(organization: OrganizationRecord): OrganizationOption {
  const { id, name, iconUrl, landingUrl, organizationType } = organization
  return { id, name, iconUrl, landingUrl, organizationType }
}

const numberOrNull = (text: string | null) => (text === null ? null : Number(text))

export function toIncentive(row: IncentiveRow): Incentive {
  const { id, name, description, iconUrl, rewardType, rewardTypeName, indexed } = row
  return {
    id,
    name,
    description,
    iconUrl,
    rewardType,
    rewardTypeName,
    apr: numberOrNull(row.apr),
    minApr: numberOrNull(row.minApr),
    maxApr: numberOrNull(row.maxApr),
    estPriceUsd: numberOrNull(row.estPriceUsd),
    fdvEstimate: numberOrNull(row.fdvEstimate),
    tokenSupplyAllocation: numberOrNull(row.tokenSupplyAllocation),
    indexed,
  }
}

/** Sum of the incentives' APR in percent; one without an APR counts 0. Summed as decimals, so 0.1 + 0.2 is 0.3. */
export function computeEstimatedApr(incentives: readonly Pick<IncentiveRow, 'apr'>[]): number {
  const sum = incentives.reduce((total, { apr }) => total + (apr === null ? 0n : parseDecimal(apr, 18)), 0n)
  return Number(formatUnits(sum, 18))
}

const noMovement: Movement = { current: null, d1: null, d7: null, d30: null }

/** The `deltas` member from the pushed figures; figures that were not pushed are null. */
export function toDeltas(pushed: Partial<Deltas>): Deltas {
  return {
    tvl: { ...noMovement, ...pushed.tvl },
    lps: { ...noMovement, ...pushed.lps },
    apy: { ...noMovement, ...pushed.apy },
  }
}

/** The deposits and withdrawals that an opportunity takes now, and the reason where it takes none. */
export function toMeta(record: OpportunityRecord): Opportunity['meta'] {
  const { capabilities } = record
  return {
    depositEnabled: capabilities.deposit.enabled,
    withdrawEnabled: capabilities.withdraw.enabled,
    directInteractionEnabled: record.directInteractionEnabled,
    routedSwapEnabled: record.routedSwapEnabled,
    asyncDeposit: record.asyncDeposit,
    asyncWithdraw: record.asyncWithdraw,
    isSecondaryMarket: record.isSecondaryMarket,
    depositDisabledReason: capabilities.deposit.reason,
    withdrawalDisabledReason: capabilities.withdraw.reason,
  }
}

/** The opportunity as served, without `deltas`. */
export function toOpportunity(record: OpportunityRecord): Opportunity {
  const { curator, capability } = record
  const priced = record.tvlUsd !== null
  return {
    id: record.id,
    slug: record.slug,
    name: record.name,
    description: record.description,
    type: record.type,
    kind: record.vault.kind,
    tvl: priced ? Number(record.tvlUsd) : 0,
    estimatedApr: record.estimatedApr,
    minDepositAmountUsd: Number(record.minDepositAmountUsd),
    minWithdrawAmount: Number(record.minWithdrawAmount),
    featured: record.featured,
    baseToken: toToken(record.baseToken),
    depositTokens: record.depositTokens.map(toToken),
    receiptToken: toToken(record.receiptToken),
    ...(curator ? { curator: toCurator(curator) } : {}),
    incentives: record.incentives.map(toIncentive),
    meta: toMeta(record),
    swapDirectEnabled: record.directInteractionEnabled,
    swapRouteEnabled: record.routedSwapEnabled,
    tags: record.tags.map((tag) => tag.code),
    curatorId: record.curatorId,
    providerIds: record.providers.map(({ id }) => id),
    partnerIds: record.partners.map(({ id }) => id),
    lendingProtocolIds: record.lendingProtocols.map(({ id }) => id),
    productIds: record.products.map(({ id }) => id),
    chainId: record.chainId,
    vaultAddress: toVaultAddress(record.vault),
    freshness: {
      analyticsAt: priced && record.analyticsAt ? formatTs(record.analyticsAt) : null,
      capabilityAt: capability ? formatTs(capability.capabilityAt) : null,
    },
  }
}

function toCurator({ id, name, description, iconUrl, landingUrl }: OrganizationRecord) {
  return { id, name, description, iconUrl, landingUrl }
}
