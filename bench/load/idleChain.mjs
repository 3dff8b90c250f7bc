// What following a chain costs while nothing of ours happens on it: node bench/load/idleChain.mjs [seconds, default 3600]
// [vaults, default 100]. A chain of a block every 2 s, followed by two services of their own: one is told of new heads over
// WebSocket, one asks every 2 s. Prints the calls of each by job, and what a day of them would be.

import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { yieldVaultAbi, yieldVaultBytecode } from '@openearn/contracts'
import { chainId, startChain } from '../micro/chain.mjs'

const [seconds, vaultCount] = [Number(process.argv[2] ?? 3_600), Number(process.argv[3] ?? 100)]
const [blockSeconds, mostADay, daySeconds] = [2, 50_000, 86_400]
const main = fileURLToPath(new URL('../../service/dist/cli/main.js', import.meta.url))
const run = promisify(execFile)

// It begins an hour ago: a longer past would still be read while calls are counted.
const node = await startChain({ timestamp: Math.floor(Date.now() / 1_000) - 3_600 })
const { client, token } = node
const vaults = []
for (let index = 0; index < vaultCount; index++) {
  const args = [token, `Vault ${index}`, `v${index}`, 0, 0n, true]
  const hash = await client.deployContract({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
  vaults.push((await client.waitForTransactionReceipt({ hash })).contractAddress.toLowerCase())
}
await client.setNextBlockTimestamp({ timestamp: BigInt(Math.floor(Date.now() / 1_000)) })
// What was deployed is final before anything is counted.
await client.mine({ blocks: 100, interval: 0 })
await client.setIntervalMining({ interval: blockSeconds })

const catalogueOf = (rpcUrls) => ({
  chains: [...[{ chainId, name: 'Idle', slug: 'idle', watched: true, rpcUrls, pollIntervalMs: blockSeconds * 1_000 }]],
  tokens: [
    { chainId, address: token, decimals: 6, symbol: 'USD', name: 'Dollar', pegUsd: '1' },
    ...vaults.map((address) => ({ chainId, address, decimals: 6, symbol: 'vUSD', name: 'Vault share' })),
  ],
  opportunities: vaults.map((address, index) => ({
    ...{ slug: `vault-${index}`, name: `Vault ${index}`, type: 'vault' },
    vault: { chainId, address, kind: 'erc4626', asset: token, startBlock: 1 },
  })),
})

/** A service of its own over the chain; `calls` sums what it asked of the node by job. */
async function startFollower(name, rpcUrls) {
  const folder = await mkdtemp(join(tmpdir(), 'openearn-bench-'))
  await run('chmod', ['755', folder])
  const env = { PATH: process.env.PATH, OPENEARN_DATA_DIR: join(folder, 'data'), PORT: '0', OPS_PORT: '0' }
  const file = join(folder, 'catalogue.json')
  await writeFile(file, JSON.stringify(catalogueOf(rpcUrls)))
  await run(process.execPath, [main, 'migrate'], { env })
  await run(process.execPath, [main, 'catalogue', 'import', file], { env, maxBuffer: 2 ** 26 })
  const child = spawn(process.execPath, [main, 'start'], {
    env: { ...env, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const opsUrl = await new Promise((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (chunk) => {
      said += String(chunk)
      const url = /operator (http:\S+)/.exec(said)?.[1]
      if (url) resolve(url)
    })
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${said}`)))
  })
  const calls = async () => {
    const text = await (await fetch(`${opsUrl}/metrics`)).text()
    const jobs = new Map()
    for (const [, labels, value] of text.matchAll(/^openearn_rpc_calls_total\{([^}]*)\} (\d+)/gm)) {
      const [, job] = /job="([^"]*)"/.exec(labels) ?? []
      const [, method] = /method="([^"]*)"/.exec(labels) ?? []
      const key = `${job}: ${method}`
      jobs.set(key, (jobs.get(key) ?? 0) + Number(value))
    }
    return jobs
  }
  const stop = async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await gone
    await rm(folder, { recursive: true, force: true })
  }
  return { name, calls, stop }
}

const followers = [
  await startFollower('told over WebSocket', [node.url, node.url.replace('http', 'ws')]),
  await startFollower('asking every 2 s', [node.url]),
]
// Its backfill and first readings belong to no idle chain.
await sleep(120_000)
const before = await Promise.all(followers.map(({ calls }) => calls()))
const head = await client.getBlockNumber()
await sleep(seconds * 1_000)
let isOver = false
for (const [index, { name, calls }] of followers.entries()) {
  const made = [...(await calls())].map(([job, count]) => [job, count - (before[index].get(job) ?? 0)])
  const sum = made.reduce((total, [, count]) => total + count, 0)
  const day = Math.round((sum * daySeconds) / seconds)
  if (day > mostADay) isOver = true
  console.log(`${name}: ${sum} calls in ${seconds} s, ${day} a day (≤ ${mostADay}${day > mostADay ? ', not met' : ''})`)
  for (const [job, count] of made.sort((a, b) => b[1] - a[1]))
    if (count > 0)
      console.log(
        `  ${job.padEnd(48)}${String(count).padStart(7)}${String(Math.round((count * daySeconds) / seconds)).padStart(9)} a day`,
      )
}
console.log(`${(await client.getBlockNumber()) - head} blocks, ${vaultCount} vaults`)
await Promise.all(followers.map(({ stop }) => stop()))
node.stop()
process.exitCode = isOver ? 1 : 0
