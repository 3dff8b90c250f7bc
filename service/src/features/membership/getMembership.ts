import T, { type Static } from 'typebox'
import type { Context } from '../../postgres/context.js'
import { WalletAddress } from './schema.js'
import { isMember } from './store.js'
import { ecosystems, parseWallet } from './wallet.js'

export const GetMembershipQuery = T.Object({
  address: WalletAddress,
  walletEcosystem: T.Optional(T.Enum([...ecosystems], { default: 'evm' })),
})

export const GetMembershipResponse = T.Object({ isMember: T.Boolean() })

/** Tells whether a wallet belongs to a user. */
export async function getMembership(
  ctx: Context,
  input: Static<typeof GetMembershipQuery>,
): Promise<Static<typeof GetMembershipResponse>> {
  const { ecosystem, address } = parseWallet(input.walletEcosystem ?? 'evm', input.address, ctx.config)
  return { isMember: await isMember(ctx.db, ecosystem, address) }
}
