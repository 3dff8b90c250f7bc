// Writes gas.json: what each operation of the stream contracts costs, as forge measures it.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { workspaceDir } from './solidity.mjs'

const args = [join(workspaceDir, 'scripts', 'forge.mjs'), 'test', '--json', '--match-contract', 'GasTest']
const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
const json = stdout.split('\n').find((line) => line.startsWith('{"contracts/'))
if (status !== 0 || json === undefined) throw new Error(`${stdout}${stderr}`)
const tests = Object.values(JSON.parse(json)).flatMap(({ test_results }) => Object.values(test_results))
const gas = Object.assign({}, ...tests.flatMap(({ gas_snapshots }) => Object.values(gas_snapshots)))
const sorted = Object.fromEntries(Object.entries(gas).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(join(workspaceDir, 'gas.json'), `${JSON.stringify(sorted, null, 2)}\n`)
console.log(sorted)
