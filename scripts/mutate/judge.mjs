// Counts what became of the changes of a room, and holds the list of those that nothing can notice.
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Of a hundred changes that tests reach and that an input can tell apart, the number that must be noticed. */
export const leastNoticed = 90

const noticed = ['Killed', 'Timeout']

/** The changes of a report of Stryker: what stood there (`from`), what stands there instead (`to`), the line around it. */
export function listChanges({ files }) {
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n')
    return mutants.map(({ mutatorName, replacement, location, status }) => ({
      file,
      mutator: mutatorName,
      line: lines[location.start.line - 1].trim(),
      from: cut(lines, location),
      to: replacement,
      status,
      at: location.start.line,
    }))
  })
}

/** The source between two places, of which lines and columns count from one. */
function cut(lines, { start, end }) {
  const between = lines.slice(start.line - 1, end.line)
  between[between.length - 1] = between[between.length - 1].slice(0, end.column - 1)
  between[0] = between[0].slice(start.column - 1)
  return between.map((line) => line.trim()).join('\n')
}

const members = ['file', 'mutator', 'line', 'from', 'to']
const keyOf = (change) => JSON.stringify(members.map((member) => change[member]))

/**
 * What the tests of a room are worth. `equivalent` lists changes that no input tells apart: each is told by its file, its
 * mutator and the source text, and has a reason. One that is not there, or that a test notices, is wrong.
 */
export function judge(changes, equivalent) {
  const listed = new Set(equivalent.map(keyOf))
  const isListed = (change) => listed.has(keyOf(change))
  const covered = changes.filter(({ status }) => [...noticed, 'Survived'].includes(status))
  const survived = covered.filter((change) => change.status === 'Survived' && !isListed(change))
  const killed = covered.filter(({ status }) => noticed.includes(status))
  const wrong = equivalent.flatMap((entry) => {
    const own = changes.filter((change) => keyOf(change) === keyOf(entry))
    if (!entry.reason) return [{ ...entry, wrong: 'no reason is given' }]
    if (own.length === 0) return [{ ...entry, wrong: 'there is no such change any more' }]
    return own.some(({ status }) => noticed.includes(status)) ? [{ ...entry, wrong: 'a test notices it' }] : []
  })
  return {
    mutants: changes.length,
    covered: covered.length,
    killed: killed.length,
    late: killed.filter(({ status }) => status === 'Timeout').length,
    survived,
    equivalent: covered.length - killed.length - survived.length,
    rate: (100 * killed.length) / (killed.length + survived.length),
    wrong,
  }
}

/** The committed list of a room. */
export function readEquivalent(name) {
  const path = new URL(`equivalent/${name}.json`, import.meta.url)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []
}

/** Lists whose room there is no longer. */
export function findStrayLists(rooms) {
  const names = readdirSync(new URL('equivalent/', import.meta.url)).map((name) => name.replace(/\.json$/, ''))
  return names.filter((name) => !(name in rooms))
}
