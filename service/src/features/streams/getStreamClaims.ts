import { formatTs } from '../../kernel/clock.js'
import { type PageInput, paginateNav, parsePage } from '../../kernel/page.js'
import { formatAddress } from '../../wallets/format.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { getConfirmedStream } from './getStreamWallets.js'
import { listStreamClaims } from './storeClaims.js'

/** The confirmed claims of a stream's rewards, the newest first. */
export async function getStreamClaims(ctx: CatalogueContext, input: PageInput & { id: string }) {
  const { id } = await getConfirmedStream(ctx, input.id)
  const request = parsePage(input)
  const { rows, total } = await listStreamClaims(ctx.db, id, request)
  const data = rows.map(({ wallet, amount, transactionHash: txHash, blockNumber, at }) => ({
    ...{ userAddress: formatAddress(wallet), amount, txHash, blockNumber, blockTimestamp: formatTs(at) },
  }))
  return { data, pagination: paginateNav(request, total) }
}
