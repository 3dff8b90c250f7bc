import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { validity } from '../src/features/orders/schema.js'
import { keptMs } from '../src/features/portfolio/portfolio.js'
import { revertsMax, usualLimits } from '../src/features/solver/guard.js'
import { bytesMaxDefault } from '../src/kernel/answerCache.js'
import { sliceMsDefault } from '../src/kernel/async/inSlices.js'
import { lagBytesMax } from '../src/postgres/reading.js'
import { pools, traces } from '../src/rpc/chains.js'
import { pathBounds } from '../src/rpc/checkTrace.js'
import { treeBounds } from '../src/rpc/traceTree.js'
import { estimateCallsADay } from '../src/server/callsADay.js'
import { countConnections, countReplicaConnections, ways } from '../src/server/connectionCount.js'
import { steady } from '../src/server/watch.js'
import { readDocument, root } from './documents.js'
import { readTree } from './tables.js'

const inFlightOf = ({ room }: { room?: { inFlight: number } }) => room?.inFlight ?? 0
const inMiB = (bytes = 0) => `${bytes / 1024 / 1024} MiB`
const spell = (count: number) => count.toLocaleString('en')
/** A document as one line, so that a sentence is found wherever its lines break. */
const readFlat = async (document: string) => (await readDocument(document)).replace(/\s+/g, ' ')
const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)

/** The last two cells of a purpose's row: its room, and the deadline of a call. */
function tellPool({ room, deadlineMs }: (typeof pools)[keyof typeof pools]): string {
  const others =
    room?.waiting === undefined ? 'the others wait' : `${room.waiting} wait, ${(room.waitMs ?? 0) / 1000} s at most`
  return `${room?.inFlight}; ${others} | ${deadlineMs === undefined ? 'none beyond 10 s a try' : `${deadlineMs / 1000} s`} |`
}

