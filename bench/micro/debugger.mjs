// What look-ups of a hostile transaction cost everybody else: node bench/micro/debugger.mjs [rounds] [checkout].
// A devnet; a transaction of 90 KB, 400 calls with a signature each; ten look-ups of it at once, round after round, and
// ten of a plain transaction of the same size; meanwhile /healthz is asked without a pause.
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createPublicClient, createWalletClient, encodeFunctionData, http, parseAbi } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'

const rounds = Number(process.argv[2] ?? 20)
const checkout = resolve(process.argv[3] ?? new URL('../..', import.meta.url).pathname)
const folder = await mkdtemp(join(tmpdir(), 'openearn-debugger-'))
await chmod(folder, 0o755)
const env = { PATH: process.env.PATH, PORT: '0', OPS_PORT: '0', ANVIL_PORT: '0', OPENEARN_DATA_DIR: folder }
const child = spawn(process.execPath, [join(checkout, 'service/dist/cli/main.js'), 'dev'], { env })
await new Promise((done, fail) => {
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk
      if (/^ready/m.test(said)) done()
    })
  child.once('exit', () => fail(new Error(said)))
})
const dev = JSON.parse(await readFile(join(folder, 'dev.json'), 'utf8'))

async function sendAll() {
  const signature = await sign({ hash: `0x${'42'.repeat(32)}`, privateKey: `0x${'07'.repeat(32)}`, to: 'hex' })
  const cbor = `a261616461636d65616da2616950${'11'.repeat(16)}61675841${signature.slice(2)}`
  const suffix = `${cbor}${(cbor.length / 2).toString(16).padStart(4, '0')}02${'8021'.repeat(8)}`
  const hostile = encodeFunctionData({
    abi: parseAbi(['function multicall(bytes[] data)']),
    args: [Array.from({ length: 400 }, () => `0x6e553f65${'00'.repeat(64)}${suffix}`)],
  })
  const transport = http(dev.rpcUrl)
  const wallet = createWalletClient({ account: privateKeyToAccount(dev.accounts[5].privateKey), transport })
  const send = async (data) => {
    const hash = await wallet.sendTransaction({ chain: null, to: `0x${'be'.repeat(20)}`, data, gas: 10_000_000n })
    await createPublicClient({ transport }).waitForTransactionReceipt({ hash })
    return hash
  }
  return { hostile: await send(hostile), plain: await send(`0x${'01'.repeat(hostile.length / 2 - 1)}`) }
}

async function measure(hash) {
  const lookUp = async () => {
    const start = performance.now()
    const answer = await fetch(`${dev.baseUrl}/v2/attribution/${hash}?chainId=${dev.chainId}`)
    const bytes = (await answer.arrayBuffer()).byteLength
    if (answer.status !== 200) throw new Error(`status ${answer.status}`)
    return { ms: performance.now() - start, bytes }
  }
  await lookUp()
  const waits = []
  const lookUps = []
  for (let round = 0; round < rounds; round++) {
    let running = true
    const all = Promise.all(Array.from({ length: 10 }, lookUp)).finally(() => {
      running = false
    })
    while (running) {
      const start = performance.now()
      await (await fetch(`${dev.opsUrl}/healthz`)).text()
      waits.push(performance.now() - start)
    }
    lookUps.push(...(await all))
  }
  return { waits, lookUps }
}

const percentile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))].toFixed(1)

const { hostile, plain } = await sendAll()
const load = loadavg().map((value) => value.toFixed(1))
console.log(`machine: ${availableParallelism()} cores, Node ${process.version}, load average ${load.join(', ')}`)
console.log(`${rounds} rounds of ten look-ups at once`)
console.log('| transaction | /healthz p50 ms | p95 ms | worst ms | a look-up p50 ms | bytes of an answer |')
console.log('|---|---|---|---|---|---|')
for (const [name, hash] of [
  ['plain, 90 KB', plain],
  ['hostile, 90 KB', hostile],
]) {
  const { waits, lookUps } = await measure(hash)
  const took = lookUps.map(({ ms }) => ms)
  const shown = [percentile(waits, 0.5), percentile(waits, 0.95), percentile(waits, 1), percentile(took, 0.5)]
  console.log(`| ${name} | ${shown.join(' | ')} | ${lookUps[0].bytes} |`)
}
const ended = new Promise((done) => child.once('exit', done))
child.kill('SIGTERM')
await ended
