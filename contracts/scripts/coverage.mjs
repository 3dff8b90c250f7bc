// Prints the line and branch coverage of the stream contracts and the router, and fails below 100 %.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { workspaceDir } from './solidity.mjs'

const buildDir = join(workspaceDir, '.build', 'coverage')
const report = join(buildDir, 'lcov.info')
mkdirSync(buildDir, { recursive: true })
const args = ['coverage', '--report', 'lcov', '--report-file', report, '--no-match-contract', 'Invariants|Handler|Gas']
const { stdout, stderr, status } = spawnSync(process.execPath, [join(workspaceDir, 'scripts', 'forge.mjs'), ...args], {
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
  env: { ...process.env, FOUNDRY_OUT: join(buildDir, 'out'), FOUNDRY_CACHE_PATH: join(buildDir, 'cache') },
})
if (status !== 0) throw new Error(`${stdout}${stderr}`)

let complete = true
for (const record of readFileSync(report, 'utf8').split('end_of_record')) {
  const file = /^SF:(.*)$/m.exec(record)?.[1]
  if (!/contracts\/src\/(streams|router)\//.test(file ?? '')) continue
  const count = (key) => Number(new RegExp(`^${key}:(\\d+)$`, 'm').exec(record)?.[1] ?? 0)
  const [linesHit, lines, branchesHit, branches] = [count('LH'), count('LF'), count('BRH'), count('BRF')]
  if (linesHit !== lines || branchesHit !== branches || lines === 0 || branches === 0) complete = false
  console.log(`${file.split('/').at(-1)}: ${linesHit} of ${lines} lines, ${branchesHit} of ${branches} branches`)
}
if (!complete) {
  console.error('a line or a branch is not covered')
  process.exit(1)
}
