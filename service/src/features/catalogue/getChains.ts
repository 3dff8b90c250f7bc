import { type PageInput, paginate, parsePage } from '../../kernel/page.js'
import type { CatalogueContext } from './catalogue.js'
import { toChain } from './item.js'
import { prepareJson } from './memory/prepared.js'

/** Active chains, by id. */
export async function getChains(ctx: CatalogueContext, input: PageInput) {
  const snapshot = ctx.catalogue.current()
  return prepareJson(ctx, 'GetChains', input, () => {
    const request = parsePage(input)
    const active = [...snapshot.chains.values()].filter((chain) => chain.active)
    const page = active.slice(request.offset, request.offset + request.limit)
    return { data: page.map(toChain), pagination: paginate(request, active.length) }
  })
}
