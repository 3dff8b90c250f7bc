import type { Context } from '../kernel/context.js'
import { type ChainContext, readingChain } from './chains.js'
import { verifyEvmSignature } from './evmSignature.js'
import { verifySolanaSignature } from './solana.js'
import { type TonRefusal, verifyTonSignature } from './ton.js'
import type { TonReader } from './tonReader.js'

/** What checking signatures needs: the EVM chains, and the TON chain when an endpoint is configured. */
export type SignatureContext = Context & ChainContext & { readonly ton: TonReader | undefined }

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
}

/**
 * Why a claim does not hold, as a sentence for the caller; undefined when it does. Nothing in the signature text is
 * taken for the message. Throws 503 when the word of a contract is needed and its chain cannot be read.
 */
export async function findSignatureFault(ctx: SignatureContext, claim: SignatureClaim): Promise<string | undefined> {
  if (claim.ecosystem === 'ton') return findTonFault(ctx, claim)
  const signed =
    claim.ecosystem === 'evm'
      ? await verifyEvmSignature(ctx.chains.get(Number(claim.chainId)), claim)
      : verifySolanaSignature(claim)
  return signed ? undefined : 'the signature is not one of this wallet over the agreement'
}

async function findTonFault(ctx: SignatureContext, claim: SignatureClaim): Promise<string | undefined> {
  const { ton } = ctx
  const refusal = await verifyTonSignature(claim.signature, {
    ...claim,
    message: Buffer.from(claim.message),
    now: ctx.clock.now(),
    proofEnabled: ctx.config.tonProofEnabled,
    readPublicKey: async () => ton && readingChain({ name: 'TON' }, () => ton.readPublicKey(claim.address)),
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
