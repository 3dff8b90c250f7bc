import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bytesMaxDefault } from '../src/kernel/answerCache.js'
import { sliceMsDefault } from '../src/kernel/async/inSlices.js'
import { pools, traces } from '../src/rpc/chains.js'
import { readDocument, root } from './documents.js'
import { readTree } from './tables.js'

const inFlightOf = ({ room }: { room?: { inFlight: number } }) => room?.inFlight ?? 0
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
    const limit = `${bytesMaxDefault / 1024 / 1024} MiB`
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
})
