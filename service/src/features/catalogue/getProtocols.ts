import { type PageInput, paginate, parsePage } from '../../kernel/page.js'
import type { CatalogueContext } from './catalogue.js'
import { prepareJson } from './memory/prepared.js'
import { byName } from './memory/snapshot.js'

/** All protocols, by name. */
export async function getProtocols(ctx: CatalogueContext, input: PageInput) {
  const snapshot = ctx.catalogue.current()
  return prepareJson(ctx, 'GetProtocols', input, () => {
    const request = parsePage(input)
    const protocols = [...snapshot.protocols.values()].sort(byName)
    const page = protocols.slice(request.offset, request.offset + request.limit)
    return {
      data: page.map(({ name, logoUrl, siteUrl }) => ({ name, logoUrl, siteUrl })),
      pagination: paginate(request, protocols.length),
    }
  })
}
