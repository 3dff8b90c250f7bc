import { migrate, readMigrations } from '../postgres/migrate.js'
import { answer, type Command, parseFlags, withContext } from './command.js'

export const migrateCommand: Command = {
  summary: 'bring the database up to this program',
  usage: 'openearn migrate',
  run: async (words) => {
    parseFlags(words, {})
    await withContext(
      async ({ db }) => {
        const applied = await migrate(db, await readMigrations())
        answer({ applied }, [...applied.map((name) => `applied ${name}`), 'the database is up to date'])
      },
      { asItIs: true, mayMake: true },
    )
  },
}
