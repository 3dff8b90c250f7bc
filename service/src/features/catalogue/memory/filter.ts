import type { Static } from 'typebox'
import T from 'typebox'
import { List, uuidPattern } from '../../../kernel/wire.js'
import { chainKey } from '../records.js'
import { type Bits, fullBits, keepAny, keepBetween, keepContaining, keepOnly, remove } from './bits.js'
import type { Columns, Index, LiveColumns } from './columns.js'

const chainIdPattern = '^(0|[1-9][0-9]{0,14})$'
const ids = (what: string) =>
  List({ pattern: uuidPattern, description: `Ids of ${what}; an opportunity with any of them` })
const onlyTrue = (what: string) =>
  T.Optional(T.Boolean({ description: `When true, only opportunities with ${what}; false filters nothing` }))

/** The filters of both opportunity lists. Values of one list are alternatives; different filters all apply. */
export const filterQuery = {
  search: T.Optional(
    T.String({ description: 'Part of the name, the description or a token address, upper and lower case alike' }),
  ),
  chainIds: T.Optional(List({ pattern: chainIdPattern, description: 'Chain ids of the deposit tokens' })),
  depositToken: T.Optional(
    T.String({
      pattern: '^0[xX][0-9a-fA-F]{40}-(0|[1-9][0-9]{0,14})$',
      description: 'A deposit token as `<address>-<chainId>`',
    }),
  ),
  depositTokenSymbols: T.Optional(List({ description: 'Symbols of deposit tokens, upper and lower case alike' })),
  tags: T.Optional(List({ description: 'Codes of tags' })),
  curatorId: T.Optional(ids('curators')),
  providerId: T.Optional(ids('providers; a lending protocol counts as the provider of what is built on it')),
  partnerId: T.Optional(ids('partners')),
  lendingProtocolId: T.Optional(ids('lending protocols')),
  tvlMin: T.Optional(T.Number({ description: 'Least TVL in US dollars, inclusive' })),
  tvlMax: T.Optional(T.Number({ description: 'Most TVL in US dollars, inclusive' })),
  minApr: T.Optional(T.Number({ description: 'Least estimated APR in percent, inclusive' })),
  maxApr: T.Optional(T.Number({ description: 'Most estimated APR in percent, inclusive' })),
  featured: T.Optional(T.Boolean({ nullable: true, description: 'true: featured ones; false: the others' })),
  directInteractionEnabled: onlyTrue('direct deposits'),
  routedSwapEnabled: onlyTrue('deposits through a swap'),
  depositEnabled: onlyTrue('deposits open'),
  withdrawEnabled: onlyTrue('withdrawals open'),
  asyncDeposit: onlyTrue('deposits in two steps'),
  asyncWithdraw: onlyTrue('withdrawals in two steps'),
}

const FilterSchema = T.Object(filterQuery)

export type OpportunityFilter = Static<typeof FilterSchema>

/** The positions the filter leaves, of all or of those in `within`. */
export function selectBits(columns: Columns, live: LiveColumns, filter: OpportunityFilter, within?: Bits): Bits {
  const bits = fullBits(columns.size)
  if (within) keepOnly(bits, within)
  keepIndexed(bits, columns, filter)
  keepFlags(bits, columns, live, filter)
  keepBounds(bits, live.tvl, filter.tvlMin, filter.tvlMax)
  keepBounds(bits, columns.estimatedApr, filter.minApr, filter.maxApr)
  // Last, because it is the dearest: only what the others left is searched.
  if (filter.search) keepContaining(bits, columns.searchTexts, filter.search.toLowerCase())
  return bits
}

function keepBounds(bits: Bits, values: Float64Array, min: number | undefined, max: number | undefined): void {
  if (min === undefined && max === undefined) return
  keepBetween(bits, values, min ?? Number.NEGATIVE_INFINITY, max ?? Number.POSITIVE_INFINITY)
}

function keepIndexed(bits: Bits, columns: Columns, filter: OpportunityFilter): void {
  const keepAnyOf = <K>(index: Index<K>, wanted: readonly K[] | undefined) => {
    if (wanted)
      keepAny(
        bits,
        wanted.flatMap((value) => index.get(value) ?? []),
      )
  }
  const lower = (values: readonly string[] | undefined) => values?.map((value) => value.toLowerCase())
  keepAnyOf(columns.depositChainIds, filter.chainIds?.map(Number))
  if (filter.depositToken) {
    const [address = '', chainId] = filter.depositToken.split('-')
    keepAnyOf(columns.depositTokens, [chainKey(Number(chainId), address)])
  }
  keepAnyOf(columns.depositTokenSymbols, lower(filter.depositTokenSymbols))
  keepAnyOf(columns.tags, filter.tags)
  keepAnyOf(columns.curators, lower(filter.curatorId))
  keepAnyOf(columns.providers, lower(filter.providerId))
  keepAnyOf(columns.partners, lower(filter.partnerId))
  keepAnyOf(columns.lendingProtocols, lower(filter.lendingProtocolId))
}

function keepFlags(bits: Bits, columns: Columns, live: LiveColumns, filter: OpportunityFilter): void {
  if (filter.featured === true) keepOnly(bits, columns.featured)
  if (filter.featured === false) remove(bits, columns.featured)
  if (filter.directInteractionEnabled) keepOnly(bits, columns.directInteractionEnabled)
  if (filter.routedSwapEnabled) keepOnly(bits, columns.routedSwapEnabled)
  if (filter.depositEnabled) keepOnly(bits, live.depositEnabled)
  if (filter.withdrawEnabled) keepOnly(bits, live.withdrawEnabled)
  if (filter.asyncDeposit) keepOnly(bits, columns.asyncDeposit)
  if (filter.asyncWithdraw) keepOnly(bits, columns.asyncWithdraw)
}
