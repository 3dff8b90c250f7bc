// Writes the files of this folder again. `--write`: what is derived, from the raw store as it is recorded, after a change
// of the rules. `--record`: the raw store too, after a change of what is kept of a chain.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const wanted = process.argv[2]
if (wanted !== '--write' && wanted !== '--record') {
  console.error('Usage: node service/test/recorded/record.mjs --write | --record')
  process.exit(2)
}
const { status } = spawnSync('npx', ['vitest', 'run', 'service/test/recorded', '--maxWorkers=1'], {
  cwd: fileURLToPath(new URL('../../..', import.meta.url)),
  env: { ...process.env, RECORDED: wanted.slice(2) },
  stdio: 'inherit',
})
process.exit(status ?? 1)
