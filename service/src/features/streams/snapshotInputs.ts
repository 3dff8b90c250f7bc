import { fromUnixSeconds, toUnixSeconds } from '../../kernel/clock.js'
import type { Database, Queryable } from '../../postgres/pool.js'
import { listPriceSteps } from '../../prices/index.js'
import type { StreamTarget } from '../../snapshots/index.js'
import { findRulesStart } from '../../sync/storeRules.js'
import { listNonHolders } from '../../vaults/configured/index.js'
import { type CatalogueContext, findToken } from '../catalogue/index.js'
import {
  holdUsdFrom,
  listPaidUsd,
  openShareLookup,
  type PaidValue,
  type PaidValues,
  paidPriceVersion,
  readPaidValues,
} from '../paid/index.js'
import { hasHolders, listLotSteps, listShareSteps, readConfiguration } from '../positions/index.js'
import { createWeigher } from './adapters.js'
import { toSharePrice, toUnitPrice } from './amounts.js'
import { findHoldingsStart } from './guard.js'
import type { FileOrigin, RewardInputs } from './rewards/rewardFile.js'
import { listBudgetChanges } from './storeEvents.js'
import { listPoints } from './storePoints.js'
import { findBlockBefore, findStates, type TakenSnapshot } from './storeSnapshots.js'
import type { StreamRow } from './storeStreams.js'
import { readAdapter, readStrategy } from './terms.js'
import type { AccrualFacts, Fraction, PriceStep, SharePriceStep, StreamTerms } from './types.js'

/** The terms of a stream, with the confirmed increases of its budget. */
export async function findTerms(db: Queryable, stream: StreamRow, rewardDecimals: number): Promise<StreamTerms> {
  let total = stream.totalAmount ?? 0n
  const increases = (await listBudgetChanges(db, stream.id)).map(({ at, amount }) => {
    total += amount
    return { at: toUnixSeconds(at), total }
  })
  return {
    streamId: stream.id,
    strategy: readStrategy(stream.type, stream.customArgs),
    adapters: stream.adapters.map(readAdapter),
    startAt: toUnixSeconds(stream.startsAt),
    endAt: stream.endsAt === null ? null : toUnixSeconds(stream.endsAt),
    budget: stream.totalAmount,
    increases,
    rewardDecimals,
  }
}

/** The decimals of the token or the points that a stream pays. */
export async function findRewardDecimals(ctx: CatalogueContext, stream: StreamRow): Promise<number> {
  const { chainId, rewardToken, pointId } = stream
  const decimals =
    chainId === null || rewardToken === null
      ? (await listPoints(ctx.db, { ids: pointId === null ? [] : [pointId] }))[0]?.decimals
      : findToken(ctx.catalogue.current(), chainId, rewardToken)?.decimals
  if (decimals === undefined) throw new Error(`the decimals of the reward of stream ${stream.id} are not known`)
  return decimals
}

/** A token that is no vault's share: one of it is worth one of it, so no share price is read or waited for. */
export function isPlainToken({ kind }: Pick<StreamTarget, 'kind'>): boolean {
  return kind === 'erc20'
}

type TokenSpan = { chainId: number; address: string; from: number; to: number }
type Told<Step> = { steps: Step[]; observations: (number | null)[]; awaited: readonly number[] }
/** With what a share is worth by the newest snapshot, whatever holders are paid by. */
type ToldShares = Told<SharePriceStep> & { shown: Fraction | undefined }

/** The worth of a share by which holders are paid, step by step; for a plain token, that of one token. */
async function listTargetValues(
  db: Database,
  { vaultId, target, from, to }: { vaultId: number; target: StreamTarget; from: number; to: number },
): Promise<ToldShares> {
  const { chainId, token: address, assetDecimals } = target
  if (isPlainToken(target)) {
    const plain = await listTokenValues(db, { chainId, address, from, to })
    const toUsd = (priceUsd: string) => toSharePrice({ numerator: 1n, exponent: 0, priceUsd }, assetDecimals)
    const steps = plain.steps.map(({ at, priceUsd }) => ({ at, usd: toUsd(priceUsd) }))
    return { ...plain, steps, shown: plain.chosen === undefined ? undefined : toUsd(plain.chosen) }
  }
  const range = { from: fromUnixSeconds(from), to: fromUnixSeconds(to) }
  const { values, snapshots, awaited } = await readPaidValues(db, { vaultId, ...range, carries: true })
  return {
    steps: values.flatMap((value) => toPriceStep(value, assetDecimals)),
    observations: values.map(({ observationId }) => observationId),
    awaited,
    shown: findShown(snapshots, assetDecimals),
  }
}

/** A snapshot with too few shares is no reading, and one without a price of the asset keeps the price before it. */
function findShown(snapshots: PaidValues['snapshots'], assetDecimals: number): Fraction | undefined {
  const read = snapshots.filter(({ isDust }) => !isDust)
  const priceUsd = read.findLast((row) => row.priceUsd !== null)?.priceUsd
  const { numerator, exponent } = read.at(-1) ?? {}
  if (priceUsd === undefined || priceUsd === null || numerator === undefined || exponent === undefined) return undefined
  return toSharePrice({ numerator: BigInt(numerator), exponent, priceUsd }, assetDecimals)
}

