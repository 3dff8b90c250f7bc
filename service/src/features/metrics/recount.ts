import type { MetricsVault } from './changes.js'
import type { Floors } from './floors.js'

/** The shares of a wallet in a vault and a scope, from an instant on. */
export type Holding = { vaultId: number; wallet: string; at: number; after: bigint }

/** Who counts in a vault. */
export type CountedVault = Floors & Pick<MetricsVault, 'isExcluded'>

export type RecountedVault = { shares: bigint; active: number; participated: number; changes: number }

/** The sums of holdings just before an instant: per vault, and the wallets of all vaults, each once. */
export type Recount = { vaults: Map<number, RecountedVault>; active: Set<string>; participated: Set<string> }

/** The floor in force at an instant. */
function floorAt({ levels, eras }: Floors, at: number): bigint {
  const era = eras.findLast(({ from }) => from <= at) ?? eras[0]
  return (era && levels[era.level]) ?? 1n
}

/** Whether shares made an LP at some instant from `from` on, before `until`; an instant within one block counts too. Pure. */
function wasLp(vault: CountedVault, shares: bigint, from: number, until: number): boolean {
  if (shares === 0n) return false
  const instants = vault.eras.map((era) => era.from).filter((at) => at > from && at < until)
  return [from, ...instants].some((at) => shares >= floorAt(vault, at))
}

/**
 * Counts holdings from their changes alone, which come wallet by wallet in the order of time. A wallet in several vaults
 * counts once in the whole.
 */
export async function recountHoldings(
  changes: AsyncIterable<readonly Holding[]>,
  vaults: ReadonlyMap<number, CountedVault>,
  end: number,
): Promise<Recount> {
  const found: Recount = { vaults: new Map(), active: new Set(), participated: new Set() }
  let own: Holding[] = []
  const close = () => {
    const last = own.at(-1)
    const vault = last && vaults.get(last.vaultId)
    if (last && vault) addWallet(found, vault, own, end)
    own = []
  }
  for await (const chunk of changes)
    for (const change of chunk) {
      const first = own[0]
      if (first && (first.vaultId !== change.vaultId || first.wallet !== change.wallet)) close()
      own.push(change)
    }
  close()
  return found
}

function addWallet(found: Recount, vault: CountedVault, own: readonly Holding[], end: number): void {
  const last = own.at(-1)
  if (!last) return
  const { vaultId, wallet, after } = last
  const sum = found.vaults.get(vaultId) ?? { shares: 0n, active: 0, participated: 0, changes: 0 }
  found.vaults.set(vaultId, sum)
  sum.shares += after
  sum.changes += own.length
  if (vault.isExcluded(wallet)) return
  if (own.some(({ after: held, at }, index) => wasLp(vault, held, at, Math.min(own[index + 1]?.at ?? end, end)))) {
    sum.participated += 1
    found.participated.add(wallet)
  }
  if (after > 0n && after >= floorAt(vault, end - 1)) {
    sum.active += 1
    found.active.add(wallet)
  }
}

/** US dollars of shares in units of 10^-18, cut: shares × price numerator × price, over a power of ten. Pure. */
export function valueShares(
  shares: bigint,
  {
    priceNumerator,
    priceExponent,
    priceUsd,
  }: { priceNumerator: string; priceExponent: number; priceUsd: string | null },
  assetDecimals: number,
): bigint {
  if (priceUsd === null) return 0n
  const [whole = '', fraction = ''] = priceUsd.split('.')
  const product = shares * BigInt(priceNumerator) * BigInt(whole + fraction) * 10n ** 18n
  return product / 10n ** BigInt(priceExponent + assetDecimals + fraction.length)
}
