import { createOrganization, findOrganization, listOrganizations } from '../features/catalogue/operator/index.js'
import { newId } from '../kernel/ids.js'
import { changing, withContext } from './command.js'
import { answer, type Command, parseFlags, printTable, requireFlag, UsageError } from './terminal.js'

const types = ['curator', 'provider', 'partner', 'lending-protocol', 'distributor', 'reward-sponsor']
const usage = `openearn orgs create --name TEXT [--type ${types.join('|')}] [--premium]
openearn orgs list`

export const orgs: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'create') return create(words)
    if (verb === 'list') return list(words)
    throw new UsageError(`orgs: say create or list\n${usage}`)
  },
}

async function create(words: string[]): Promise<void> {
  const { values } = parseFlags(words, {
    name: { type: 'string' },
    type: { type: 'string' },
    premium: { type: 'boolean' },
  })
  const name = requireFlag(values.name, 'name')
  const organizationType = values.type ?? 'distributor'
  if (!types.includes(organizationType)) throw new UsageError(`--type must be one of ${types.join(', ')}`)
  const id = newId()
  await withContext(async (ctx) => {
    const { db } = changing(ctx, ['orgs', 'create', ...words], (tx) => findOrganization(tx, id))
    await createOrganization(db, { id, name, organizationType, premium: values.premium ?? false })
    answer({ id }, [id])
  })
}

async function list(words: string[]): Promise<void> {
  parseFlags(words, {})
  await withContext(async ({ db }) => {
    const rows = await listOrganizations(db)
    printTable(
      ['ID', 'TYPE', 'PREMIUM', 'NAME'],
      rows.map((row) => [row.id, row.organizationType, row.premium ? 'yes' : 'no', row.name]),
      rows,
    )
  })
}
