import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../test/harness.js'
import { type ExportedTexts, readHistory } from '../../test/naiveExports.js'
import { countNaively } from '../../test/naiveUsdDays.js'
import { seededRandom, times } from '../../test/seed.js'
import { drawHistory, start, timeOf } from '../../test/usdDaysHistory.js'
import { openUsdDaysWorld, writeHistory } from '../../test/usdDaysWorld.js'
import { reportDistributor } from '../features/audit/index.js'
import { formatUnits, parseDecimal, usdDecimals } from '../kernel/amount.js'
import { writeExport } from './exportFiles.js'
import { recountFiles } from './recount.js'

let earn: Earn
let folder: string
beforeAll(async () => {
  earn = await openUsdDaysWorld(drawHistory(seededRandom()))
  folder = await mkdtemp(join(tmpdir(), 'openearn-histories-'))
})
afterAll(async () => {
  await earn?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const names = [
  ...(['lot-changes', 'snapshots', 'identities', 'share-mints', 'share-readings', 'prices', 'rules'] as const),
]
const dateOf = (seconds: number) => new Date((start + seconds) * 1_000)
const sumOf = (rows: readonly { usdDays: string }[]) =>
  formatUnits(
    rows.reduce((sum, { usdDays }) => sum + parseDecimal(usdDays, usdDecimals), 0n),
    usdDecimals,
  )

describe('exported CSV', () => {
  it('alone gives the exact USD-days, second by second and by the command, whatever moves, fails and is withheld', async () => {
    const random = seededRandom()
    const seen = { counts: 0, above: 0, unpriced: 0, unguarded: 0, shares: 0 }
    for (let round = 0; round < 8 * times; round++) {
      const history = drawHistory(random)
      await writeHistory(earn.db, history)
      // The report looks for vaults in which the distributor ever had a lot.
      await earn.db`truncate lots`
      await earn.db`
        insert into lots (chain_id, first_block, vault_id, wallet, distributor_id, shares)
        select distinct chain_id, 0, vault_id, wallet, distributor_id, 0 from lot_changes`
      const files = names.map((name) => join(folder, `${name}.csv`))
      for (const [index, name] of names.entries()) await writeExport(earn.db, name, files[index] ?? '', 'csv')
      const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
      const told = readHistory(Object.fromEntries(names.map((name, index) => [name, texts[index]])) as ExportedTexts)
      const confirmed = Math.min(...history.chains.map((chain) => timeOf(chain, chain.confirmed)))
      const from = random.int(0, Math.floor(confirmed / 2))
      const to = random.int(from + 1, confirmed)
      const range = { from: dateOf(from), to: dateOf(to) }
      for (const distributorId of ['acme', 'beta']) {
        const of = { distributorId, from, to, bounds: [from, to] }
        const exact = countNaively(history, of)
        const fromFiles = countNaively(told, of)
        expect(fromFiles, `round ${round}`).toEqual(exact)
        const total = formatUnits(fromFiles.total, usdDecimals)
        expect(sumOf(await reportDistributor(earn.ctx, { distributorId, ...range })), `round ${round}`).toBe(total)
        expect(sumOf(await recountFiles(files, { distributorId, ...range })), `round ${round}`).toBe(total)
        seen.counts += 1
        seen.above += exact.total > 0n ? 1 : 0
        seen.unpriced += exact.unpriced
        seen.unguarded += exact.unguarded
        seen.shares += told.vaults.flatMap(({ snapshots }) => snapshots).filter(({ basedOn }) => basedOn).length
      }
    }
    console.info(`USD-days from CSV alone: ${JSON.stringify(seen)}, 0 differ`)
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
  }, 900_000)
})
