import { invalidArgument } from '../../kernel/errors.js'
import { type PageInput, paginateNav, parsePage } from '../../kernel/page.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { computeCost, type ShowInput, showStreams } from './getStreams.js'
import { countStreams, listStreams, type StreamFilter } from './storeStreams.js'

export const bulkLimitMax = 500

type BulkInput = ShowInput &
  PageInput & {
    ids?: string[] | null
    organizationIds?: string[] | null
    targetChainIds?: number[] | null
    targetTokens?: { chainId: number; address: string }[] | null
  }

/** Confirmed streams that fit every filter given. */
export async function postStreamsBulk(ctx: CatalogueContext, input: BulkInput) {
  const { filter, request, isBounded } = select(input)
  if (!isBounded) throw invalidArgument('give a filter, or a limit: all streams at once are too many')
  if (!request) return { streams: await showStreams(ctx, await listStreams(ctx.db, filter), input) }
  const [rows, total] = await Promise.all([listStreams(ctx.db, filter, request), countStreams(ctx.db, filter)])
  return { streams: await showStreams(ctx, rows, input), pagination: paginateNav(request, total) }
}

/** The cost of the snapshots in a response; 0 without snapshots. */
export async function computeBulkCost(ctx: CatalogueContext, input: BulkInput): Promise<number> {
  const { filter, request, isBounded } = select(input)
  if (input.withSnapshots !== true || !isBounded) return 0
  return computeCost(ctx, await listStreams(ctx.db, filter, request))
}

/** Parses the selection and the page; the page is undefined if the request names none. */
function select(input: BulkInput) {
  const filter: StreamFilter = {
    ids: input.ids ?? undefined,
    organizationIds: input.organizationIds ?? undefined,
    targetChainIds: input.targetChainIds ?? undefined,
    targetTokens: input.targetTokens?.map(({ chainId, address }) => ({ chainId, address: address.toLowerCase() })),
  }
  const hasLimit = [input.limit, input.pageSize, input.pageLimit].some((limit) => limit !== undefined)
  const request = hasLimit || input.page !== undefined ? parsePage(input, bulkLimitMax) : undefined
  return { filter, request, isBounded: hasLimit || Object.values(filter).some((values) => values !== undefined) }
}
