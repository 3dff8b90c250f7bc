// Changes the files of a room in one place after the other, and counts which changes its tests notice:
//   npm run mutate -- [--again] [FOLDER...]   such as service/src/derive; without a folder all rooms of mutate/rooms.mjs
// Changes that no input can tell apart are listed with their reason in mutate/equivalent/. It ends with 1 where tests
// notice less than 90 % of the changes they reach, or where a list says something that is not so. With --again only
// changes are tried whose file or tests differ from those of the last run. The report of a room is in coverage/mutate/.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findStrayLists, judge, leastNoticed, listChanges, readEquivalent } from './mutate/judge.mjs'
import { rooms } from './mutate/rooms.mjs'

process.chdir(fileURLToPath(new URL('../', import.meta.url)))
const words = process.argv.slice(2)
const isAgain = words.includes('--again')
const folders = words.filter((word) => !word.startsWith('--')).map((word) => word.replace(/\/$/, ''))

/** Tries the changes of one room; gives what became of them and the seconds it took. */
async function mutate(name) {
  const begun = Date.now()
  const options = ['run', 'scripts/mutate/stryker.config.mjs', ...(isAgain ? [] : ['--force'])]
  const stryker = spawn('npx', ['stryker', ...options], {
    env: { ...process.env, MUTATED_ROOM: name },
    stdio: 'inherit',
  })
  const status = await new Promise((resolve) => stryker.once('exit', resolve))
  if (status !== 0) throw new Error(`the changes of ${name} could not be tried: see above`)
  const report = JSON.parse(readFileSync(`coverage/mutate/${name}/report.json`, 'utf8'))
  return { changes: listChanges(report), seconds: Math.round((Date.now() - begun) / 1000) }
}

function tell(name, { mutants, covered, killed, late, survived, equivalent, rate, wrong }, seconds) {
  for (const { file, at, mutator, from, to } of survived) console.log(`${file}:${at} ${mutator}: ${from} -> ${to}`)
  for (const entry of wrong) console.log(`equivalent/${name}.json: ${entry.wrong}: ${JSON.stringify(entry)}`)
  const counts = `${killed} killed (${late} by time), ${survived.length} survived, ${equivalent} equivalent`
  console.log(`${name}: ${mutants} mutants, ${covered} covered, ${counts}: ${rate.toFixed(1)} % in ${seconds} s`)
}

const chosen = Object.keys(rooms).filter((name) => folders.length === 0 || folders.includes(rooms[name].folder))
const strange = folders.filter((folder) => !Object.values(rooms).some((room) => room.folder === folder))
const stray = findStrayLists(rooms)
if (strange.length > 0) throw new Error(`no room of scripts/mutate/rooms.mjs: ${strange.join(', ')}`)
if (stray.length > 0) throw new Error(`a list of no room in scripts/mutate/equivalent: ${stray.join(', ')}`)

const judged = []
for (const name of chosen) {
  const { changes, seconds } = await mutate(name)
  judged.push({ name, seconds, result: judge(changes, readEquivalent(name)) })
}
for (const { name, seconds, result } of judged) tell(name, result, seconds)
if (judged.some(({ result }) => !(result.rate >= leastNoticed) || result.wrong.length > 0)) process.exitCode = 1
