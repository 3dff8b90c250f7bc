import { formatTs } from '../../kernel/clock.js'
import { type CatalogueSnapshot, findOpportunity, toToken } from '../catalogue/index.js'
import type { Earned } from './context.js'
import type { Earnings, OpportunityEarning } from './earnings.js'
import type { EarningRow, InRange } from './schema.js'

/** Tells the earnings of the range that was asked for; absent where none was. */
export type TellInRange = (earning: OpportunityEarning) => InRange | null

/** Earnings by the opportunity's name; of each chain one sentence names what has no share price yet. */
export function toEarned(
  snapshot: CatalogueSnapshot,
  { earnings, unvalued }: Earnings,
  tellInRange?: TellInRange,
): Earned {
  const rows = earnings.flatMap((earning) => toEarningRow(snapshot, earning, tellInRange))
  const chains = [...new Set(unvalued.map(({ chainId }) => chainId))]
  return {
    rows: rows.sort(
      (a, b) => compare(a.opportunityName, b.opportunityName) || compare(a.opportunityId, b.opportunityId),
    ),
    problems: chains.map((chainId) => {
      const own = unvalued.filter((each) => each.chainId === chainId)
      const names = own.map(({ opportunityId }) => findOpportunity(snapshot, opportunityId)?.name ?? opportunityId)
      return { chainId, source: 'earnings', error: `no share price is known yet of ${names.join(', ')}` }
    }),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function toEarningRow(
  snapshot: CatalogueSnapshot,
  earning: OpportunityEarning,
  tellInRange: TellInRange | undefined,
): EarningRow[] {
  const { opportunityId, deposited, withdrawn, current, earned, firstDepositAt, lastActivityAt } = earning
  const opportunity = findOpportunity(snapshot, opportunityId)
  if (!opportunity) return []
  const [product] = opportunity.products
  return [
    {
      ...{ productId: product?.id ?? null, productName: product?.name ?? null },
      ...{ opportunityId, opportunityName: opportunity.name, deposited, withdrawn, current, earned },
      token: toToken(opportunity.baseToken),
      firstDepositAt: firstDepositAt && formatTs(firstDepositAt),
      lastActivityAt: lastActivityAt && formatTs(lastActivityAt),
      ...(tellInRange && { inRange: tellInRange(earning) }),
    },
  ]
}
