import { sumUsdDays, withholdPrices } from '../../derive/usdDays.js'
import type { Context } from '../../postgres/context.js'
import { listWithheldTimes } from '../../snapshots/index.js'
import { readPaidValues, toLevels } from '../paid/index.js'
import {
  type DepositedShares,
  findSecondPrice,
  listCoveredVaults,
  listDeposited,
  type SecondPrice,
  sumUnseen,
} from './storeCoverage.js'

/** Shares that deposits minted: credited, and the rest by the rule that left it out. In smallest units. */
export type Deposited = { attributed: string; unattributed: Record<string, string>; untraced: number }

/** How much of a vault is known in a range. */
export type CoverageRow = {
  chainId: number
  vaultAddress: string
  name: string
  deposited: Deposited
  /** Time in which the newest snapshot was older than two intervals of its grid. */
  unseenMs: number
  /** Time without a price of the share or its asset, and time in which a price that had to be read was not. */
  unpricedMs: number
  unguardedMs: number
  /** The most by which another source of the price of the asset differed at a snapshot; null: there is none. */
  secondPrice: SecondPrice | null
}

type Range = { from: Date; to: Date }

/** How much of each vault with deposits or snapshots is known in a range, up to its end. */
export async function reportCoverage({ db }: Pick<Context, 'db'>, range: Range): Promise<CoverageRow[]> {
  const vaults = await listCoveredVaults(db)
  const deposited = await listDeposited(db, { vaultIds: vaults.map(({ vaultId }) => vaultId), ...range })
  const rows: CoverageRow[] = []
  for (const { vaultId, chainId, vaultAddress, name } of vaults) {
    const own = deposited.get(vaultId) ?? []
    const [unseenMs, missing, secondPrice] = await Promise.all([
      sumUnseen(db, { vaultId, ...range }),
      sumMissing(db, { vaultId, chainId, ...range }),
      findSecondPrice(db, { vaultId, ...range }),
    ])
    rows.push({ chainId, vaultAddress, name, deposited: toDeposited(own), unseenMs, ...missing, secondPrice })
  }
  return rows
}

/** Time of a range in which a share of a vault has no price, or one that is not guarded. */
async function sumMissing(
  db: Context['db'],
  { vaultId, chainId, from, to }: Range & { vaultId: number; chainId: number },
): Promise<{ unpricedMs: number; unguardedMs: number }> {
  const { values } = await readPaidValues(db, { vaultId, from, to, carries: false })
  const withheld = (await listWithheldTimes(db, chainId, [vaultId])).get(vaultId) ?? []
  const one = [{ atMs: from.getTime(), value: 1n }]
  const [sum] = sumUsdDays({
    shares: one,
    least: one,
    prices: withholdPrices(toLevels(values), withheld),
    bounds: [from.getTime(), to.getTime()],
  })
  return { unpricedMs: sum?.unpricedMs ?? 0, unguardedMs: sum?.unguardedMs ?? 0 }
}

/** Deposited shares of a vault by what became of them. Pure. */
export function toDeposited(rows: readonly DepositedShares[]): Deposited {
  const attributed = rows.reduce((sum, row) => sum + BigInt(row.attributed), 0n)
  const left = rows.flatMap(({ reason, unattributed }) => (BigInt(unattributed) > 0n ? [[reason, unattributed]] : []))
  const untraced = rows.reduce((sum, row) => sum + row.untraced, 0)
  return { attributed: String(attributed), unattributed: Object.fromEntries(left), untraced }
}
