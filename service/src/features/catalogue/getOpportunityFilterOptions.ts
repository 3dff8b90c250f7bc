import type { CatalogueContext } from './catalogue.js'
import { toChain, toOrganizationOption } from './item.js'
import { prepareJson } from './memory/prepared.js'
import { byName, type CatalogueSnapshot } from './memory/snapshot.js'
import { sortOptions } from './memory/sort.js'
import { viewOf } from './memory/view.js'
import type { OpportunityRecord } from './opportunityRecord.js'
import type { OrganizationRecord } from './records.js'
import type { Tag } from './schema.js'
import { compareText } from './text.js'

/** The values at least one listed opportunity has, each once, in the order of their names. */
export async function getOpportunityFilterOptions(ctx: CatalogueContext) {
  const snapshot = ctx.catalogue.current()
  return prepareJson(ctx, 'GetOpportunityFilterOptions', {}, () => listOptions(snapshot))
}

function listOptions(snapshot: CatalogueSnapshot) {
  const records = viewOf(snapshot).listed
  const organizations = (read: (record: OpportunityRecord) => readonly OrganizationRecord[]) =>
    distinct(records.flatMap(read)).sort(byName).map(toOrganizationOption)
  return {
    chains: chainOptions(snapshot, records),
    providers: organizations((record) => [...record.providers, ...record.lendingProtocols]),
    curators: organizations((record) => (record.curator ? [record.curator] : [])),
    partners: organizations((record) => record.partners),
    lendingProtocols: organizations((record) => record.lendingProtocols),
    tags: distinct(records.flatMap((record) => record.tags))
      .sort((a, b) => compareText(a.code, b.code))
      .map(toTag),
    depositTokenSymbols: symbolOptions(records),
    sortOptions: sortOptions.map(({ value, label }) => ({ value, label })),
  }
}

function distinct<T extends { id: string }>(rows: readonly T[]): T[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()]
}

function toTag({ id, code, name, description, color }: Tag): Tag {
  return { id, code, name, description, color }
}

function chainOptions(snapshot: CatalogueSnapshot, records: readonly OpportunityRecord[]) {
  const chainIds = new Set(records.flatMap((record) => record.depositTokens.map((token) => token.chainId)))
  return [...snapshot.chains.values()].filter((chain) => chain.active && chainIds.has(chain.chainId)).map(toChain)
}

/** Symbols without regard to case; the first spelling met and the first logo known stand for all. */
function symbolOptions(records: readonly OpportunityRecord[]): { symbol: string; logoUrl: string }[] {
  const options = new Map<string, { symbol: string; logoUrl: string }>()
  for (const { symbol, logoUrl } of records.flatMap((record) => record.depositTokens)) {
    const key = symbol.toLowerCase()
    const known = options.get(key)
    if (!known) options.set(key, { symbol, logoUrl })
    else if (known.logoUrl === '') known.logoUrl = logoUrl
  }
  return [...options.values()].sort((a, b) => compareText(a.symbol, b.symbol))
}
