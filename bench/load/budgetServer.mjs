// One process answering an 82 KB page from a ready buffer, behind a key and one way of charging it:
// none, coalesced (the service's own), or one statement a request. The database is given as JSON.
import { createAuthenticate } from '../../service/dist/features/auth/index.js'
import { createBudgets } from '../../service/dist/features/limits/budgets.js'
import { openLimits } from '../../service/dist/features/limits/index.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { parseConfig } from '../../service/dist/kernel/config.js'
import { silentLog } from '../../service/dist/kernel/log.js'
import { PreparedBody } from '../../service/dist/kernel/operation.js'
import { openDatabase } from '../../service/dist/postgres/pool.js'
import { buildPublicApp } from '../../service/dist/server/http/http.js'

const [target, mode] = process.argv.slice(2)
const db = openDatabase(JSON.parse(target), { max: 10 })
const ctx = { db, clock: systemClock, log: silentLog, config: parseConfig({}, '/nonexistent') }
const ways = {
  none: { charge: async () => ({ granted: true, headers: {} }) },
  coalesced: createBudgets(ctx),
  single: { charge: (allowance, units) => createBudgets(ctx).charge(allowance, units) },
}
const page = new PreparedBody([Buffer.from(JSON.stringify({ data: 'x'.repeat(82_000) }))])
const operation = {
  operationId: 'Page',
  method: 'GET',
  path: '/v2/page',
  access: 'publishable',
  cost: 1,
  responses: { 200: {} },
  run: async () => page,
}
const app = buildPublicApp({
  ctx,
  operations: [operation],
  authenticate: createAuthenticate(ctx),
  limits: { ...openLimits(ctx), budgets: ways[mode] },
})
process.stdout.write(`ready ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
process.on('SIGTERM', () => process.exit(0))
