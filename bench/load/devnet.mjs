import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../service/dist/cli/main.js', import.meta.url))

/** A built devnet on free loopback ports; stop it when done. */
export async function startDevnet() {
  const folder = await mkdtemp(join(tmpdir(), 'openearn-bench-'))
  await chmod(folder, 0o755)
  const env = { PATH: process.env.PATH, OPENEARN_DATA_DIR: folder, LOG_LEVEL: 'error' }
  Object.assign(env, { PORT: '0', OPS_PORT: '0', ANVIL_PORT: '0' })
  const child = spawn(process.execPath, [main, 'dev'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await new Promise((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (chunk) => {
      said += String(chunk)
      if (/^`npm run demo`/m.test(said)) resolve()
    })
    child.once('exit', (code) => reject(new Error(`the devnet ended with ${code}: ${said}`)))
  })
  const dev = JSON.parse(await readFile(join(folder, 'dev.json'), 'utf8'))
  const { baseUrl, rpcUrl, keys } = dev
  const rpc = async (method, params = []) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
    const answer = await fetch(rpcUrl, { ...init, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
    return (await answer.json()).result
  }
  return {
    /** What the devnet says of itself: accounts, keys, opportunities. */
    dev,
    rpc,
    baseUrl,
    key: keys.publishable,
    pid: child.pid,
    mine: () => rpc('evm_mine'),
    place: async () => {
      const head = Number(await rpc('eth_blockNumber'))
      const status = await fetch(`${baseUrl}/v2/indexing-status/`, { headers: { 'X-API-Key': keys.publishable } })
      const { chains } = await status.json()
      return { head, indexed: chains?.find(({ chainId }) => chainId === 31_337)?.indexedBlock ?? 0 }
    },
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
