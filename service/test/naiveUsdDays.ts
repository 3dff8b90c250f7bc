import {
  type History,
  listAskedBlocks,
  priceShare,
  type ToldChain,
  type ToldSnapshot,
  type ToldVault,
  timeOf,
  unitsOf,
} from './usdDaysHistory.js'

/** USD-days second by second: each is looked up anew in all facts, and nothing but what is asked often is kept. */

type Held = { shares: bigint; numerator: bigint; exponent: number; priceUsd: string | null; isGuarded: boolean }

const findLeast = (all: readonly bigint[]): bigint => all.toSorted((a, b) => (a < b ? -1 : 1))[0] ?? 0n

/** A power of ten that every second is brought to: exponents of prices are at most this. */
const common = 40

/** Of a distributor, in units of 10^-18: in each bucket, and in all from `from` up to `to`, seconds since the start. */
export function countNaively(
  history: History,
  { distributorId, from, to, bounds }: { distributorId: string; from: number; to: number; bounds: readonly number[] },
) {
  let [total, unpriced, unguarded] = [0n, 0, 0]
  const points = bounds.slice(1).map(() => 0n)
  for (const vault of history.vaults) {
    const chain = history.chains.find(({ chainId }) => chainId === vault.chainId) as ToldChain
    const end = Math.min(to, timeOf(chain, chain.confirmed))
    const sums = points.map(() => 0n)
    let whole = 0n
    for (let at = from; at < end; at++) {
      const held = look(history, { vault, chain, distributorId, at })
      if (!held) continue
      if (held.priceUsd === null) unpriced += 1
      else {
        if (!held.isGuarded) unguarded += 1
        const dollars = held.shares * held.numerator * unitsOf(held.priceUsd) * 10n ** BigInt(common - held.exponent)
        const bucket = bounds.findLastIndex((bound) => bound <= at)
        sums[bucket] = (sums[bucket] ?? 0n) + dollars
        whole += dollars
      }
    }
    // Dollars have 18 digits as they are: they and those of the answer cancel.
    const divisor = 10n ** BigInt(common + vault.assetDecimals) * 86_400n
    sums.forEach((sum, index) => {
      points[index] = (points[index] ?? 0n) + sum / divisor
    })
    total += whole / divisor
  }
  return { total, points, unpriced, unguarded }
}

type Place = { vault: ToldVault; chain: ToldChain; at: number }

/** What counts in one second; undefined where nothing is held. */
function look(history: History, of: Place & { distributorId: string }): Held | undefined {
  const { vault, chain, at, distributorId } = of
  const wallets = [0, 1, 2]
  const lotAt = (wallet: number, time: number) =>
    vault.lots.findLast(
      (lot) => lot.wallet === wallet && lot.distributorId === distributorId && timeOf(chain, lot.block) <= time,
    )?.after ?? 0n
  const shares = wallets.reduce((sum, wallet) => sum + lotAt(wallet, at), 0n)
  if (shares === 0n) return undefined
  const snapshot = findSnapshot(of)
  if (!snapshot || isAnother(of)) return { shares, numerator: 0n, exponent: 0, priceUsd: null, isGuarded: true }
  const paid = pay(history, of, snapshot)
  const price = priceAsset(history, of, snapshot)
  const isGuarded = paid.isGuarded && price.isGuarded
  const { exponent } = snapshot
  if (isGuarded) return { shares, numerator: paid.numerator, exponent, ...price }
  const since = timeOf(chain, snapshot.block)
  const least = wallets.reduce((sum, wallet) => {
    const later = vault.lots.filter(
      (lot) =>
        lot.wallet === wallet &&
        lot.distributorId === distributorId &&
        timeOf(chain, lot.block) > since &&
        timeOf(chain, lot.block) <= at,
    )
    return sum + findLeast([lotAt(wallet, since), ...later.map(({ after }) => after)])
  }, 0n)
  return { shares: least, numerator: snapshot.numerator, exponent, priceUsd: price.priceUsd, isGuarded }
}

