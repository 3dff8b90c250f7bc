import { streamFactoryAbi } from '@openearn/contracts'
import { type Address, bytesToHex } from 'viem'
import { type EarnError, invalidArgument, type Reason, unavailable } from '../../kernel/errors.js'
import { newId, uuidToBytes16 } from '../../kernel/ids.js'
import { type Caller, written } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { combine, multicall, readContract } from '../../rpc/multicall.js'
import { type Signer, SignerFailed } from '../../rpc/signer.js'
import { findDepth } from '../../sync/storeDepths.js'
import { ensureTokenVault } from '../../vaults/configured/index.js'
import { announceCatalogue, type CatalogueSnapshot, type TokenRecord } from '../catalogue/index.js'
import type { StreamContext } from './context.js'
import { listPoints, type PointRow } from './storePoints.js'
import { type NewStream, recordStream, type StreamRow } from './storeStreams.js'
import { toStream } from './stream.js'
import { computeFee, readAdmin, readTerms, type Terms, type TermsInput } from './terms.js'
import { listTokensById } from './tokens.js'
import { formatTxParams, hashSignable, type Signable, type TxParams } from './typedData.js'

type CreateStreamBody = {
  message: string
  stream: ReturnType<typeof toStream>
  txParams?: TxParams
  feeAmount: string
}

/** The payment of a stream that pays tokens. */
type Payment = {
  [member in 'chainId' | 'rewardToken' | 'factory' | 'contract' | 'admin' | 'signedUntil' | 'fromBlock']: NonNullable<
    NewStream[member]
  >
}
const noPayment = {
  ...{ chainId: null, rewardToken: null, factory: null, contract: null },
  ...{ admin: null, signedUntil: null, fromBlock: null },
}

/** Creates a stream of points, or signs the creation of one that pays a token, which its admin then sends. */
export async function createStream(
  ctx: StreamContext,
  input: TermsInput,
  { organizationId }: Caller,
): Promise<Written<CreateStreamBody>> {
  const snapshot = ctx.catalogue.current()
  const now = ctx.clock.now()
  const terms = readTerms(input, now)
  const target = getTarget(snapshot, terms.customArgs.targetTokenId)
  const id = newId()
  const point = terms.pointId === undefined ? undefined : await getPoint(ctx, terms.pointId, organizationId)
  const isPremium = snapshot.organizations.get(organizationId)?.premium === true
  const fee = point ? null : computeFee(terms.total ?? 0n, isPremium)
  const payment = point
    ? undefined
    : await openPayment(ctx, snapshot, { id, terms, admin: readAdmin(input.walletAddress) })
  const txParams = payment && (await signCreation(ctx, { id, terms, payment, fee: fee ?? 0n }))
  const made: NewStream = {
    ...{ id, organizationId, type: terms.type, targetChainId: target.chainId, targetToken: target.address },
    ...(payment ?? noPayment),
    ...{ pointId: point?.id ?? null, totalAmount: terms.total, feeAmount: fee },
    ...{ startsAt: terms.startsAt, endsAt: terms.endsAt, customArgs: terms.customArgs, adapters: terms.adapters },
    createdAt: now,
  }
  const points = new Map(point ? [[point.id, point]] : [])
  const body: CreateStreamBody = {
    message: txParams
      ? 'The admin sends txParams.data to txParams.to; it approves totalAmount and feeAmount of the reward token first.'
      : 'The stream is created.',
    stream: toStream(toRow(made), { snapshot, points }),
    ...(txParams ? { txParams } : {}),
    feeAmount: String(fee ?? 0n),
  }
  return written(body, async (tx) => {
    const vault = await ensureTokenVault(tx, target, now)
    if (vault.isNew) await announceCatalogue(tx)
    await recordStream(tx, made, vault.id)
  })
}

function getTarget(snapshot: CatalogueSnapshot, targetTokenId: string): TokenRecord {
  const target = listTokensById(snapshot).get(targetTokenId)
  if (!target) throw invalidArgument('customArgs.targetTokenId is not in GetStreamTokens')
  assertSupported(target, 'the target')
  if (snapshot.chains.get(target.chainId)?.watched !== true)
    throw invalidArgument(`chain ${target.chainId} of the target is not followed here`)
  return target
}

