import type { Context } from '../postgres/context.js'
import { migrate, readMigrations } from '../postgres/migrate.js'
import { inTransaction } from '../postgres/pool.js'
import { changing, withContext } from './command.js'
import { printPlan } from './migratePlan.js'
import { answer, type Command, parseFlags } from './terminal.js'

export const migrateCommand: Command = {
  usage: 'openearn migrate [--plan]        --plan tells which are missing and what they lock, and changes nothing',
  run: async (words) => {
    const { values } = parseFlags(words, { plan: { type: 'boolean' } })
    if (values.plan) return withContext(printPlan, { asItIs: true })
    await withContext(
      async (ctx) => {
        const { db } = ctx
        const applied = await migrate(db, await readMigrations())
        await recordMigrations(ctx, applied)
        answer({ applied }, [...applied.map((name) => `applied ${name}`), 'the database is up to date'])
      },
      { asItIs: true, mayMake: true },
    )
  },
}

/** Each file is applied in a transaction of its own, the first ones before there is a table of changes. */
async function recordMigrations(ctx: Context, applied: readonly string[]): Promise<void> {
  if (applied.length === 0) return
  let done: unknown = null
  const { db } = changing(ctx, ['migrate'], async () => done)
  await inTransaction(db, async () => {
    done = { applied }
  })
}
