// Makes one-place changes, one after another, and runs the tests that hold what each breaks:
//   node bench/mutants/run.mjs [list.json, default guarantees.json beside this file] [id …]
// A list has { id, file, from, to, tests } each; `from` must be in the file once. { id, gone } says that the code of a
// change was deleted, and what stands there now. Prints whether a test turned red. A file
// with changes of its own is left alone, and every file is put back, also when this program is stopped.

import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const words = process.argv.slice(2)
const listFile = words[0]?.endsWith('.json') ? words.shift() : new URL('guarantees.json', import.meta.url)
const list = JSON.parse(readFileSync(listFile, 'utf8')).filter(({ id }) => words.length === 0 || words.includes(id))

let putBack
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    putBack?.()
    process.exit(1)
  })

const isChanged = (file) => execFileSync('git', ['status', '--porcelain', '--', file], { cwd: root }).length > 0

/** Whether the tests pass. */
const run = (tests) =>
  new Promise((resolve) => {
    const child = spawn('npx', ['vitest', 'run', ...tests, '--bail=1', '--maxWorkers=1'], {
      cwd: root,
      env: { ...process.env, NO_COLOR: '1' },
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said += String(chunk)
      })
    child.once('exit', (code) => resolve({ passes: code === 0, said }))
  })

const survivors = []
for (const { id, gone, file, from, to, tests } of list) {
  if (gone !== undefined) {
    console.log(`${id} is gone: ${gone}`)
    continue
  }
  const path = `${root}${file}`
  const text = readFileSync(path, 'utf8')
  const places = text.split(from).length - 1
  if (places !== 1) throw new Error(`${id}: ${file} has ${places} places to change: ${from}`)
  if (isChanged(file)) throw new Error(`${id}: ${file} has changes of its own`)
  putBack = () => writeFileSync(path, text)
  let outcome
  try {
    writeFileSync(
      path,
      text.replace(from, () => to),
    )
    outcome = await run(tests)
  } finally {
    putBack()
    putBack = undefined
  }
  const title = /(?:FAIL|×)\s+(.*)/.exec(outcome.said)?.[1]
  console.log(outcome.passes ? `${id} SURVIVES` : `${id} is noticed: ${title}`)
  if (outcome.passes) survivors.push(id)
}
const made = list.filter(({ gone }) => gone === undefined).length
console.log(`${made - survivors.length} of ${made} noticed, the code of ${list.length - made} is gone`)
process.exitCode = survivors.length === 0 ? 0 : 1
