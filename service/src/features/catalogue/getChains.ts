import { type PageInput, paginate, parsePage } from '../../kernel/page.js'
import type { CatalogueContext } from './catalogue.js'
import { toChain } from './item.js'

/** Active chains, by id. */
export async function getChains(ctx: CatalogueContext, input: PageInput) {
  const request = parsePage(input)
  const active = [...ctx.catalogue.current().chains.values()].filter((chain) => chain.active)
  const page = active.slice(request.offset, request.offset + request.limit)
  return { data: page.map(toChain), pagination: paginate(request, active.length) }
}
