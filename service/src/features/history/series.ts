import { notFound, unavailable } from '../../kernel/errors.js'
import type { Context } from '../../postgres/context.js'
import {
  decideGrowth,
  findSeriesHead,
  findWithholding,
  readDense,
  readSparse,
  retryAfterSeconds,
  type SeriesHead,
  type SeriesState,
  type Withholding,
} from '../../snapshots/index.js'
import { laterOf, readNow } from '../../sync/storeNow.js'
import { readMeanBlockSeconds } from '../../sync/storeRaw.js'
import type { GrowthSpan } from '../../vaults/configured/index.js'
import { findVaultKind } from '../../vaults/index.js'
import { type CatalogueContext, findVault } from '../catalogue/index.js'
import { isReading, type Trust } from './points.js'
import { type AskedRange, countBuckets, parseRange, type Range, type RangeInput } from './range.js'
import { parseReadings, type Reading } from './readings.js'

export type VaultInput = { chainId: number; vaultAddress: string }

type VaultRecord = NonNullable<ReturnType<typeof findVault>>

/** A vault whose history is asked for, and what may be served of it. */
export type Series = {
  vault: VaultRecord
  head: SeriesHead
  /** The growth source over the range. */
  growth: GrowthSpan | 'none' | 'ambiguous'
  /** Why rates and share prices are withheld; undefined when they are served. */
  withheld: Withholding | undefined
  retryAfterSeconds: number
}

/** The share price from the start: APR measures it for every vault. */
export const sharePriceGrowth: GrowthSpan = {
  source: 'share-price',
  fromMs: Number.NEGATIVE_INFINITY,
  toMs: Number.POSITIVE_INFINITY,
}

/** A row of this many is read faster whole than bucket by bucket. */
const rowsPerBucket = 4

/**
 * The range a caller asks for, by the time of the vault's chain, and what may be served of the vault over it; `series` is
 * undefined for a vault we do not know. @throws EarnError 400
 */
export async function findSeries(
  ctx: CatalogueContext,
  input: VaultInput & RangeInput & { includeInputs?: boolean },
): Promise<{ range: AskedRange; series: Series | undefined }> {
  const vault = findVault(ctx.catalogue.current(), input.chainId, input.vaultAddress)
  const head = vault && (await findSeriesHead(ctx.db, vault.chainId, vault.address))
  const now = head ? laterOf(ctx.clock.now(), head) : await readNow(ctx, input.chainId)
  const range = parseRange(input, now)
  return { range, series: vault && head ? await judgeSeries(ctx, vault, head, range) : undefined }
}

/** Decides which series of a vault may be served over a range. */
export async function judgeSeries(
  ctx: CatalogueContext,
  vault: VaultRecord,
  head: SeriesHead,
  range: Pick<AskedRange, 'startMs' | 'endMs' | 'now'>,
): Promise<Series> {
  const growth = decideGrowth(vault.growthSources, range)
  const confirmations = ctx.catalogue.current().chains.get(vault.chainId)?.confirmations ?? 1
  const nowMs = range.now.getTime()
  const state = await readState(ctx, { vault, head, growth, confirmations, nowMs })
  const withheld = findWithholding(state, nowMs)
  // A caller waits by the wall clock.
  return { vault, head, growth, withheld, retryAfterSeconds: retryAfterSeconds(state, ctx.clock.now().getTime()) }
}

async function readState(
  { db }: Pick<Context, 'db'>,
  input: Pick<Series, 'vault' | 'head' | 'growth'> & { confirmations: number; nowMs: number },
): Promise<SeriesState> {
  const { vault, head, growth, confirmations, nowMs } = input
  const { snapshotIntervalSeconds } = vault
  const newest = head.newestAt
    ? { atMs: head.newestAt.getTime(), totalSupply: BigInt(head.newestSupply ?? '0') }
    : undefined
  const state = {
    isReadable: findVaultKind(vault.kind)?.readFigures !== undefined,
    isMapped: growth !== 'none',
    isPaused: head.pauses.some(({ from, to }) => from.getTime() <= nowMs && (to === null || to.getTime() > nowMs)),
    newest,
    snapshotIntervalSeconds,
    dustFloor: BigInt(vault.dustFloor),
    confirmationSeconds: 0,
  }
  // How fast blocks come matters only to a series that would be late if they came at once.
  if (findWithholding({ ...state, isPaused: false }, nowMs)?.reason !== 'INDEXING_STALLED') return state
  return { ...state, confirmationSeconds: confirmations * (await readMeanBlockSeconds(db, vault.chainId)) }
}

/** Which snapshots of a vault are readings of a source. */
export function toTrust({ vault, head }: Pick<Series, 'vault' | 'head'>, source: GrowthSpan['source']): Trust {
  const seconds = (at: Date | null) => (at === null ? Number.POSITIVE_INFINITY : at.getTime() / 1000)
  return {
    dustFloor: BigInt(vault.dustFloor),
    pauses: head.pauses.map(({ from, to }) => ({ from: seconds(from), to: seconds(to) })),
    isPriced: source === 'nav',
  }
}

/**
 * Snapshots of a vault, oldest first, among them all that the points of a range rest on. Without `trust` no reading before
 * the range is looked for.
 */
export async function listSnapshots(
  { db }: Pick<Context, 'db'>,
  series: Series,
  range: Range,
  options: { trust: Trust | undefined; withHashes?: boolean },
): Promise<Reading[]> {
  const { trust, withHashes = false } = options
  const { vault, head } = series
  const ask = {
    vaultId: head.vaultId,
    from: Math.ceil(range.startMs / 1000),
    to: Math.floor(range.endMs / 1000),
    step: range.step,
    lookback: trust ? range.apyInterval : undefined,
    withHashes,
  }
  if (ask.from > ask.to) return []
  const rows = (ask.to - ask.from) / vault.snapshotIntervalSeconds
  if (rows > rowsPerBucket * countBuckets(range)) {
    const snapshots = parseReadings(await readSparse(db, ask))
    // If a snapshot is no reading, another one of its bucket may be: then all are read.
    if (!trust || snapshots.every((snapshot) => isReading(snapshot, trust))) return snapshots
  }
  const wanted = { dustFloor: vault.dustFloor, isPriced: trust?.isPriced === true }
  return parseReadings(await readDense(db, { ...ask, ...wanted }))
}

/** Refuses where share prices and what follows from them are withheld. */
export function assertServed(series: Pick<Series, 'withheld' | 'retryAfterSeconds'>): void {
  const { withheld } = series
  if (!withheld) return
  const { reason, text } = withheld
  if (reason === 'PROTOCOL_UNSUPPORTED') throw notFound(text, { reason })
  const context = withheld.needsOperator ? { retryable: false } : {}
  throw unavailable(text, { reason, retryAfterSeconds: series.retryAfterSeconds, context })
}