function assertSupported({ symbol, unsupportedReason }: TokenRecord, what: string): void {
  if (unsupportedReason === '') return
  throw refuse('TOKEN_UNSUPPORTED', `${what} ${symbol} is not supported: ${unsupportedReason}`)
}

async function getPoint(ctx: StreamContext, pointId: string, organizationId: string): Promise<PointRow> {
  const [point] = await listPoints(ctx.db, { ids: [pointId], organizationId })
  if (!point) throw invalidArgument('pointId is unknown, or of another organization')
  return point
}

/** Where and by which factory a stream pays. */
async function openPayment(
  ctx: StreamContext,
  snapshot: CatalogueSnapshot,
  { id, terms, admin }: { id: string; terms: Terms; admin: string },
): Promise<Payment> {
  const reward = listTokensById(snapshot).get((terms.rewardTokenId ?? '').toLowerCase())
  if (!reward) throw invalidArgument('rewardTokenId is not in GetStreamTokens')
  if (!reward.isAllowedRewardToken)
    throw refuse('TOKEN_NOT_ACCEPTED', `${reward.symbol} is not among the tokens a stream may pay`)
  assertSupported(reward, 'the reward')
  const { chainId, address: rewardToken } = reward
  const settings = snapshot.chains.get(chainId)
  const depth = await findDepth(ctx.db, chainId)
  if (!settings?.streamFactory || !settings.watched || !depth)
    throw invalidArgument(`streams cannot pay on chain ${chainId}: it has no factory of streams`)
  const chain = ctx.chains.get(chainId)
  if (!chain) throw unavailable(`this installation has no access to chain ${chainId}`)
  const factory = settings.streamFactory as Address
  const { answer } = await multicall(
    chain,
    combine({
      contract: readContract(factory, streamFactoryAbi, 'getStreamAddress', [uuidToBytes16(id)]),
      paused: readContract(factory, streamFactoryAbi, 'paused', []),
    }),
  )
  if (answer.contract === undefined) throw unavailable(`the factory of streams on chain ${chainId} does not answer`)
  if (answer.paused !== false) throw unavailable(`the factory of streams on chain ${chainId} is paused`)
  const seconds = Math.floor(ctx.clock.now().getTime() / 1_000) + ctx.config.streamSignatureSeconds
  return {
    ...{ chainId, rewardToken, factory, contract: answer.contract.toLowerCase(), admin },
    signedUntil: new Date(seconds * 1_000),
    // The block it comes in may take the place of one that is not confirmed.
    fromBlock: depth.confirmed + 1,
  }
}

async function signCreation(
  ctx: StreamContext,
  { id, terms, payment, fee }: { id: string; terms: Terms; payment: Payment; fee: bigint },
): Promise<TxParams> {
  const { chainId, rewardToken, factory, admin, signedUntil } = payment
  return signParams(ctx.streamsSigner, {
    ...{ chainId, factory, admin, deadline: signedUntil.getTime() / 1_000, call: 'createStream' },
    ...{ streamId: uuidToBytes16(id), rewardToken, netAmount: terms.total ?? 0n, feeAmount: fee },
  })
}

/** Signs the parameters that an admin sends. Throws 503 if the signer fails. */
export async function signParams(signer: Signer | undefined, signable: Signable): Promise<TxParams> {
  return formatTxParams(signable, await signSignable(signer, signable))
}

export async function signSignable(signer: Signer | undefined, signable: Signable): Promise<`0x${string}`> {
  if (!signer) throw unavailable('this installation cannot sign streams: no key is configured for them')
  try {
    return bytesToHex(await signer.sign(hashSignable(signable)))
  } catch (error) {
    if (!(error instanceof SignerFailed)) throw error
    throw unavailable('streams cannot be signed right now; try again shortly', { cause: error, retryAfterSeconds: 5 })
  }
}

function refuse(reason: Reason, message: string): EarnError {
  return invalidArgument(message, { reason })
}

/** The row of a stream before the chain has any event of it. */
function toRow({ fromBlock: _, ...made }: NewStream): StreamRow {
  return {
    ...made,
    ...{ targetVaultId: 0, addedAmount: 0n, addedFee: 0n, alarm: null, updatedAt: made.createdAt },
    ...{ claimPaused: false, hashCommitmentPaused: false, merkleTreeComputationPaused: false },
    ...{ snapshotComputationPaused: false, confirmedAt: made.pointId === null ? null : made.createdAt },
  }
}
