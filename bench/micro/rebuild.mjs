// Rebuild rate: node bench/micro/rebuild.mjs [events]. 80 % transfers, 20 % deposits, half of those signed.

import { systemClock } from '../../service/dist/kernel/clock.js'
import { listProjections } from '../../service/dist/server/projections.js'
import { computeStateHash } from '../../service/dist/server/stateHash.js'
import { rebuildChain } from '../../service/dist/sync/rebuild.js'
import { openBenchDatabase } from './database.mjs'
import { fillRawStore } from './rawStore.mjs'

const events = Number(process.argv[2] ?? 200_000)
const chainId = 31_337

const bench = await openBenchDatabase()
const { db } = bench
const { made, block } = await fillRawStore(db, { chainId, events, holders: 20_000, finalShare: 0.99 })
console.log(`${made} events in ${block} blocks are in the raw store`)
for (let run = 1; run <= 3; run++) {
  const [node, server] = [process.cpuUsage(), await bench.serverCpuSeconds()]
  const { events: count, seconds } = await rebuildChain(
    { db, clock: systemClock },
    { chainId, projections: listProjections() },
  )
  const state = await computeStateHash(db, chainId)
  const { user, system } = process.cpuUsage(node)
  const [own, theirs] = [(user + system) / 1e6, (await bench.serverCpuSeconds()) - server]
  const rate = Math.round(count / seconds)
  console.log(`run ${run}: ${count} events in ${seconds.toFixed(2)} s, ${rate} a second, state ${state.slice(0, 16)}`)
  console.log(`  processor: node ${own.toFixed(2)} s, database ${theirs.toFixed(2)} s, hashing included`)
}
await bench.close()
