import T, { type Static } from 'typebox'
import type { ChainContext } from '../../chain/chains.js'
import { verifyEvmSignature } from '../../chain/signatures.js'
import { inTransaction } from '../../kernel/database.js'
import { invalidArgument } from '../../kernel/errors.js'
import type { Agreement } from './agreement.js'
import { Ecosystem, WalletAddress } from './schema.js'
import { assertNoMember, consumeNonce, createUser, findAgreement } from './store.js'
import { parseWallet } from './wallet.js'

export const CreateMembershipBody = T.Object({
  address: WalletAddress,
  walletEcosystem: Ecosystem,
  signature: T.String({ description: 'Signature of the agreement message' }),
  nonce: T.String({ description: 'The nonce that came with the message' }),
  distributorId: T.Optional(T.String({ description: 'Who the user signed up through' })),
})

export const CreateMembershipResponse = T.Object({ isMember: T.Boolean(), error: T.String() })

/** Makes a wallet a member, for a signature of the agreement kept under the nonce. A bad signature uses nothing up. */
export async function createMembership(
  ctx: ChainContext,
  input: Static<typeof CreateMembershipBody>,
): Promise<Static<typeof CreateMembershipResponse>> {
  const wallet = parseWallet(input.walletEcosystem, input.address)
  const now = ctx.clock.now()
  await assertNoMember(ctx.db, wallet)
  const agreement = await findAgreement(ctx.db, wallet, input.nonce, now)
  if (!agreement) throw unusableNonce()
  if (!(await verifyAgreement(ctx, agreement, input.signature)))
    throw invalidArgument('the signature is not one of this wallet over the agreement')
  await inTransaction(ctx.db, async (tx) => {
    if (!(await consumeNonce(tx, input.nonce, now))) throw unusableNonce()
    await createUser(tx, wallet, input.distributorId ?? null)
  })
  return { isMember: true, error: '' }
}

function verifyAgreement(ctx: ChainContext, agreement: Agreement, signature: string): Promise<boolean> {
  const { address, message, chainId } = agreement
  return verifyEvmSignature(ctx.chains.get(Number(chainId)), { address, message, signature })
}

function unusableNonce(): Error {
  return invalidArgument('the nonce is unknown, used, expired or of another wallet; ask for a new agreement')
}
