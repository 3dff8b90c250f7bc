import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/kernel/clock.js'
import { computeStateHash } from '../../src/server/stateHash.js'
import { vaultKinds } from '../../src/vaults/index.js'
import { openTestDatabase, type TestDatabase } from '../database.js'
import { rebuildChain } from '../pipeline.js'
import { dumpDerived } from './dump.js'
import { listGalleryConfiguration, listGalleryHistory } from './gallery.js'
import { loadRecording } from './load.js'
import { dumpFile, type Line, rawFile, readLines, writeLines } from './recording.js'
import { listOperatorConfiguration, mergeHistories } from './run.js'
import { listSimulatedConfiguration, listSimulatedHistory } from './simulated.js'

/** What `record.mjs` asks for; a test run only compares. */
const wanted = process.env['RECORDED']

let test: TestDatabase
let lines: Line[]
let chains: number[]
let live: string[]

beforeAll(async () => {
  if (wanted === 'record') {
    const configuration = [
      ...listOperatorConfiguration(),
      ...listSimulatedConfiguration(),
      ...listGalleryConfiguration(),
    ]
    const history = mergeHistories(listSimulatedHistory(), listGalleryHistory())
    await writeLines(
      rawFile,
      [...configuration, ...history].map((line) => JSON.stringify(line)),
    )
  }
  lines = (await readLines(rawFile)).map((line) => JSON.parse(line) as Line)
  test = await openTestDatabase()
  chains = await loadRecording(test.db, lines)
  live = await dumpDerived(test.db, chains)
  if (wanted) await writeLines(dumpFile, live)
}, 120_000)
afterAll(() => test?.close())

/** Lines of one list that the other lacks; a whole list would be too long to read. */
const missing = (from: readonly string[], other: readonly string[]) => {
  const known = new Set(other)
  return from.filter((line) => !known.has(line))
}

async function expectRecorded(actual: readonly string[]): Promise<void> {
  const recorded = await readLines(dumpFile)
  expect(missing(actual, recorded).slice(0, 10), 'too many').toEqual([])
  expect(missing(recorded, actual).slice(0, 10), 'missing').toEqual([])
  expect(actual.length).toBe(recorded.length)
}

/** Kinds that came after the recording: their own tests on a chain derive them. */
const later: ReadonlySet<string> = new Set(['cooldown', 'window-stake', 'umbrella', 'maple', 'veda'])

describe('what is derived of the recorded chains', () => {
  it('is what was recorded, row for row, when their blocks come one after the other and are taken back', async () => {
    await expectRecorded(live)
  })

  it('is the same, row for row, when it is derived again from the raw store alone', async () => {
    for (const chainId of chains) {
      const before = await computeStateHash(test.db, chainId)
      const rebuilt = await rebuildChain({ db: test.db, clock: systemClock }, { chainId })
      expect(rebuilt.hash).toBe(before)
    }
    await expectRecorded(await dumpDerived(test.db, chains))
  })

  it('has balances, lots, requests and entries of every vault kind, credited in every way, and retractions', () => {
    const kinds = new Map(
      lines.flatMap((line) =>
        'vault' in line ? [[`${line.vault.chainId} ${line.vault.address}`, line.vault.kind]] : [],
      ),
    )
    const kindsOf = (what: string) => {
      const rows = live.filter((line) => line.startsWith(`${what} `)).map((line) => line.split(' '))
      return new Set(rows.map((row) => row.flatMap((_, at) => kinds.get(`${row[at]} ${row[at + 1]}`) ?? [])[0]))
    }
    const recorded = vaultKinds.filter(({ name }) => !later.has(name))
    const all = recorded.flatMap(({ name, plans }) => (plans ? [name] : [])).sort()
    for (const what of ['balance', 'lot', 'entry']) expect([...kindsOf(what)].sort(), what).toEqual(all)
    const asynchronous = recorded.filter((kind) => kind.asyncDeposit || kind.asyncRedeem).map(({ name }) => name)
    expect([...kindsOf('request')].sort()).toEqual(asynchronous.sort())
    for (const how of ['signed', 'unsigned', 'legacy'])
      expect(
        live.some((line) => line.startsWith('entry ') && line.includes(` ${how} `)),
        how,
      ).toBe(true)
    expect(live.filter((line) => line.startsWith('retraction ')).length).toBeGreaterThan(20)
  })
})