function toPriceStep({ atMs, sinceMs, origin, ...value }: PaidValue, assetDecimals: number): SharePriceStep[] {
  const { numerator, full, exponent, isGuarded, priceUsd } = value
  if (priceUsd === null) return []
  const price = { numerator: isGuarded ? numerator : full, exponent, priceUsd }
  const leastSince = isGuarded ? {} : { leastSince: sinceMs / 1_000 }
  return [{ at: atMs / 1_000, usd: toSharePrice(price, assetDecimals), ...leastSince, by: origin }]
}

/** The price of a token by which something is paid, step by step. */
async function listTokenValues(
  db: Database,
  { chainId, address, from, to }: TokenSpan,
): Promise<Told<{ at: number; priceUsd: string }> & { chosen: string | undefined }> {
  const chosen = await listPriceSteps(db, { chainId, address }, { from, to })
  const spans = chosen.map(({ at, priceUsd, observationId }, index) => ({
    ...{ fromMs: at * 1_000, toMs: (chosen[index + 1]?.at ?? to) * 1_000, priceUsd, observationId },
  }))
  const rulesMs = (await findRulesStart(db, paidPriceVersion)).getTime()
  const found = await listPaidUsd(openShareLookup(db), spans)
  const steps = spans.flatMap((span, index) => holdUsdFrom(found[index] ?? [], span, rulesMs))
  return {
    steps: steps.flatMap(({ atMs, priceUsd }) => (priceUsd === null ? [] : [{ at: atMs / 1_000, priceUsd }])),
    observations: chosen.map(({ observationId }) => observationId),
    awaited: [],
    chosen: chosen.at(-1)?.priceUsd,
  }
}

/** The price of the reward; points have none. */
async function listRewardPrices(
  db: Database,
  { stream, terms, at, to }: { stream: StreamRow; terms: StreamTerms; at: number; to: number },
): Promise<Told<PriceStep>> {
  const { chainId, rewardToken: address } = stream
  if (chainId === null || address === null) return { steps: [], observations: [], awaited: [] }
  const from = terms.strategy.type === 2 ? at : to
  const told = await listTokenValues(db, { chainId, address, from, to })
  const toStep = (step: { at: number; priceUsd: string }) => ({
    at: step.at,
    usd: toUnitPrice(step.priceUsd, terms.rewardDecimals),
  })
  return { ...told, steps: told.steps.map(toStep) }
}

/**
 * Everything a snapshot of an instant rests on, read once. `awaited`: blocks at which the share price is still to be read.
 * `shown`: USD of a smallest unit of a share by the newest snapshot, at which TVL and APR are shown.
 */
export async function readInputs(
  db: Database,
  ask: {
    stream: StreamRow
    terms: StreamTerms
    target: StreamTarget
    previous: TakenSnapshot | undefined
    /** The last block of the target's chain at or before the instant. */
    block: { number: number; hash: string }
    to: number
  },
): Promise<RewardInputs & { awaited: readonly number[]; shown: Fraction | undefined }> {
  const { stream, terms, target, previous, block, to } = ask
  const { chainId, asset, assetDecimals, address, token } = target
  const at = previous?.at ?? terms.startAt
  const isValued = terms.strategy.type !== 3
  const values = await listTargetValues(db, { vaultId: stream.targetVaultId, target, from: isValued ? at : to, to })
  const rewards = await listRewardPrices(db, { stream, terms, at, to })
  const heldAt = isValued ? findHoldingsStart(values.steps, at) : at
  const begin = heldAt === previous?.at ? previous.blockNumber : await findBlockBefore(db, chainId, heldAt)
  const span = { chainId, vaultId: stream.targetVaultId, from: begin, to: block.number, at: heldAt }
  const excluded = listNonHolders(target.own)
  const isLp = ({ wallet }: { wallet: string }) => !excluded.has(wallet)
  const distributors = [...createWeigher(terms.adapters).distributors]
  const facts: AccrualFacts = {
    balances: (await listShareSteps(db, span)).filter(isLp),
    lots: (await listLotSteps(db, span, distributors)).filter(isLp),
    sharePrices: values.steps,
    rewardPrices: rewards.steps,
  }
  const origin: FileOrigin = {
    target: { chainId, address, token, asset, assetDecimals, own: target.own },
    reward: toReward(stream),
    block,
    previous: previous?.fileHash ?? null,
    observations: [...values.observations, ...rewards.observations].flatMap((id) => id ?? []),
  }
  const from = previous && (await findStates(db, previous))
  const inputs = { terms, facts, to, from, origin, awaited: isValued ? values.awaited : [], shown: values.shown }
  const configuration = await readConfiguration(db, { chainId, vault: address, at: to })
  // Who counts follows from Transfers alone, but for lots, and where holders are looked through.
  if (distributors.length === 0 && !hasHolders(configuration, address)) return inputs
  return { ...inputs, configuration }
}

function toReward({ chainId, rewardToken, factory, contract, pointId }: StreamRow): FileOrigin['reward'] {
  if (chainId === null || rewardToken === null || factory === null || contract === null)
    return { pointId: pointId ?? '' }
  return { chainId, address: rewardToken, factory, contract }
}
