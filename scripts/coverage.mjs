// Runs tests and says how much of service/src and sdk/src they run, with what the programs that tests start run of it:
//   npm run coverage [-- words for vitest, such as files, or --again for the figures of the last run]
// Tests run from source, programs from the build: both are asked of V8 and told of the same source, statement by
// statement. Without words it is the whole suite, and ends with 1 below the limits. The figures of every file are
// in coverage/files.json. A program that is killed by signal 9 tells nothing.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mergeProcessCovs } from '@bcoe/v8-coverage'
import convert from 'ast-v8-to-istanbul'
import { parseAstAsync } from 'vitest/node'

const root = fileURLToPath(new URL('../', import.meta.url))
const folder = `${root}coverage/`
const programs = `${folder}programs/`
const limits = { lines: 92, branches: 86 }
const builds = ['service/dist/', 'sdk/dist/'].map((path) => new URL(`../${path}`, import.meta.url).href)
const words = process.argv.slice(2)

/** Tells again of what the last run left. */
const isAgain = words[0] === '--again'
if (!isAgain) rmSync(folder, { recursive: true, force: true })
mkdirSync(programs, { recursive: true })

const runTests = () =>
  new Promise((resolve) => {
    const coverage = ['enabled', 'provider=v8', 'reporter=json', `reportsDirectory=${folder}tests`, 'reportOnFailure']
    const included = ['service/src/**', 'sdk/src/**'].map((path) => `include=${path}`)
    const options = [...coverage, ...included].map((option) => `--coverage.${option}`)
    const env = { ...process.env, COVERAGE_OF_PROGRAMS: programs }
    spawn('npx', ['vitest', 'run', ...words, ...options], { cwd: root, env, stdio: 'inherit' }).once('exit', resolve)
  })

/** What the programs ran of the build; merged a few at a time, since each tells of every module it loaded. */
function readPrograms() {
  let merged = { result: [] }
  for (const name of readdirSync(programs)) {
    const { result } = JSON.parse(readFileSync(`${programs}${name}`, 'utf8'))
    const own = result.filter(
      ({ url }) => builds.some((build) => url.startsWith(build)) && existsSync(`${fileURLToPath(url)}.map`),
    )
    merged = mergeProcessCovs([
      merged,
      { result: own.map(({ url, functions }) => ({ scriptId: '0', url, functions })) },
    ])
  }
  return merged.result
}

/** The same of a source file: V8 counts what the build ran, its source map says where that was written. */
async function toSource({ url, functions }) {
  const path = fileURLToPath(url)
  const code = readFileSync(path, 'utf8')
  const sourceMap = JSON.parse(readFileSync(`${path}.map`, 'utf8'))
  return Object.entries(await convert({ code, sourceMap, coverage: { url, functions }, ast: parseAstAsync(code) }))
}

const sizeOf = (map) => Object.keys(map).length
const add = (counts, more) => {
  for (const key of Object.keys(counts))
    counts[key] = Array.isArray(counts[key])
      ? counts[key].map((count, at) => count + more[key][at])
      : counts[key] + more[key]
}

/** Adds counts of one file to another's: both list the statements and branches of one source in its order. */
function addFile(file, more) {
  const isAlike = ['statementMap', 'fnMap', 'branchMap'].every((name) => sizeOf(file[name]) === sizeOf(more[name]))
  if (!isAlike) return false
  add(file.s, more.s)
  add(file.f, more.f)
  add(file.b, more.b)
  return true
}

/** Statements begin lines; of a line the statement that ran most often counts. */
function linesOf({ statementMap, s }) {
  const lines = new Map()
  for (const [key, { start }] of Object.entries(statementMap))
    lines.set(start.line, Math.max(lines.get(start.line) ?? 0, s[key]))
  return [...lines.values()]
}
const count = (counts) => ({ all: counts.length, run: counts.filter((times) => times > 0).length })
const figuresOf = (file) => ({ lines: count(linesOf(file)), branches: count(Object.values(file.b).flat()) })
const share = ({ all, run }) => (all === 0 ? 100 : (run / all) * 100)
const join = (figures) =>
  figures.reduce(
    (sum, each) => ({
      lines: { all: sum.lines.all + each.lines.all, run: sum.lines.run + each.lines.run },
      branches: { all: sum.branches.all + each.branches.all, run: sum.branches.run + each.branches.run },
    }),
    { lines: { all: 0, run: 0 }, branches: { all: 0, run: 0 } },
  )
const tell = (name, { lines, branches }) =>
  console.log(
    `${name.padEnd(34)} lines ${share(lines).toFixed(2)} % (${lines.run} of ${lines.all}), branches ${share(branches).toFixed(2)} % (${branches.run} of ${branches.all})`,
  )

const code = isAgain ? 0 : await runTests()
const files = JSON.parse(readFileSync(`${folder}tests/coverage-final.json`, 'utf8'))
tell('tests alone', join(Object.values(files).map(figuresOf)))
const unlike = []
for (const script of readPrograms())
  for (const [path, more] of await toSource(script)) if (files[path] && !addFile(files[path], more)) unlike.push(path)

const figures = Object.entries(files).map(([path, file]) => ({ path: relative(root, path), ...figuresOf(file) }))
writeFileSync(`${folder}files.json`, `${JSON.stringify(figures, null, 2)}\n`)
const folders = new Map()
for (const each of figures) {
  const name = each.path
    .split('/')
    .slice(0, 4)
    .join('/')
    .replace(/\/[^/]+\.ts$/, '')
  folders.set(name, [...(folders.get(name) ?? []), each])
}
for (const [name, those] of [...folders].sort()) tell(name, join(those))
if (unlike.length > 0)
  console.log(
    `not counted, since the build has other statements: ${unlike.map((path) => relative(root, path)).join(', ')}`,
  )
const all = join(figures)
tell(`with ${readdirSync(programs).length} programs`, all)
const isShort = words.length === 0 && (share(all.lines) < limits.lines || share(all.branches) < limits.branches)
if (isShort) console.log(`below ${limits.lines} % of lines or ${limits.branches} % of branches`)
process.exitCode = code === 0 && !isShort ? 0 : 1
