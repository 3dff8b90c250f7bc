// From a mined block to a verified ledger entry: node bench/micro/latency.mjs [deposits] [polling|websocket].
// Depth 1, polling at 1 s and WebSocket, or one of them.
import { buildSuffix, signerAddress } from '../../packages/attribution/dist/index.js'
import { recordSigner } from '../../service/dist/features/catalogue/storeSigners.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { parseConfig } from '../../service/dist/kernel/config.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { startWatching } from '../../service/dist/server/watch.js'
import { chainId, startChain } from './chain.mjs'
import { fillCatalogue, openBenchDatabase } from './database.mjs'

const deposits = Number(process.argv[2] ?? 200)
const modes = ['polling at 1 s', 'WebSocket'].filter((mode) => mode.toLowerCase().startsWith(process.argv[3] ?? ''))
const key = `0x${'07'.repeat(32)}`
const distributorId = 'Y2Zi7KWy'
const node = await startChain()
const bench = await openBenchDatabase()
const { db } = bench
await fillCatalogue(db, { chainId, vault: node.vault, token: node.token, distributorId })
await recordSigner(db, signerAddress(Buffer.from(key.slice(2), 'hex')), new Date(0))

const seen = new Map()
const verified = async (hash) => {
  const rows = await db`
    select 1 as found from interactions i join chain_cursors c on c.chain_id = i.chain_id join chains ch on ch.chain_id = i.chain_id
    where i.transaction_hash = ${hash} and i.block_number <= c.head_number - ch.confirmations + 1`
  return rows.length > 0
}
const percentile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]

for (const mode of modes) {
  const headUrls = mode === 'WebSocket' ? [node.url.replace('http', 'ws')] : []
  const chain = { ...node.chain(), headUrls }
  const watching = startWatching({
    db,
    clock: systemClock,
    log: silentLog,
    config: parseConfig({}),
    chains: new Map([[chainId, chain]]),
  })
  await systemClock.sleep(3_000)
  const took = []
  for (let index = 0; index < deposits; index++) {
    const data = node.depositData(BigInt(1_000 + seen.size))
    const actionId = `0x${seen.size.toString(16).padStart(32, '0')}`
    const suffix = buildSuffix({
      code: distributorId,
      actionId,
      chainId,
      wallet: node.user.address,
      target: node.vault,
      data,
      privateKey: key,
    })
    const hash = await node.client.sendTransaction({
      account: node.user,
      to: node.vault,
      data: data + suffix.slice(2),
      gas: 1_000_000n,
    })
    // Mined at once, so this is the moment of the block.
    const mined = performance.now()
    seen.set(hash, true)
    while (!(await verified(hash))) await systemClock.sleep(1)
    took.push(performance.now() - mined)
    await systemClock.sleep(Math.random() * (mode === 'WebSocket' ? 20 : 900))
  }
  await watching.stop()
  const [p50, p95] = [percentile(took, 0.5), percentile(took, 0.95)]
  console.log(
    `${mode}: ${deposits} deposits, p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, worst ${Math.max(...took).toFixed(0)} ms`,
  )
}
await bench.close()
node.stop()
