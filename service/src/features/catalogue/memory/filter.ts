import T, { type Static } from 'typebox'
import { List, type TextForm, uuidForm } from '../../../kernel/wire.js'
import type { OpportunityRecord } from '../opportunityRecord.js'
import { chainKey } from '../records.js'
import { type Bits, fullBits, keepOnly } from './bits.js'
import { type Columns, flag, index, type Made, numbers, texts } from './columns.js'
import { anyOf, atLeast, atMost, containing, either, exactly, onlyTrue, type Selection } from './filterKinds.js'

const chainIdForm: TextForm = { pattern: '^(0|[1-9][0-9]{0,14})$', says: 'must be a chain id in decimal digits' }
const lower = (values: readonly string[]) => values.map((value) => value.toLowerCase())
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
const idList = (what: string, read: (record: OpportunityRecord) => Iterable<string>) =>
  anyOf(List({ form: uuidForm, description: `Ids of ${what}; an opportunity with any of them` }), index(read), lower)
/** US dollars. One that is not known is below every least TVL above 0, and within no most TVL. */
const tvlOr = (unknown: number) =>
  numbers(({ tvlUsd, analyticsAt }) => (tvlUsd === null || analyticsAt === null ? unknown : Number(tvlUsd)), true)
/** Percent. */
const estimatedApr = numbers((record) => record.estimatedApr, true)

/**
 * The filters of both opportunity lists, one an entry: parameter, column and selection. Values of one list are
 * alternatives; different filters all apply.
 */
const filters = {
  search: containing(
    'Part of the name, the description, or the address of a token or the vault, upper and lower case alike',
    texts(searchTextOf),
  ),
  slug: exactly(
    'The slug, letter for letter: share links carry it',
    texts(({ slug }) => slug),
  ),
  chainIds: anyOf(
    List({ form: chainIdForm, description: 'Chain ids of the deposit tokens' }),
    index((record) => record.depositTokens.map((token) => token.chainId)),
    (values) => values.map(Number),
  ),
  depositToken: anyOf(
    T.String({
      pattern: '^0[xX][0-9a-fA-F]{40}-(0|[1-9][0-9]{0,14})$',
      says: 'must be a token address and a chain id: 0x…-1',
      description: 'A deposit token as `<address>-<chainId>`',
    }),
    index((record) => record.depositTokens.map((token) => chainKey(token.chainId, token.address))),
    (text) => {
      const [address = '', chainId] = text.split('-')
      return [chainKey(Number(chainId), address)]
    },
  ),
  depositTokenSymbols: anyOf(
    List({ description: 'Symbols of deposit tokens, upper and lower case alike' }),
    index((record) => record.depositTokens.map((token) => token.symbol.toLowerCase())),
    lower,
  ),
  tags: anyOf(
    List({ description: 'Codes of tags' }),
    index((record) => record.tags.map((tag) => tag.code)),
    (codes) => codes,
  ),
  curatorId: idList('curators', (record) => (record.curatorId === null ? [] : [record.curatorId])),
  providerId: idList('providers; a lending protocol counts as the provider of what is built on it', (record) =>
    idsOf([...record.providers, ...record.lendingProtocols]),
  ),
  partnerId: idList('partners', (record) => idsOf(record.partners)),
  lendingProtocolId: idList('lending protocols', (record) => idsOf(record.lendingProtocols)),
  tvlMin: atLeast('Least TVL in US dollars, inclusive; above 0 it leaves out what has no TVL', tvlOr(0)),
  tvlMax: atMost('Most TVL in US dollars, inclusive; leaves out what has no TVL', tvlOr(Number.NaN)),
  minApr: atLeast('Least estimated APR in percent, inclusive', estimatedApr),
  maxApr: atMost('Most estimated APR in percent, inclusive', estimatedApr),
  featured: either(
    'true: featured ones; false: the others',
    flag((record) => record.featured),
  ),
  directInteractionEnabled: onlyTrue(
    'direct deposits',
    flag((record) => record.directInteractionEnabled),
  ),
  routedSwapEnabled: onlyTrue(
    'deposits through a swap',
    flag((record) => record.routedSwapEnabled),
  ),
  depositEnabled: onlyTrue(
    'deposits open',
    flag((record) => record.capabilities.deposit.enabled, true),
  ),
  withdrawEnabled: onlyTrue(
    'withdrawals open',
    flag((record) => record.capabilities.withdraw.enabled, true),
  ),
  asyncDeposit: onlyTrue(
    'deposits in two steps',
    flag((record) => record.asyncDeposit),
  ),
  asyncWithdraw: onlyTrue(
    'withdrawals in two steps',
    flag((record) => record.asyncWithdraw),
  ),
}

type Filters = typeof filters
type FilterQuery = { [name in keyof Filters]: Filters[name]['query'] }

/** The parameters of the filters, for the query of an operation. */
export const filterQuery = Object.fromEntries(
  Object.entries(filters).map(([name, { query }]) => [name, query]),
) as FilterQuery

export type OpportunityFilter = { [name in keyof Filters]?: Static<FilterQuery[name]> | undefined }

const inOrder = Object.entries<Selection>(filters).sort(([, a], [, b]) => Number(a.last) - Number(b.last))

/** The columns of all filters, each once. */
export const filterColumns = [...new Set(inOrder.map(([, { column }]) => column))]

/** The positions the filter leaves, of all or of those in `within`. */
export function selectBits(
  { columns, pushed }: { columns: Columns; pushed: Made },
  filter: OpportunityFilter,
  within?: Bits,
): Bits {
  const bits = fullBits(columns.size)
  if (within) keepOnly(bits, within)
  const wanted: Readonly<Record<string, unknown>> = filter
  for (const [name, { column, keep }] of inOrder) {
    const value = wanted[name]
    if (value !== undefined && value !== null) keep(bits, (column.pushed ? pushed : columns).get(column), value)
  }
  return bits
}

/** Lower-cased name, description and addresses of tokens and vault, separated by NUL. */
function searchTextOf(record: OpportunityRecord): string {
  const { name, description, depositTokens, baseToken, receiptToken, vault } = record
  const addresses = new Set([...depositTokens, baseToken, receiptToken].map((token) => token.address)).add(
    vault.address,
  )
  return [name, description, ...addresses].map((text) => text.toLowerCase()).join('\0')
}
