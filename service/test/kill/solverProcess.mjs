// A process that settles orders of one chain until it is killed: node solverProcess.mjs '<JSON>'. For each line it is sent it
// looks at the orders and lets its sender take two steps, and says how many steps it has been through. At the step it is
// told it dies.

import { createInterface } from 'node:readline'
import { signDigest } from '@openearn/attribution'
import { openCatalogue } from '../../dist/features/catalogue/index.js'
import { createOrderLook } from '../../dist/features/solver/index.js'
import { systemClock } from '../../dist/kernel/clock.js'
import { silentLog } from '../../dist/kernel/log.js'
import { createOutbound } from '../../dist/kernel/outbound.js'
import { openDatabase } from '../../dist/postgres/pool.js'
import { openChain } from '../../dist/rpc/chains.js'
import { createSender } from '../../dist/rpc/sender/index.js'
import { createKeySigner } from '../../dist/rpc/signer.js'
import { dieAt } from './dieAt.mjs'

const { target, settings, now, solverKey, attributionKey, step } = JSON.parse(process.argv[2])
const clock = { ...systemClock, now: () => new Date(now) }
const db = openDatabase(target, { max: 4 })
const chain = openChain(createOutbound(systemClock), settings)
const base = { db, clock, log: silentLog }
const ctx = {
  ...{ ...base, catalogue: await openCatalogue(base), chains: new Map([[settings.chainId, chain]]) },
  attributionSigner: createKeySigner(attributionKey, signDigest),
}
const solver = createKeySigner(solverKey, signDigest)
const look = createOrderLook({ solver, costMax: 10n ** 18n })
const sender = createSender(ctx, { chain, signer: solver, caps: { gasPrice: 500n * 10n ** 9n, spending: 10n ** 20n } })
process.stdout.write('begins\n')
const countSteps = dieAt(step)
for await (const _line of createInterface(process.stdin)) {
  await look(ctx)
  await sender.step()
  await sender.step()
  process.stdout.write(`turned ${countSteps()}\n`)
}
process.exit(0)