const findSnapshot = ({ vault, chain, at }: Place): ToldSnapshot | undefined =>
  vault.snapshots.findLast(({ block }) => timeOf(chain, block) <= at)

/** The vault is not known to be what is configured: between two readings that agree is one that does not. */
function isAnother({ vault, chain, at }: Place): boolean {
  const readings = vault.identities.map(({ block, agrees }) => ({ time: timeOf(chain, block), agrees }))
  return readings.some(({ time, agrees }) => {
    if (agrees) return false
    const before = readings.findLast((each) => each.agrees && each.time < time)?.time ?? Number.NEGATIVE_INFINITY
    const after = readings.find((each) => each.agrees && each.time > time)?.time ?? Number.POSITIVE_INFINITY
    return before <= at && at < after
  })
}

/** The paid price at an instant, by the deposits and readings since a snapshot. */
function pay({ rulesAt }: { rulesAt: number }, { vault, chain, at }: Place, g: ToldSnapshot) {
  if (at < rulesAt) return { numerator: g.numerator, isGuarded: true }
  const isSince = (block: number) => block > g.block && timeOf(chain, block) <= at
  const sold = vault.mints.flatMap(({ block, shares, assets }) =>
    isSince(block) && assets !== null && assets > 0n && shares > 1n
      ? [((assets + 1n) * 10n ** BigInt(g.exponent)) / (shares - 1n)]
      : [],
  )
  const asked = keep(askedBlocks, vault, () => listAskedBlocks(vault)).filter(isSince)
  const read = asked.flatMap((block) => {
    const reading = vault.readings.get(block)
    return reading ? [(reading.numerator * 10n ** BigInt(g.exponent)) / 10n ** BigInt(reading.exponent)] : []
  })
  const numerator = findLeast([g.numerator, ...sold, ...read])
  return { numerator, isGuarded: asked.every((block) => vault.readings.get(block)) }
}

/** The price of the asset: that of the snapshot, or lower with the paid price of the share it is. */
function priceAsset(history: History, { chain, at }: Place, { basedOn, priceUsd }: ToldSnapshot) {
  if (!basedOn || priceUsd === null || at < history.rulesAt) return { priceUsd, isGuarded: true }
  const inner = history.vaults.find(({ snapshots }) => snapshots.includes(basedOn)) as ToldVault
  const lows = keep(lowsSince, basedOn, () => listLows(inner, chain, basedOn))
  const { lowest, isGuarded } = lows[Math.floor(at / chain.seconds) - basedOn.block] ?? { lowest: 0n, isGuarded: true }
  return { priceUsd: lowest === basedOn.numerator ? priceUsd : priceShare(inner, basedOn, lowest), isGuarded }
}

type Low = { lowest: bigint; isGuarded: boolean }

/** The lowest paid price of a share since a snapshot of it, block by block. */
function listLows(inner: ToldVault, chain: ToldChain, since: ToldSnapshot): Low[] {
  let low: Low = { lowest: since.numerator, isGuarded: true }
  const lows = [low]
  for (let block = since.block + 1; block <= chain.head; block++) {
    const place = { vault: inner, chain, at: timeOf(chain, block) }
    const g = findSnapshot(place) ?? since
    const paid = pay({ rulesAt: Number.NEGATIVE_INFINITY }, place, g)
    const scaled = (paid.numerator * 10n ** BigInt(since.exponent)) / 10n ** BigInt(g.exponent)
    low = { lowest: scaled < low.lowest ? scaled : low.lowest, isGuarded: low.isGuarded && paid.isGuarded }
    lows.push(low)
  }
  return lows
}

const askedBlocks = new WeakMap<object, number[]>()
const lowsSince = new WeakMap<object, Low[]>()

function keep<T>(kept: WeakMap<object, T>, of: object, make: () => T): T {
  const found = kept.get(of) ?? make()
  kept.set(of, found)
  return found
}
