// What a portfolio takes, on a devnet of its own: node bench/load/portfolio.mjs [calls].
// The catalogue gets 500 tokens and 100 vaults. A node in front of the devnet's counts what is asked and how long it is
// waited for, from when a call begins to arrive to when its answer is sent; what is left of an answer is the service's own
// time. The bare batch is the same calls, sent by hand. Exit code 1 where a bound is not met.
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findEmbeddedPostgres } from '@openearn/embedded-postgres'

const calls = Number(process.argv[2] ?? 100)
// What is compiled on the way is not measured.
const warm = 150
const tokens = 500
const vaults = 100
const main = fileURLToPath(new URL('../../service/dist/cli/main.js', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'openearn-portfolio-'))
await chmod(folder, 0o755)
const env = { PATH: process.env.PATH, PORT: '0', OPS_PORT: '0', ANVIL_PORT: '0', OPENEARN_DATA_DIR: folder }

/** Starts a command of the service; answers once it says it is ready, or ended where nothing is waited for. */
async function start(words, more = {}, ready) {
  const child = spawn(process.execPath, [main, ...words], {
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let said = ''
  await new Promise((resolve, reject) => {
    const hear = (chunk) => {
      said += chunk
      if (ready?.test(said)) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    ended.then((code) => (ready || code ? reject(new Error(`it ended: ${said}`)) : resolve()))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { said, stop, pid: child.pid }
}

/** A node before another: what it was asked while it counts, and how long any call was under way. */
async function startMeter(target) {
  const seen = { batches: 0, ethCalls: 0, open: 0, waitedMs: 0, since: 0, last: undefined }
  const server = createServer(async (request, response) => {
    if (seen.open++ === 0) seen.since = performance.now()
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const asked = JSON.parse(body)
    const list = Array.isArray(asked) ? asked : [asked]
    const own = list.filter(({ method }) => method === 'eth_call').length
    seen.ethCalls += own
    if (own > 0) {
      seen.batches += 1
      seen.last = body
    }
    const answer = await fetch(target.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const text = await answer.text()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text, () => {
      if (--seen.open === 0) seen.waitedMs += performance.now() - seen.since
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { seen, url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() }
}

/** A bound that is not met ends the program with 1. */
function judge(what, value, most, digits = 1) {
  const isMet = value <= most
  if (!isMet) process.exitCode = 1
  console.log(`${what} ${value.toFixed(digits)}, bound ${most}: ${isMet ? 'met' : 'NOT MET'}`)
}

/** Waits until a process takes less than a tenth of a core, or two minutes: it first follows what was imported. */
async function waitForCalm(pid) {
  const ticks = async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields && Number(fields[11]) + Number(fields[12])
  }
  for (let turn = 0; turn < 60; turn++) {
    const before = await ticks()
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const after = await ticks()
    if (before === undefined || after - before < 20) return
  }
}

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0
const ms = (values, share) => percentile(values, share).toFixed(1)
const addressOf = (number) => `0x${number.toString(16).padStart(40, '0')}`

const target = { url: '' }
const meter = await startMeter(target)
const devnet = await start(['dev'], {}, /^ready/m)
try {
  const dev = JSON.parse(await readFile(join(folder, 'dev.json'), 'utf8'))
  target.url = dev.rpcUrl
  const rpc = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(dev.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return (await answer.json()).result
  }
  // Contracts at addresses of their own with the code of those the devnet has.
  const [usdc, vault] = [dev.contracts.USDC, dev.opportunities[0].vaultAddress]
  const [tokenCode, vaultCode] = [
    await rpc('eth_getCode', [usdc, 'latest']),
    await rpc('eth_getCode', [vault, 'latest']),
  ]
  const listed = []
  const opportunities = []
  for (let at = 0; at < tokens; at++) {
    const address = addressOf(0x10_0000 + at)
    await rpc('anvil_setCode', [address, tokenCode])
    listed.push({ chainId: dev.chainId, address, decimals: 6, symbol: `T${at}`, name: `Token ${at}`, pegUsd: '1' })
  }
  for (let at = 0; at < vaults; at++) {
    const address = addressOf(0x20_0000 + at)
    await rpc('anvil_setCode', [address, vaultCode])
    listed.push({ chainId: dev.chainId, address, decimals: 6, symbol: `V${at}`, name: `Vault ${at}` })
    opportunities.push({
      ...{ slug: `bench-${at}`, name: `Vault ${at}`, type: 'vault', depositTokens: [usdc] },
      // A snapshot a day: their past is read beside, and is over sooner.
      vault: { ...{ chainId: dev.chainId, address, kind: 'erc4626', asset: usdc }, snapshotIntervalSeconds: 86_400 },
    })
  }
  const file = join(folder, 'bench.json')
  await writeFile(file, JSON.stringify({ tokens: listed, opportunities }))
  // The devnet's service asks its node itself: a second one, on the same database, asks through the meter.
  const { host, port, database, username, password } = await findEmbeddedPostgres(join(folder, 'postgres'))
  const url = `postgres://${username}:${encodeURIComponent(password)}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
  await start(['catalogue', 'import', file], { DATABASE_URL: url })
  const served = await start(['serve'], { DATABASE_URL: url, RPC_URL_31337: meter.url }, /ready http\S+/)
  try {
    const baseUrl = /ready (http\S+)/.exec(served.said)[1]
    const ask = async (address) => {
      const headers = { 'X-API-Key': dev.keys.secret }
      const answer = await fetch(`${baseUrl}/v2/wallet/${address}/portfolio`, { headers })
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`${answer.status} ${text}`)
      return JSON.parse(text)
    }
    const wallet = dev.accounts.at(-1).address
    await waitForCalm(devnet.pid)
    await waitForCalm(served.pid)
    const own = []
    const whole = []
    const bare = []
    let most = { batches: 0, ethCalls: 0 }
    for (let run = -warm; run < calls; run++) {
      // Another wallet each time: nothing is kept of it.
      const address = run % 2 ? wallet.slice(0, 2) + wallet.slice(2).toLowerCase() : addressOf(0x30_0000 + run)
      await rpc('evm_mine', [])
      await new Promise((resolve) => setTimeout(resolve, 300))
      Object.assign(meter.seen, { batches: 0, ethCalls: 0, waitedMs: 0 })
      const from = performance.now()
      await ask(address)
      const took = performance.now() - from
      const { batches, ethCalls, waitedMs, last } = meter.seen
      const sent = performance.now()
      await (
        await fetch(meter.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: last })
      ).text()
      if (run < 0) continue
      bare.push(performance.now() - sent)
      whole.push(took)
      own.push(took - waitedMs)
      most = { batches: Math.max(most.batches, batches), ethCalls: Math.max(most.ethCalls, ethCalls) }
    }
    console.log(`own time p50 ${ms(own, 0.5)} ms`)
    judge('own time p95, ms', percentile(own, 0.95), 30)
    console.log(`whole answer p50 ${ms(whole, 0.5)} ms, bare batch p50 ${ms(bare, 0.5)} ms`)
    judge('whole answer to bare batch', percentile(whole, 0.5) / percentile(bare, 0.5), 2, 2)
    console.log(`${tokens} tokens and ${vaults} vaults`)
    judge('batches an answer', most.batches, 1, 0)
    judge('eth_calls an answer', most.ethCalls, Math.ceil((1 + tokens + 3 * vaults) / 250), 0)
    const kept = []
    await ask(wallet)
    for (let run = 0; run < 20 * calls; run++) {
      const from = performance.now()
      await ask(wallet)
      kept.push(performance.now() - from)
    }
    console.log(`from what is kept p50 ${ms(kept, 0.5)} ms`)
    judge('from what is kept p95, ms', percentile(kept, 0.95), 5)
    await rpc('evm_mine', [])
    await new Promise((resolve) => setTimeout(resolve, 300))
    Object.assign(meter.seen, { batches: 0, ethCalls: 0 })
    await Promise.all(Array.from({ length: 100 }, () => ask(wallet)))
    judge('batches for 100 calls at the same time', meter.seen.batches, 1, 0)
  } finally {
    await served.stop()
  }
} finally {
  await devnet.stop()
  meter.stop()
  await rm(folder, { recursive: true, force: true })
}
