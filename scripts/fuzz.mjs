// Sends made-up requests to every operation and holds each answer against the OpenAPI document:
//   npm run fuzz -- [how many, default 100000] [seed]
// Some are valid and some hostile. It ends with 1 at a 500, a status or body that the document does not allow, a 503
// without its reason, or memory that grows.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const [count = '100000', seed] = process.argv.slice(2)
for (const [name, text] of Object.entries({ count, seed: seed ?? '1' }))
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new Error(`${name} is a positive number: npm run fuzz -- 1000000 7`)
const env = { ...process.env, FUZZ_REQUESTS: count, ...(seed ? { FUZZ_SEED: seed } : {}) }
const cwd = fileURLToPath(new URL('../', import.meta.url))
const child = spawn('npx', ['vitest', 'run', 'service/test/fuzz'], { cwd, env, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill(signal))
child.once('exit', (code) => {
  process.exitCode = code ?? 1
})