describe('figures of documents are those of the program', () => {
  it('the purposes of calls to a node, with their connections and deadlines', async () => {
    const text = await readDocument('docs/configuration.md')
    const rows = [...text.matchAll(/^\| `(\w+)` \| [^|]+ \| (\d+;.*)$/gm)].map(([, name, cells]) => [name, cells])
    expect(rows).toEqual(Object.entries(pools).map(([name, pool]) => [name, tellPool(pool)]))
    expect(text).toContain(
      `${sum(Object.values(pools).map(inFlightOf))} connections a process and url, ${inFlightOf(traces)} more where it traces`,
    )
    const names = Object.keys(pools).map((name) => `\`${name}\``)
    const listed = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
    expect(await readDocument('GLOSSARY.md')).toContain(`| purpose | what a node is asked for: ${listed};`)
  })

  it('the limit of all kept answers, and which are within it', async () => {
    const limit = inMiB(bytesMaxDefault)
    const decision = await readDocument('docs/decisions/0009-which-cache-answers.md')
    expect(decision).toContain(`share one limit of ${limit}`)
    expect(await readDocument('docs/threat-model.md')).toContain(`within the ${limit} that all kept answers share`)
    const sources = await readTree(join(root, 'service', 'src'), '.ts')
    const titles = sources.flatMap(({ text }) => [...text.matchAll(/nswers\.shelf(?:<.+>)?\('([^']+)'/g)])
    const [paragraph = ''] = decision.split('\n\n').filter((each) => each.includes('share one limit'))
    const told = [...paragraph.matchAll(/`([a-z ]+)`/g)].map(([, title]) => title)
    expect(told.toSorted()).toEqual([...new Set(titles.map(([, title]) => title))].toSorted())
  })

  it('the time for which reading the catalogue anew holds up requests', async () => {
    expect(await readDocument('docs/decisions/0004-catalogue-in-memory.md')).toContain(
      `in slices of ${sliceMsDefault} ms`,
    )
  })

  it('the calls that a chain of 2 s blocks costs its node, by job', async () => {
    const text = await readDocument('docs/runbook.md')
    const rows = new Map([...text.matchAll(/^\| `([a-zA-Z ]+)` \| ([^|]+) \|/gm)].map(([, job, calls]) => [job, calls]))
    const jobs = estimateCallsADay({ blockSeconds: 2, pollSeconds: 2, isAnnounced: false })
    const [least = 0, most = 0] = (rows.get('watch') ?? '').split('–').map((end) => Number(end.replace(',', '')))
    expect([least <= jobs.watch, jobs.watch <= most, most - least]).toEqual([true, true, 600])
    expect(rows.get('capability and TVL')).toMatch(/^1,440, and 24 times the trials/)
    const near = (job: 'vault snapshots' | 'reconciliation of balances') =>
      `about ${spell(Math.round(jobs[job] / 100) * 100)}`
    expect(rows.get('vault snapshots')).toBe(near('vault snapshots'))
    expect(rows.get('reconciliation of balances')).toBe(near('reconciliation of balances'))
    expect(text).toContain(`${steady.againBlocks} quiet blocks in two calls`)
    const minutes = ['zero', 'one', 'two', 'three', 'four', 'five']
    expect(text).toContain(
      `final blocks every ${minutes[steady.finalMs / 60_000]} minutes, and again every ${minutes[steady.againMs / 60_000]}`,
    )
  })

  it('the connections to the database, by the way to run', async () => {
    const text = await readDocument('docs/runbook.md')
    const rows = [...text.matchAll(/^\| `openearn ([a-z -]+)` \| (\d+) \| (\d+) \|$/gm)].map((row) => row.slice(1))
    const at = (poolSize: number) => (way: (typeof ways)[number]) => countConnections(way, { poolSize, chains: 1 })
    expect(rows).toEqual(ways.map((way) => [way, `${at(10)(way)}`, `${at(4)(way)}`]))
    const [more, less] = [10, 4].map(countReplicaConnections)
    expect(text).toContain(`| \`openearn serve\`, on each replica | ${more} | ${less} |`)
    expect(await readFlat('docs/runbook.md')).toContain(`is more than ${inMiB(lagBytesMax)} of the log behind`)
    const fleet = (['serve', 'serve', 'serve', 'watch --chains', 'watch --chains', 'jobs', 'commit', 'solve'] as const)
      .map(at(4))
      .reduce((all, each) => all + each, 0)
    expect(text).toContain(`come to ${fleet} with \`DATABASE_POOL_SIZE=4\``)
  })

  it('the limits of call trees', async () => {
    const text = await readFlat('docs/methodology.md')
    expect(text).toContain(
      `${spell(treeBounds.calls)} calls; depth ${spell(treeBounds.depth)}; for the stored calls, those on the way to logs of ` +
        `ours, ${spell(pathBounds.calls)} calls and ${inMiB(pathBounds.bytes)} of own bytes. A response of more than ` +
        `${inMiB(traces.maxBytes)} is not read to its end`,
    )
  })

  it('the limits of orders and of portfolios that are kept', async () => {
    const orders = await readFlat('docs/orders.md')
    expect(orders).toContain(`(\`validForSeconds\`, ${validity.minimum} to ${spell(validity.maximum)})`)
    const reverts = ['zero', 'one', 'two', 'three'][revertsMax]
    expect(orders).toContain(`An order of which ${reverts} reverted is settled no more`)
    const settings = await readDocument('docs/configuration.md')
    expect(settings).toContain(`| \`SETTLEMENTS_PER_HOUR\` | ${usualLimits.fillsPerHour} |`)
    expect(settings).toContain(`| \`SETTLEMENT_RISK_PERCENT\` | ${usualLimits.riskPercent} |`)
    expect(settings).toContain(`| \`SETTLEMENT_LOSS_PERCENT\` | ${usualLimits.lossPercent} |`)
    expect(await readFlat('docs/portfolio.md')).toContain(`for at most ${keptMs / 1000} s`)
  })
})
