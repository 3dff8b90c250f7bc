import { unavailable } from '../kernel/errors.js'
import type { Context } from '../postgres/context.js'
import { type Chain, type ChainContext, readingChain } from '../rpc/chains.js'
import { signatureGas } from '../rpc/gasCaps.js'
import { createRooms, type Rooms } from '../rpc/room.js'
import { type DigestVerdict, type EvmVerdict, type Hashed, verifyEvmDigest, verifyEvmSignature } from './evm.js'
import { verifySolanaSignature } from './solana.js'
import { type TonRefusal, verifyTonSignature } from './ton.js'
import type { TonReader } from './tonReader.js'

/** The context for checking signatures: the EVM chains, and the TON chain if an endpoint is configured. */
export type SignatureContext = Context &
  ChainContext & {
    readonly ton: TonReader | undefined
    /** By organization. */
    readonly signatureGate: Rooms
  }

/**
 * A contract decides how long its check takes. For all callers of one organization, two contracts are called at a time and
 * sixteen wait for up to two seconds, so that a public key cannot keep others from their chain.
 */
export function createSignatureGate(): Rooms {
  return createRooms({ inFlight: 2, waiting: 16, waitMs: 2_000 })
}

/** A wallet's claim to have signed the message it was handed. The address is in the normal form of its ecosystem. */
export type SignatureClaim = {
  ecosystem: 'evm' | 'solana' | 'ton'
  address: string
  message: string
  nonce: string
  /** The host that showed the message. */
  domain: string
  /** Where a contract wallet lives; null outside EVM. */
  chainId: bigint | null
  /** As the client sent it. */
  signature: string
  /** Whose caller asks. */
  organizationId: string
}

/**
 * Why a claim does not hold, as a sentence for the caller; undefined when it does. Nothing in the signature text is
 * taken for the message. Throws 503 when the word of a contract is needed and its chain cannot be read, or too many are
 * asked for already.
 */
export async function findSignatureFault(ctx: SignatureContext, claim: SignatureClaim): Promise<string | undefined> {
  if (claim.ecosystem === 'ton') return findTonFault(ctx, claim)
  if (claim.ecosystem === 'solana') return verifySolanaSignature(claim) ? undefined : notSigned
  const chain = ctx.chains.get(Number(claim.chainId))
  return evmFaults[await verifyEvmSignature(chain, claim, (ask) => inTurn(ctx, claim, ask))]
}

const notSigned = 'the signature is not one of this wallet over the agreement'

const evmFaults: Readonly<Record<EvmVerdict, string | undefined>> = {
  signed: undefined,
  'not-signed': notSigned,
  'contract-failed':
    'the contract of this wallet did not confirm the signature: it reverted, or needs more than ' +
    `${signatureGas.toLocaleString('en')} gas to judge one, which is the most it gets`,
}

/** By what an EVM wallet signed a digest, or why it did not. Throws 503 as `findSignatureFault` does. */
export function judgeDigest(
  ctx: Pick<SignatureContext, 'signatureGate'>,
  chain: Chain,
  claim: Hashed & Pick<SignatureClaim, 'organizationId'>,
): Promise<DigestVerdict> {
  return verifyEvmDigest(chain, claim, (ask) => inTurn(ctx, claim, ask))
}

/** Asks the word of a contract when it is the organization's turn. */
function inTurn<T>(
  ctx: Pick<SignatureContext, 'signatureGate'>,
  { organizationId }: Pick<SignatureClaim, 'organizationId'>,
  ask: () => Promise<T>,
): Promise<T> {
  return ctx.signatureGate.run(organizationId, ask, () =>
    unavailable('too many signatures of contract wallets are being checked for this organization; try again shortly', {
      retryAfterSeconds: 2,
      context: { retryable: true },
    }),
  )
}

async function findTonFault(ctx: SignatureContext, claim: SignatureClaim): Promise<string | undefined> {
  const { ton } = ctx
  const refusal = await verifyTonSignature(claim.signature, {
    ...claim,
    message: Buffer.from(claim.message),
    now: ctx.clock.now(),
    proofEnabled: ctx.config.tonProofEnabled,
    readPublicKey: async () =>
      ton && inTurn(ctx, claim, () => readingChain({ name: 'TON' }, () => ton.readPublicKey(claim.address))),
  })
  return refusal && tonFaults[refusal]
}

const tonFaults: Readonly<Record<TonRefusal, string>> = {
  malformed: 'signature must be the JSON text (or its base64) of a TON Connect signData answer',
  kind: 'ton_proof is not accepted here, as it does not cover the agreement: sign it with signData',
  'domain-length': 'the signature names a domain of another length',
  domain: 'the signature is for another domain',
  expired: 'the signature is older than 15 minutes',
  future: 'the signature is dated in the future',
  payload: 'the signature is over something else than the agreement',
  'state-init-address': 'walletStateInit is of another wallet',
  'public-key': 'publicKey is of another wallet',
  'no-public-key': 'the key of the wallet cannot be told: send its walletStateInit',
  signature: 'the signature is not one of this wallet over the agreement',
}
