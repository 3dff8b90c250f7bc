import type { Address, Hex } from 'viem'
import { account } from '../../contracts/test/anvil.js'
import { openWorld } from './actionWorld.js'

export type AttributionWorld = Awaited<ReturnType<typeof openAttributionWorld>>

const usd = 1_000_000n

/** A world with a vault, a user who deposits, and a thief; both hold 10,000 of its token. */
export async function openAttributionWorld() {
  const world = await openWorld()
  const [user, thief] = [account(1), account(2)]
  for (const wallet of [user, thief]) await world.join(wallet.address)
  const token = await world.token({ pegUsd: '1' })
  const vault = await world.vault(token)
  for (const wallet of [user, thief]) await world.mint(token, wallet.address, 10_000n * usd)
  const plan = () =>
    world.earn.call('CreateDepositInteraction', {
      params: { opportunityId: vault.opportunityId },
      body: {
        userAddress: user.address,
        tokenIn: token,
        amount: String(100n * usd),
        distributorId: world.distributorId,
        referralCode: 'friend',
      },
    })
  return {
    world,
    token,
    vault,
    /** A deposit of 100, built and not sent. */
    plan,
    /** The same, sent. */
    depositOnce: async () => {
      const built = await plan()
      const receipts = await world.send(built, user)
      const last = receipts[receipts.length - 1]!
      const data: Hex = built.body.transactions.at(-1).transaction.data
      return { hash: last.transactionHash, actionId: built.body.actionId as string, data, built }
    },
    /** Sends any calldata, from the user unless told otherwise. */
    sendRaw: async (to: Address, data: Hex, as = user, gas = 500_000n) => {
      const { client, done } = world.anvil
      return (await done(client.sendTransaction({ account: as, to, data, gas }))).transactionHash
    },
  }
}
