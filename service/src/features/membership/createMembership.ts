import T, { type Static } from 'typebox'
import { invalidArgument } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import { type Caller, written } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { findSignatureFault, type SignatureContext } from '../../wallets/signatures.js'
import { findDistributorRow } from '../catalogue/index.js'
import { Ecosystem, WalletAddress } from './schema.js'
import { assertNoMember, consumeNonce, createUser, findAgreement } from './store.js'
import { parseWallet } from './wallet.js'

export const CreateMembershipBody = T.Object({
  address: WalletAddress,
  walletEcosystem: Ecosystem,
  signature: T.String({
    description:
      'Signature of the message: hex for evm, of any length for a contract wallet (`0x` too); base58, base64 or hex for solana; for ton the JSON text (or its base64) ' +
      'of what TON Connect answered, with `type` signData',
  }),
  nonce: T.String({ description: 'The nonce that came with the message' }),
  distributorId: T.Optional(T.String({ description: 'Who the user signed up through' })),
})

export const CreateMembershipResponse = T.Object({ isMember: T.Boolean(), error: T.String() })

/** Makes a wallet a member, for a signature of the agreement kept under the nonce. A bad signature uses nothing up. */
export async function createMembership(
  ctx: SignatureContext,
  input: Static<typeof CreateMembershipBody>,
  { keyId, organizationId }: Caller,
): Promise<Written<Static<typeof CreateMembershipResponse>>> {
  const { nonce, signature, distributorId: signupDistributorId = null } = input
  const wallet = parseWallet(input.walletEcosystem, input.address, ctx.config)
  await assertNoMember(ctx.db, wallet)
  if (signupDistributorId !== null) await assertOwnDistributor(ctx, signupDistributorId, organizationId)
  const agreement = await findAgreement(ctx.db, wallet, nonce, organizationId, ctx.clock.now())
  if (!agreement) throw unusableNonce()
  const fault = await findSignatureFault(ctx, { ...agreement, signature, organizationId })
  if (fault) throw invalidArgument(fault)
  const at = ctx.clock.now()
  const joining = { userId: newId(), eventId: newId(), at, keyId, message: agreement.message, signature }
  return written({ isMember: true, error: '' }, async (tx) => {
    if (!(await consumeNonce(tx, nonce, at))) throw unusableNonce()
    await createUser(tx, wallet, { ...joining, signupDistributorId })
  })
}

async function assertOwnDistributor({ db }: SignatureContext, id: string, organizationId: string): Promise<void> {
  const distributor = await findDistributorRow(db, id)
  if (distributor?.organizationId !== organizationId)
    throw invalidArgument('distributorId is unknown or belongs to another organization')
}

function unusableNonce(): Error {
  return invalidArgument('the nonce is unknown, used, expired or of another wallet; ask for a new agreement')
}
