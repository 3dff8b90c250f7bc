import { notFound } from '../../kernel/errors.js'
import { type PageInput, paginateNav, parsePage } from '../../kernel/page.js'
import { formatAddress } from '../../wallets/format.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { listStreamWallets } from './storeReadings.js'
import { listStreams, type StreamRow } from './storeStreams.js'
import { toWalletSnapshot } from './stream.js'

/** The wallets of a stream's newest snapshot, the highest rewards first. */
export async function getStreamWallets(ctx: CatalogueContext, input: PageInput & { id: string }) {
  const { id } = await getConfirmedStream(ctx, input.id)
  const request = parsePage(input)
  const { rows, total } = await listStreamWallets(ctx.db, id, request)
  const data = rows.map((row) => ({ userAddress: formatAddress(row.wallet), lastSnapshot: toWalletSnapshot(row) }))
  return { data, pagination: paginateNav(request, total) }
}

/** A stream that everybody sees. Throws 404. */
export async function getConfirmedStream(ctx: Pick<CatalogueContext, 'db'>, id: string): Promise<StreamRow> {
  const [row] = await listStreams(ctx.db, { ids: [id] })
  if (!row) throw notFound('no such stream')
  return row
}
