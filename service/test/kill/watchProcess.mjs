// A process that watches one chain into a database until it is killed: node watchProcess.mjs '<JSON>'. It says when it
// watches, and when it first waits, and for how long: without the chain's lock it does nothing else.

import { systemClock } from '../../dist/kernel/clock.js'
import { parseConfig } from '../../dist/kernel/config.js'
import { silentLog } from '../../dist/kernel/log.js'
import { createOutbound } from '../../dist/kernel/outbound.js'
import { openDatabase } from '../../dist/postgres/pool.js'
import { openChains } from '../../dist/rpc/chains.js'
import { startWatching } from '../../dist/server/watch.js'

const { target, chain, windowMax } = JSON.parse(process.argv[2])
const db = openDatabase(target, { max: 4 })
const chains = openChains(createOutbound(systemClock), [chain])
let waits = false
const clock = {
  ...systemClock,
  sleep: (ms, signal) => {
    if (!waits) process.stdout.write(`waits ${ms} ms\n`)
    waits = true
    return systemClock.sleep(ms, signal)
  },
}
startWatching({ db, clock, log: silentLog, config: parseConfig({}), chains }, { windowMax })
process.stdout.write('watching\n')
