import { invalidArgument } from '../../kernel/errors.js'
import { paginateNav, parsePage } from '../../kernel/page.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { type ShowInput, showStreams } from './getStreams.js'
import { countStreams, listStreams, type StreamFilter } from './storeStreams.js'

export const bulkLimitMax = 500

type BulkInput = ShowInput & {
  page?: number
  limit?: number
  ids?: string[] | null
  organizationIds?: string[] | null
  targetChainIds?: number[] | null
  targetTokens?: { chainId: number; address: string }[] | null
}

/** Confirmed streams that fit every filter given. */
export async function postStreamsBulk(ctx: CatalogueContext, input: BulkInput) {
  const filter: StreamFilter = {
    ids: input.ids ?? undefined,
    organizationIds: input.organizationIds ?? undefined,
    targetChainIds: input.targetChainIds ?? undefined,
    targetTokens: input.targetTokens?.map(({ chainId, address }) => ({ chainId, address: address.toLowerCase() })),
  }
  const isPaged = input.page !== undefined || input.limit !== undefined
  if (input.limit === undefined && Object.values(filter).every((values) => values === undefined))
    throw invalidArgument('give a filter, or a limit: all streams at once are too many')
  if (!isPaged) return { streams: await showStreams(ctx, await listStreams(ctx.db, filter), input) }
  const request = parsePage(input, bulkLimitMax)
  const [rows, total] = await Promise.all([listStreams(ctx.db, filter, request), countStreams(ctx.db, filter)])
  return { streams: await showStreams(ctx, rows, input), pagination: paginateNav(request, total) }
}
