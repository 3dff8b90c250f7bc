// Rebuilds a chain of a database and tells how far it is, one JSON line each: node rebuildProcess.mjs '{"target", "chainId"}'
import { constants, setPriority } from 'node:os'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { openDatabase } from '../../service/dist/postgres/pool.js'
import { listProjections } from '../../service/dist/server/projections.js'
import { rebuildChain } from '../../service/dist/sync/rebuild.js'

// As `openearn rebuild` does it.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const { target, chainId } = JSON.parse(process.argv[2])
const db = openDatabase(target, { max: 4 })
const say = (told) => process.stdout.write(`${JSON.stringify(told)}\n`)
const startMs = performance.now()
const { events, resumedAt } = await rebuildChain(
  { db, clock: systemClock },
  {
    chainId,
    projections: listProjections(),
    onProgress: ({ events: done, toEvents }) => say({ share: done / toEvents }),
  },
)
say({ done: { events, resumedAt: resumedAt ?? null, seconds: (performance.now() - startMs) / 1000 } })
await db.end({ timeout: 5 })
