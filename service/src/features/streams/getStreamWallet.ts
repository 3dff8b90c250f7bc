import { notFound } from '../../kernel/errors.js'
import { formatAddress } from '../../wallets/format.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { showStreams } from './getStreams.js'
import { getConfirmedStream } from './getStreamWallets.js'
import { listWalletSnapshots } from './storeReadings.js'
import { toWalletSnapshot } from './stream.js'

/** The earnings of a wallet in a stream, snapshot by snapshot. */
export async function getStreamWallet(ctx: CatalogueContext, input: { id: string; address: string }) {
  const row = await getConfirmedStream(ctx, input.id)
  const wallet = input.address.toLowerCase()
  const snapshots = await listWalletSnapshots(ctx.db, wallet, { streamId: row.id })
  if (snapshots.length === 0) throw notFound('the wallet has no snapshot in this stream')
  const [stream] = await showStreams(ctx, [row])
  if (!stream) throw notFound('no such stream')
  return {
    wallet: {
      ...{ streamId: row.id, userAddress: formatAddress(wallet) },
      snapshots: snapshots.map(toWalletSnapshot),
      stream,
    },
  }
}
