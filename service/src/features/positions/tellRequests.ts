import { getAddress } from 'viem'
import type { Fact, Tell } from '../../postgres/context.js'
import { inTransaction } from '../../postgres/pool.js'
import type { ChainContext } from '../../rpc/chains.js'
import { listShownRequests } from './getWalletRequests.js'
import { listUntoldWallets, recordToldStates, takeToldStates } from './storeToldRequests.js'

/** Wallets that are looked at in one run. */
const walletsMax = 500

const told = new Set(['claimable', 'claimed', 'cancelled'])

/** Tells others that requests of wallets can be claimed, are claimed or are cancelled. A chain that cannot be read is left out. */
export async function tellRequests(ctx: ChainContext, tell: Tell): Promise<void> {
  for (const wallet of await listUntoldWallets(ctx.db, walletsMax)) {
    const requests = await listShownRequests(ctx, wallet).catch((error: unknown) => {
      ctx.log.debug({ err: error }, 'the requests of a wallet could not be read')
      return []
    })
    const at = ctx.clock.now()
    await inTransaction(ctx.db, async (tx) => {
      const before = await takeToldStates(
        tx,
        requests.map(({ id }) => id),
      )
      const changed = requests.filter(({ id, shown: { state } }) => {
        const was = before.get(id)
        // An end stays: another process may have seen it before.
        return was !== state && was !== 'claimed' && was !== 'cancelled'
      })
      if (changed.length === 0) return
      await recordToldStates(
        tx,
        changed.map(({ id, shown: { state } }) => ({ id, state })),
      )
      const facts = changed.filter(({ shown: { state } }) => told.has(state))
      await tell(
        tx,
        facts.map(
          ({ chainId, shown }): Fact => ({
            ...{ type: `request.${shown.state}`, at, chainId, data: { walletAddress: getAddress(wallet), ...shown } },
            subject: { kind: 'wallet', id: getAddress(wallet) },
          }),
        ),
      )
    })
  }
}
