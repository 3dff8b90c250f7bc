import type { Static } from 'typebox'
import T from 'typebox'
import { List, uuidPattern } from '../../kernel/wire.js'
import { chainKey } from './records.js'
import type { Listed } from './view.js'

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

type Test = (entry: Listed) => boolean

/** The filter as one test; undefined when it lets everything through. */
export function compileFilter(filter: OpportunityFilter): Test | undefined {
  const tests = [...textTests(filter), ...organizationTests(filter), ...boundTests(filter), ...flagTests(filter)]
  const [first] = tests
  if (tests.length <= 1) return first
  return (entry) => tests.every((test) => test(entry))
}

function textTests({ search, chainIds, depositToken, depositTokenSymbols, tags }: OpportunityFilter): Test[] {
  const tests: Test[] = []
  if (chainIds) {
    const wanted = chainIds.map(Number)
    tests.push((entry) => wanted.some((chainId) => entry.depositChainIds.has(chainId)))
  }
  if (depositToken) {
    const [address = '', chainId] = depositToken.split('-')
    const key = chainKey(Number(chainId), address)
    tests.push((entry) => entry.depositTokenKeys.has(key))
  }
  if (depositTokenSymbols) {
    const wanted = depositTokenSymbols.map((symbol) => symbol.toLowerCase())
    tests.push((entry) => wanted.some((symbol) => entry.depositTokenSymbols.has(symbol)))
  }
  if (tags) {
    const wanted = new Set(tags)
    tests.push((entry) => entry.item.tags.some((code) => wanted.has(code)))
  }
  if (search) {
    const text = search.toLowerCase()
    tests.push((entry) => entry.searchText.includes(text))
  }
  return tests
}

function organizationTests(filter: OpportunityFilter): Test[] {
  const tests: Test[] = []
  const add = (wanted: readonly string[] | undefined, read: (item: Listed['item']) => readonly string[]) => {
    if (!wanted) return
    const lower = new Set(wanted.map((id) => id.toLowerCase()))
    tests.push((entry) => read(entry.item).some((id) => lower.has(id)))
  }
  add(filter.curatorId, (item) => (item.curatorId === null ? [] : [item.curatorId]))
  add(filter.providerId, (item) => [...item.providerIds, ...item.lendingProtocolIds])
  add(filter.partnerId, (item) => item.partnerIds)
  add(filter.lendingProtocolId, (item) => item.lendingProtocolIds)
  return tests
}

function boundTests({ tvlMin, tvlMax, minApr, maxApr, featured }: OpportunityFilter): Test[] {
  const tests: Test[] = []
  if (tvlMin !== undefined) tests.push(({ item }) => item.tvl >= tvlMin)
  if (tvlMax !== undefined) tests.push(({ item }) => item.tvl <= tvlMax)
  if (minApr !== undefined) tests.push(({ item }) => item.estimatedApr >= minApr)
  if (maxApr !== undefined) tests.push(({ item }) => item.estimatedApr <= maxApr)
  if (featured !== undefined) tests.push(({ item }) => item.featured === featured)
  return tests
}

function flagTests(filter: OpportunityFilter): Test[] {
  const tests: Test[] = []
  if (filter.directInteractionEnabled) tests.push(({ item }) => item.meta.directInteractionEnabled)
  if (filter.routedSwapEnabled) tests.push(({ item }) => item.meta.routedSwapEnabled)
  if (filter.depositEnabled) tests.push(({ item }) => item.meta.depositEnabled)
  if (filter.withdrawEnabled) tests.push(({ item }) => item.meta.withdrawEnabled)
  if (filter.asyncDeposit) tests.push(({ item }) => item.meta.asyncDeposit)
  if (filter.asyncWithdraw) tests.push(({ item }) => item.meta.asyncWithdraw)
  return tests
}
