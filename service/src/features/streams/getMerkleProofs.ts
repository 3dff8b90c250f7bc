import { formatTs } from '../../kernel/clock.js'
import { formatAddress } from '../../wallets/format.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { findHeld } from './committedRewards.js'
import { findProofs } from './proofs.js'
import { listRoots } from './storeEvents.js'
import { listStreams } from './storeStreams.js'

const failed = (streamId: string, error: string) => ({
  ...{ streamId, chainId: null, contractAddress: '', amount: null, proof: [], rootHash: '', timestamp: null, error },
})

/**
 * The claimable amounts of a wallet in streams, with their proofs: by our newest confirmed root, if the contract still holds it
 * as its current or previous root.
 */
export async function getMerkleProofs(ctx: CatalogueContext, input: { wallet: string; streamIds: string[] }) {
  const wallet = input.wallet.toLowerCase()
  const streamIds = [...new Set(input.streamIds.map((id) => id.toLowerCase()))]
  const [streams, roots] = await Promise.all([listStreams(ctx.db, { ids: streamIds }), listRoots(ctx.db, streamIds)])
  const held = new Map(streamIds.map((id) => [id, findHeld(roots.filter(({ streamId }) => streamId === id))]))
  const found = await findProofs(
    ctx.db,
    [...held.values()].flatMap((root) => root ?? []),
    wallet,
  )
  const proofs = streamIds.map((streamId) => {
    const stream = streams.find(({ id }) => id === streamId)
    if (!stream) return failed(streamId, 'no such stream')
    if (stream.contract === null) return failed(streamId, 'a stream of points has nothing to claim')
    if (stream.claimPaused) return failed(streamId, 'claims of the stream are paused')
    const root = held.get(streamId)
    if (!root) return failed(streamId, 'no root of the stream is confirmed and claimable yet')
    const own = found.get(streamId)
    if (own === undefined) return failed(streamId, 'the wallet has earned nothing in the stream by its last root')
    return {
      ...{ streamId, chainId: stream.chainId, contractAddress: formatAddress(stream.contract) },
      ...{ amount: String(own.amount), proof: [...own.proof], rootHash: root.root },
      ...{ timestamp: formatTs(root.rootAt), error: '' },
    }
  })
  return { proofs }
}
