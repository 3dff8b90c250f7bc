// A process that takes a stream from its snapshot to a confirmed root, and is killed on the way: node streamProcess.mjs
// '<JSON>'. From the drawn step on it counts what it asks of database and node, and sends itself SIGKILL at the drawn one.

import { signDigest } from '@openearn/attribution'
import { runStreamCommits, runStreamSnapshots, runStreamTrees } from '../../dist/features/streams/index.js'
import { systemClock } from '../../dist/kernel/clock.js'
import { silentLog } from '../../dist/kernel/log.js'
import { createOutbound } from '../../dist/kernel/outbound.js'
import { openDatabase } from '../../dist/postgres/pool.js'
import { readHead } from '../../dist/rpc/blocks.js'
import { openChain } from '../../dist/rpc/chains.js'
import { createSender } from '../../dist/rpc/sender/index.js'
import { createKeySigner } from '../../dist/rpc/signer.js'

const { target, settings, key, everySeconds, dieIn, dieAt, isDone } = JSON.parse(process.argv[2])

let left = Number.POSITIVE_INFINITY
function die() {
  process.kill(process.pid, 'SIGKILL')
  // Nothing is done any more, however long the signal takes.
  for (;;);
}
const act = () => {
  if (left-- <= 0) die()
}
const counted = (of) =>
  new Proxy(of, {
    apply: (statement, self, args) => {
      act()
      return Reflect.apply(statement, self, args)
    },
    get: (database, name) => {
      if (name !== 'begin') return Reflect.get(database, name)
      return async (work) => {
        const done = await database.begin((tx) => work(counted(tx)))
        act()
        return done
      }
    },
  })

const opened = openChain(createOutbound(systemClock), settings)
const rpc = {
  ...opened.rpc,
  request: async (request) => {
    // A call of a node may have been done when its answer never came.
    if (isDone && left <= 0) await opened.rpc.request(request).catch(() => undefined)
    act()
    return opened.rpc.request(request)
  },
}
const chain = { ...opened, rpc }
const db = openDatabase(target, { max: 4 })
const now = new Date((await readHead(opened)).timestamp * 1_000)
const clock = { ...systemClock, now: () => now }
const catalogue = { current: () => ({ tokens: { get: () => ({ decimals: 6 }) } }) }
const chains = new Map([[settings.chainId, chain]])
const ctx = { db: counted(db), clock, log: silentLog, chains, catalogue }
const signer = createKeySigner(key, signDigest)
const caps = { gasPrice: 500n * 10n ** 9n, spending: 10n ** 19n }
const sender = createSender(ctx, { chain, signer, caps })

const steps = {
  snapshot: () => runStreamSnapshots(ctx, { everySeconds }),
  tree: () => runStreamTrees(ctx),
  commit: () => runStreamCommits(ctx, { vetoSeconds: 0, committerOf: () => signer.address, costMax: 10n ** 18n }),
  send: () => sender.step(),
  confirm: async () => {
    await opened.rpc.request({ method: 'anvil_mine', params: ['0x3'] })
    await sender.step()
  },
}
for (const [name, step] of Object.entries(steps)) {
  if (name === dieIn) left = dieAt
  await step()
}
await db.end()
