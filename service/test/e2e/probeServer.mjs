// A process of the built service with operations of the test's own, on a database given as JSON.
import T from 'typebox'
import { createAuthenticate } from '../../dist/features/auth/index.js'
import { openLimits } from '../../dist/features/limits/index.js'
import { systemClock } from '../../dist/kernel/clock.js'
import { parseConfig } from '../../dist/kernel/config.js'
import { newId } from '../../dist/kernel/ids.js'
import { silentLog } from '../../dist/kernel/log.js'
import { written } from '../../dist/kernel/operation.js'
import { openDatabase } from '../../dist/postgres/pool.js'
import { buildPublicApp } from '../../dist/server/http/http.js'

const common = { summary: '', description: '', tag: 'test', access: 'publishable', responses: { 200: T.Object({}) } }
const operations = [
  {
    ...common,
    operationId: 'Spend',
    method: 'GET',
    path: '/v2/spend',
    query: T.Object({ times: T.Optional(T.Integer()) }),
    cost: (query) => Number(query.get('units')?.[0] ?? 1),
    run: async () => ({}),
  },
  {
    ...common,
    operationId: 'Write',
    method: 'POST',
    path: '/v2/write',
    cost: 1,
    body: T.Object({ text: T.String(), hang: T.Optional(T.Boolean()) }),
    run: async (_ctx, { text, hang }) =>
      written({ text }, async (tx) => {
        await tx`insert into notes (id, text) values (${newId()}, ${text})`
        process.stdout.write('written\n')
        if (hang) await new Promise(() => undefined)
      }),
  },
]

const db = openDatabase(JSON.parse(process.argv[2]), { max: 5 })
const ctx = { db, clock: systemClock, log: silentLog, config: parseConfig({}, '/nonexistent') }
const app = buildPublicApp({ ctx, operations, authenticate: createAuthenticate(ctx), limits: openLimits(ctx) })
process.stdout.write(`ready ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
