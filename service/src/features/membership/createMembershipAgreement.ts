import { randomBytes } from 'node:crypto'
import T, { type Static } from 'typebox'
import { invalidArgument } from '../../kernel/errors.js'
import { type Caller, written } from '../../kernel/operation.js'
import type { Context, Written } from '../../postgres/context.js'
import { agreementLifetimeSeconds, formatMessage, parseApplication } from './agreement.js'
import { Ecosystem, WalletAddress } from './schema.js'
import { assertNoMember, recordAgreement } from './store.js'
import { parseWallet } from './wallet.js'

export const CreateMembershipAgreementBody = T.Object({
  address: WalletAddress,
  walletEcosystem: Ecosystem,
  url: T.String({ description: 'Where the wallet is asked to sign; http or https. Its host is shown to the signer.' }),
  chainId: T.Optional(
    T.Union([T.String(), T.Integer()], { default: '1', description: 'Where a contract wallet lives; evm only' }),
  ),
})

export const CreateMembershipAgreementResponse = T.Object({
  message: T.String({ description: 'The text to sign, byte for byte' }),
  nonce: T.String({ description: 'Goes back with the signature; works once, for ten minutes' }),
})

/** Hands out the text a wallet signs to become a member, and keeps it under a nonce that works once. */
export async function createMembershipAgreement(
  ctx: Context,
  input: Static<typeof CreateMembershipAgreementBody>,
  { organizationId }: Caller,
): Promise<Written<Static<typeof CreateMembershipAgreementResponse>>> {
  const wallet = parseWallet(input.walletEcosystem, input.address, ctx.config)
  const application = parseApplication(input.url)
  if (!application) throw invalidArgument('url must be http or https with a host')
  const { domain, uri } = application
  const chainId = wallet.ecosystem === 'evm' ? parseChainId(input.chainId ?? '1') : null
  await assertNoMember(ctx.db, wallet)
  const nonce = randomBytes(16).toString('hex')
  const createdAt = ctx.clock.now()
  const expiresAt = new Date(createdAt.getTime() + agreementLifetimeSeconds * 1000)
  const terms = { ...wallet, nonce, domain, chainId, createdAt, expiresAt }
  const message = formatMessage(terms, uri)
  return written({ message, nonce }, (tx) => recordAgreement(tx, { ...terms, message }, organizationId))
}

function parseChainId(value: string | number): bigint {
  // A number beyond the safe integers is not the one that was sent.
  const exact = typeof value === 'string' || Number.isSafeInteger(value)
  if (exact && /^[0-9]{1,78}$/.test(String(value)) && BigInt(value) >= 1n) return BigInt(value)
  throw invalidArgument('chainId must be a whole number of at least 1')
}
