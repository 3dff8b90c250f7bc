import { listChanges } from '../features/audit/index.js'
import { formatTs } from '../kernel/clock.js'
import { withContext } from './command.js'
import { answer, type Command, parseFlags, parseWhole, UsageError } from './terminal.js'

const usage = `openearn audit [--limit N]

Who changed what of this installation by a command, newest first, 100 unless --limit says otherwise. Each change is followed
by what it is about, before and after it.`

export const audit: Command = {
  usage,
  run: async (words) => {
    const { values } = parseFlags(words, { limit: { type: 'string' } })
    const limit = parseWhole(values.limit ?? '100', 1)
    if (limit === undefined) throw new UsageError('--limit must be a whole number of at least 1')
    await withContext(async ({ db }) => {
      const changes = await listChanges(db, limit)
      answer(
        changes,
        changes.flatMap(({ at, osUser, command, before, after }) => [
          `${formatTs(at)}  ${osUser}  openearn ${command}`,
          `  before  ${JSON.stringify(before)}`,
          `  after   ${JSON.stringify(after)}`,
        ]),
      )
    })
  },
}
