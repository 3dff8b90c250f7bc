import { formatAddress } from '../../wallets/format.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { showStreams } from './getStreams.js'
import { listWalletSnapshots, type WalletSnapshotRow } from './storeReadings.js'
import { listStreams } from './storeStreams.js'
import { toWalletSnapshot } from './stream.js'

/** The streams a wallet has earned in. */
export async function getStreamsForWallet(ctx: CatalogueContext, input: { address: string; withSnapshots?: boolean }) {
  const wallet = input.address.toLowerCase()
  const [rows, snapshots] = await Promise.all([
    listStreams(ctx.db, { wallet }),
    listWalletSnapshots(ctx.db, wallet, { isLatestOnly: input.withSnapshots !== true }),
  ])
  const byStream = new Map<string, WalletSnapshotRow[]>()
  for (const each of snapshots) byStream.set(each.streamId, [...(byStream.get(each.streamId) ?? []), each])
  const streams = await showStreams(ctx, rows)
  return {
    streams: streams.map((stream) => ({
      ...{ streamId: stream.id, userAddress: formatAddress(wallet) },
      snapshots: (byStream.get(stream.id) ?? []).map(toWalletSnapshot),
      stream,
    })),
  }
}
