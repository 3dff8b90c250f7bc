// Draws one-place changes of the program's own source, as many of each operator as the number allows, and writes the list:
//   node bench/mutants/draw.mjs [how many, default 100] [seed, default 20261123] > bench/mutants/drawn.json
// The same seed on the same tree draws the same list. Which tests are asked is found by runDrawn.mjs.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { operators } from './operators.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const count = Number(process.argv[2] ?? 100)
const seed = Number(process.argv[3] ?? 20_261_123)
const folders = ['packages/attribution/src', 'packages/embedded-postgres/src', 'sdk/src', 'service/src']

/** mulberry32 */
function createRandom(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const files = folders
  .flatMap((folder) => readdirSync(`${root}${folder}`, { recursive: true }).map((name) => `${folder}/${name}`))
  .filter((name) => name.endsWith('.ts') && !/\.(test|d)\.ts$/.test(name))
  .sort()

/** Every change that an operator makes anywhere: { file, start, end, to }. */
function listPlaces() {
  const places = Object.fromEntries(Object.keys(operators).map((name) => [name, []]))
  for (const file of files) {
    const source = ts.createSourceFile(file, readFileSync(`${root}${file}`, 'utf8'), ts.ScriptTarget.Latest, true)
    const visit = (node) => {
      if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isTypeAliasDeclaration(node)) return
      for (const [name, changesOf] of Object.entries(operators))
        for (const { node: changed, to, ...part } of changesOf(node))
          places[name].push({ file, start: part.start ?? changed.getStart(), end: part.end ?? changed.end, to })
      ts.forEachChild(node, visit)
    }
    ts.forEachChild(source, visit)
  }
  return places
}

/** The change as a text that is in its file once: whole lines are taken in until it is. */
function toUnique({ file, start, end, to }) {
  const text = readFileSync(`${root}${file}`, 'utf8')
  let first = text.lastIndexOf('\n', start - 1) + 1
  let last = text.indexOf('\n', end)
  while (text.split(text.slice(first, last)).length !== 2) {
    first = text.lastIndexOf('\n', first - 2) + 1
    const next = text.indexOf('\n', last + 1)
    last = next === -1 ? text.length : next
  }
  const line = text.slice(0, start).split('\n').length
  return { file, line, from: text.slice(first, last), to: text.slice(first, start) + to + text.slice(end, last) }
}

const places = listPlaces()
console.error(
  Object.entries(places)
    .map(([name, all]) => `${name} ${all.length}`)
    .join(', '),
)
const random = createRandom(seed)
const names = Object.keys(operators)
const drawn = []
while (drawn.length < count) {
  const operator = names[drawn.length % names.length]
  const all = places[operator]
  const [place] = all.splice(Math.floor(random() * all.length), 1)
  drawn.push({ id: `M${String(drawn.length + 1).padStart(3, '0')}`, operator, ...toUnique(place) })
}
console.log(JSON.stringify({ seed, mutants: drawn }, null, 2))
