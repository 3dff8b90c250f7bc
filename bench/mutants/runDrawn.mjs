// Makes the drawn changes one after another and runs the tests that may notice each, the nearest first:
//   node bench/mutants/runDrawn.mjs [list, default drawn.json beside this file] [id …]
// Rounds, the next only for what the one before left alive: fast tests beside the file and the nearest importers,
// the other fast tests of its surroundings, and tests with a chain, each a file at a time. A round that outlives its bound
// counts as noticed by time. Nothing checks types. What is known of a change is written into the list at once, so that
// the program can be stopped and begun again. It changes files of its tree and of its build: give it a built clone of its own.

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { createRelated } from './related.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const words = process.argv.slice(2)
const listFile = words[0]?.endsWith('.json') ? words.shift() : fileURLToPath(new URL('drawn.json', import.meta.url))
const list = JSON.parse(readFileSync(listFile, 'utf8'))
const relatedTo = createRelated(root)
const boundMs = Number(process.env['ROUND_SECONDS'] ?? 240) * 1_000
/** What the runner is started by: a queue of heavy programs can be put before it. */
const [command, ...before] = (process.env['RUNNER'] ?? 'npx').split(' ')

/** Asks the nearest tests only, and leaves open what they do not notice: NEAREST=1. */
const isQuick = process.env['NEAREST'] !== undefined

const isChain = (test) =>
  /\.chain\.test\.ts$/.test(test) ||
  /test\/(attacks|e2e|fuzz|kill|projections|simulation)\//.test(test) ||
  /(anyInput|changes|mutations|strangeInput|packed|examples|plans|rewindPlans|workedExample|embedded(Role)?)\.test\.ts$/.test(
    test,
  )
const isSlow = (test) => /test\/(e2e|fuzz|kill|simulation|attacks|recount)\//.test(test)

let putBack
let running
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    putBack?.()
    if (running) process.kill(-running.pid, 'SIGKILL')
    process.exit(1)
  })

/** Runs test files until one turns red: 'passes', 'time', or the title of what turned red. */
const run = (tests) =>
  new Promise((resolve) => {
    const child = spawn(command, [...before, 'vitest', 'run', ...tests, '--bail=1', '--maxWorkers=1'], {
      cwd: root,
      detached: true,
      env: { ...process.env, NO_COLOR: '1' },
    })
    running = child
    let said = ''
    let isLate = false
    let timer
    const take = (chunk) => {
      // The bound runs from the runner's first word: it may have waited for its turn.
      timer ??= setTimeout(() => {
        isLate = true
        process.kill(-child.pid, 'SIGTERM')
        setTimeout(() => process.kill(-child.pid, 'SIGKILL'), 10_000).unref()
      }, boundMs)
      said += String(chunk)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.once('close', (code) => {
      running = undefined
      clearTimeout(timer)
      if (isLate) return resolve('time')
      if (code === 0) return resolve('passes')
      resolve(/(?:FAIL|×)\s+(.*)/.exec(said)?.[1] ?? `exit ${code}: ${said.trim().slice(-300)}`)
    })
  })

function* roundsOf(file) {
  const all = relatedTo(file).filter(({ test }) => !isSlow(test))
  const isNear = ({ isBeside, steps }) => isBeside || steps <= 2
  const fast = all.filter(({ test }) => !isChain(test))
  const near = fast.filter(isNear).slice(0, 8)
  const chain = all.filter(({ test }) => isChain(test))
  const nearChain = chain.filter(isNear).slice(0, 3)
  const far = fast.filter((one) => !near.includes(one)).slice(0, 20)
  yield near
  if (isQuick) {
    if (near.length === 0) yield nearChain.slice(0, 1)
    return
  }
  for (const one of nearChain) yield [one]
  yield far
  for (const one of chain.filter((each) => !nearChain.includes(each)).slice(0, 2)) yield [one]
  if (file.startsWith('service/src/cli/')) yield [{ test: 'service/test/e2e/cli.test.ts' }]
}

/** Where the build puts a file: programs that tests start are read from there. */
const builtFrom = (file) => `${root}${file.replace('/src/', '/dist/').replace(/\.ts$/, '.js')}`
const compile = (text) =>
  ts.transpileModule(text, { compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext } })
    .outputText

for (const mutant of list.mutants) {
  const isAsked =
    words.length === 0 ? mutant.outcome === undefined && !(isQuick && mutant.isOpen) : words.includes(mutant.id)
  if (!isAsked) continue
  const path = `${root}${mutant.file}`
  const text = readFileSync(path, 'utf8')
  if (text.split(mutant.from).length !== 2) throw new Error(`${mutant.id}: its place is not in ${mutant.file} once`)
  const began = Date.now()
  let outcome = 'passes'
  const asked = []
  const changed = text.replace(mutant.from, () => mutant.to)
  const built = builtFrom(mutant.file)
  const wasBuilt = readFileSync(built, 'utf8')
  putBack = () => {
    writeFileSync(path, text)
    writeFileSync(built, wasBuilt)
  }
  try {
    writeFileSync(path, changed)
    writeFileSync(built, compile(changed))
    for (const round of roundsOf(mutant.file)) {
      const tests = round.map(({ test }) => test)
      if (tests.length === 0) continue
      asked.push(...tests)
      outcome = await run(tests)
      if (outcome !== 'passes') break
    }
  } finally {
    putBack()
    putBack = undefined
  }
  mutant.outcome = outcome === 'passes' ? 'survives' : 'noticed'
  mutant.isOpen = undefined
  if (outcome === 'passes' && isQuick) Object.assign(mutant, { outcome: undefined, isOpen: true })
  if (outcome === 'passes') mutant.asked = asked
  else mutant.by = outcome
  writeFileSync(listFile, `${JSON.stringify(list, null, 2)}\n`)
  const seconds = Math.round((Date.now() - began) / 1_000)
  console.log(
    `${mutant.id} ${mutant.operator} ${mutant.file}:${mutant.line} ${mutant.outcome ?? 'open'} ${mutant.by ?? ''} (${seconds} s)`,
  )
}
const noticed = list.mutants.filter(({ outcome }) => outcome === 'noticed').length
console.log(`${noticed} of ${list.mutants.length} noticed`)
