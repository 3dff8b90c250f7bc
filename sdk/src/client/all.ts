import type { EarnClient } from './client.js'
import type { PagedOperation } from './operation.js'
import type { CallOptions } from './send.js'

/**
 * Walks over the items of every page of a list, from `params.page` on:
 * `for await (const vault of all(client, listOpportunities, { chainIds: 1 }))`. A page is asked for when its first item is
 * wanted, 100 items at a time unless `limit` is given.
 */
export async function* all<P extends object, R, Item>(
  client: EarnClient,
  operation: PagedOperation<P, R, Item>,
  params?: P,
  options?: CallOptions,
): AsyncGenerator<Item, void, undefined> {
  const call = operation as unknown as (client: EarnClient, params: object, options?: CallOptions) => Promise<Page>
  let page = 1
  if (params && 'page' in params && typeof params.page === 'number' && params.page > 1) page = params.page
  for (; ; page++) {
    const answer = await call(client, { limit: 100, ...params, page }, options)
    for (const item of answer[operation.items] as Item[]) yield item
    if (page >= (answer.pagination?.totalPages ?? 0)) return
  }
}

type Page = { [items: string]: unknown; pagination?: { totalPages: number } }
