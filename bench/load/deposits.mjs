// What building a deposit takes, over HTTP, on a devnet of its own: node bench/load/deposits.mjs [builds].
// One caller, one request after the other: membership, balances, allowance, signature and simulation included.
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { privateKeyToAccount } from 'viem/accounts'

const builds = Number(process.argv[2] ?? 400)
const warm = 50
const main = fileURLToPath(new URL('../../service/dist/cli/main.js', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'openearn-deposits-'))
await chmod(folder, 0o755)
const child = spawn(process.execPath, [main, 'dev'], {
  env: { PATH: process.env.PATH, PORT: '0', OPS_PORT: '0', ANVIL_PORT: '0', OPENEARN_DATA_DIR: folder },
  stdio: ['ignore', 'pipe', 'pipe'],
})
const ended = new Promise((resolve) => child.once('close', resolve))
try {
  await new Promise((resolve, reject) => {
    let said = ''
    const hear = (chunk) => {
      said += chunk
      if (/^ready/m.test(said)) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    ended.then(() => reject(new Error(`the devnet ended: ${said}`)))
  })
  const dev = JSON.parse(await readFile(join(folder, 'dev.json'), 'utf8'))
  const call = async (method, path, body) => {
    const headers = { 'X-API-Key': dev.keys.secret, 'Content-Type': 'application/json' }
    const answer = await fetch(dev.baseUrl + path, { method, headers, body: body && JSON.stringify(body) })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  const vault = dev.opportunities.find(({ kind }) => kind === 'erc4626')
  const account = privateKeyToAccount(dev.accounts[1].privateKey)
  const { address } = account
  const { isMember } = await call('GET', `/v2/membership/?address=${address}`)
  if (!isMember) {
    const asked = { address, walletEcosystem: 'evm', url: 'https://app.example.com', chainId: String(dev.chainId) }
    const { message, nonce } = await call('POST', '/v2/membership/agreement', asked)
    const signature = await account.signMessage({ message })
    await call('POST', '/v2/membership/', { address, walletEcosystem: 'evm', signature, nonce })
  }
  const amount = String(10n ** BigInt(vault.asset.decimals))
  const deposit = { userAddress: address, tokenIn: vault.asset.address, amount, distributorId: dev.distributorIds[0] }
  const took = []
  for (let run = -warm; run < builds; run++) {
    const from = performance.now()
    await call('POST', `/v2/actions/deposit/${vault.id}`, deposit)
    if (run >= 0) took.push(performance.now() - from)
  }
  const rate = (took.length * 1000) / took.reduce((sum, ms) => sum + ms, 0)
  const sorted = took.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.floor(sorted.length * share)].toFixed(1)
  console.log(`${builds} deposits built, ${rate.toFixed(1)} a second, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`)
} finally {
  child.kill('SIGTERM')
  await ended
  await rm(folder, { recursive: true, force: true })
}
