import { findCoverage, listAttributedVaults } from '../../src/features/audit/storeReport.js'
import { listShares } from '../../src/features/metrics/storeUsdDays.js'
import type { Database } from '../../src/postgres/pool.js'
import type { Counted } from './expected.js'
import { allVaults, codes } from './model.js'
import { recount } from './recount.js'

/**
 * What the distributor report reads of each vault of a chain, at its head and half way there, against a recount: what it
 * says lies in lots and outside them is all of the supply, and the lots of the distributors together are what lies in lots.
 */
export async function findWrongCoverage(db: Database, { outcome, expected }: Counted): Promise<string[]> {
  const found: string[] = []
  const { chainId, blocks, rules } = outcome
  const vaults = await db<{ id: number; address: string }[]>`
    select id, address from vaults where chain_id = ${chainId} and address = any(${allVaults}::text[])`
  // Of a second with several blocks the report tells the last one's.
  const second = blocks[Math.floor(blocks.length / 2)]?.timestamp ?? 0
  const middle = blocks.findLast(({ timestamp }) => timestamp <= second)
  const head = blocks.at(-1)
  if (!middle || !head) return found
  const earlier = recount(
    blocks.filter(({ number }) => number <= middle.number),
    rules,
  )
  for (const [block, { balances, lots }] of [[middle, earlier] as const, [head, expected] as const])
    for (const { id: vaultId, address } of vaults) {
      const check = (what: string, told: bigint, wanted: bigint) => {
        if (told !== wanted) found.push(`report of ${address} at ${block.number}: ${told} ${what} instead of ${wanted}`)
      }
      const held = await findCoverage(db, vaultId, { block: block.number })
      const attributed = BigInt(held.attributed)
      const supply = sumOf(balances, (place) => place[0] === address)
      check('in lots and outside them', attributed + BigInt(held.unattributed), supply)
      let sum = 0n
      for (const distributorId of codes) {
        const until = new Date((block.timestamp + 1) * 1000)
        const [totals = []] = await listShares(db, [{ vaultId, distributorId, from: new Date(0), to: until }])
        const own = BigInt(totals.at(-1)?.shares ?? 0)
        const wanted = sumOf(lots, (place) => place[0] === address && place[2] === distributorId)
        check(`of ${distributorId}`, own, wanted)
        sum += own
        if (own === 0n || block !== head) continue
        const listed = await listAttributedVaults(db, distributorId)
        if (!listed.some((each) => each.vaultId === vaultId))
          found.push(`${address} is not in ${distributorId}'s report`)
      }
      check('of all distributors', sum, attributed)
    }
  return found
}

function sumOf(amounts: ReadonlyMap<string, bigint>, isOf: (place: string[]) => boolean): bigint {
  let sum = 0n
  for (const [key, amount] of amounts) if (isOf(key.split(' '))) sum += amount
  return sum
}
