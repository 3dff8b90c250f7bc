import { listStaged, type StagedVault } from '../features/paid/index.js'
import type { Context } from '../postgres/context.js'
import { listSuspects, listUnpricedAssets } from '../prices/index.js'
import { listChainSettings } from '../rpc/storeChains.js'
import { listHistoryProgress } from '../snapshots/index.js'
import { listAssets, listVaults } from '../vaults/configured/index.js'

/** One thing looked at. `advice` says what to do when it is not well. */
export type CheckResult = { what: string; well: boolean; detail: string; advice: string }

const shownMax = 10
/** Days of snapshots that are looked at for staged prices. */
const stagedDays = 7
const dayMs = 86_400_000

/** Advice for a token without a price. */
export const priceAdvice = 'give the token pegUsd, priceFeed, priceVault or priceId in the catalogue file'

/** Looks at the prices of what vaults hold, and at how far their past is read. */
export async function examinePrices({
  db,
  clock,
  config,
}: Pick<Context, 'db' | 'clock' | 'config'>): Promise<CheckResult[]> {
  const watched = new Set((await listChainSettings(db, { watchedOnly: true })).map(({ chainId }) => chainId))
  const assets = (await listAssets(db)).filter(({ chainId }) => watched.has(chainId))
  const unpriced = await listUnpricedAssets(db, assets, clock.now())
  const suspects = await listSuspects(db)
  const now = clock.now()
  const weekAgo = new Date(now.getTime() - stagedDays * dayMs)
  const [never, stale] = [
    unpriced.filter(({ since }) => since === null),
    unpriced.filter(({ since }) => since !== null),
  ]
  return [
    {
      what: 'prices of assets',
      well: unpriced.length === 0,
      detail: unpriced.length === 0 ? 'every asset of a vault has one' : list(unpriced, nameToken),
      advice: [
        ...(never.length > 0 ? [`${priceAdvice}; until then its vaults show no USD`] : []),
        ...(stale.length > 0 ? ['the last price is too old: look at the feed or the provider'] : []),
      ].join('; '),
    },
    {
      what: 'prices that jumped',
      well: suspects.length === 0,
      detail:
        suspects.length === 0
          ? 'none waits for another to agree'
          : list(
              suspects,
              ({ chainId, address, priceUsd, source }) => `${chainId}:${address} ${priceUsd} by ${source}`,
            ),
      advice:
        'another price within 5 % lets it count, or `openearn prices accept`; see whether the provider means the same token',
    },
    {
      // A loss of the vault looks alike, and neither asks anything of the operator.
      ...{ what: 'share prices that were staged', well: true, advice: '' },
      detail: describeStaged(await listStaged(db, { from: weekAgo, to: now, stagedBps: config.stagedBps })),
    },
    {
      ...{ what: 'floors of LPs', well: true, advice: '' },
      detail: describeFloors((await listVaults(db)).filter(({ chainId }) => watched.has(chainId))),
    },
    ...(await listHistoryProgress(db)).map((chain) => ({
      what: `history of vaults of chain ${chain.chainId}`,
      well: chain.reason === null,
      detail: describeHistory(chain),
      advice: 'an archive node answers for old blocks: add one with --rpc; it is tried again each hour',
    })),
  ]
}

function list<T>(items: readonly T[], name: (item: T) => string): string {
  const rest = items.length > shownMax ? ` and ${items.length - shownMax} more` : ''
  return `${items.slice(0, shownMax).map(name).join(', ')}${rest}`
}

/** Vaults that sold shares below the price of a snapshot before, in words. */
export function describeStaged(vaults: readonly StagedVault[]): string {
  if (vaults.length === 0) return `in ${stagedDays} days no vault sold shares below the price of its snapshot`
  const name = ({ chainId, vaultAddress, staged }: StagedVault) => `${chainId}:${vaultAddress} ${staged} times`
  return `in ${stagedDays} days vaults sold shares below the price of a snapshot, after a loss or because it was staged; holders are paid by the lower price: ${list(vaults, name)}`
}

/** Vaults in which the smallest unit makes an LP, in words. */
export function describeFloors(
  vaults: readonly { chainId: number; address: string; kind: string; lpFloor: readonly unknown[] }[],
): string {
  const without = vaults.filter(({ kind, lpFloor }) => kind !== 'erc20' && lpFloor.length === 0)
  if (without.length === 0) return 'every vault has one'
  const name = ({ chainId, address }: { chainId: number; address: string }) => `${chainId}:${address}`
  return `the smallest unit makes an LP, and dust costs only gas: give "lpFloor" in the catalogue file to ${list(without, name)}`
}

type UnpricedToken = Awaited<ReturnType<typeof listUnpricedAssets>>[number]

function nameToken({ chainId, address, symbol, since }: UnpricedToken): string {
  return `${chainId}:${address} ${symbol} ${since === null ? 'never had one' : `not since ${since.toISOString()}`}`
}

/** How far the past is read, in words. */
export function describeHistory(
  chain: Pick<
    Awaited<ReturnType<typeof listHistoryProgress>>[number],
    'percent' | 'unread' | 'instantsAMinute' | 'secondsLeft' | 'vaults' | 'reason'
  >,
): string {
  const left = chain.secondsLeft === null ? '' : `, ${Math.ceil(chain.secondsLeft / 60)} minutes left`
  const rate = chain.instantsAMinute > 0 ? `, ${Math.round(chain.instantsAMinute)} a minute` : ''
  const why = chain.reason === null ? '' : `: ${chain.reason}`
  return `${chain.percent.toFixed(1)} % read, ${Math.round(chain.unread)} snapshots of ${chain.vaults} vaults to read${rate}${left}${why}`
}
