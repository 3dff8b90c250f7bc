import { findDistributorRow } from '../features/catalogue/index.js'
import {
  createDistributor,
  findOrganization,
  listDistributors,
  listSignedOnly,
  updateSignedOnly,
} from '../features/catalogue/operator/index.js'
import { parseTs } from '../kernel/clock.js'
import type { Queryable } from '../postgres/pool.js'
import { changing, withContext } from './command.js'
import { answer, type Command, parseFlags, printTable, requireFlag, UsageError } from './terminal.js'

const usage = `openearn distributors create ID --org ID [--name TEXT] [--active-from RFC3339]
openearn distributors signed-only ID on|off [--from RFC3339]
openearn distributors list`

export const distributors: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'create') return create(words)
    if (verb === 'signed-only') return signedOnly(words)
    if (verb === 'list') return list(words)
    throw new UsageError(`distributors: say create, signed-only or list\n${usage}`)
  },
}

async function create(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(
    words,
    {
      org: { type: 'string' },
      name: { type: 'string' },
      'active-from': { type: 'string' },
    },
    1,
  )
  const [id] = positionals
  if (id === undefined || !/^[A-Za-z0-9_-]{1,32}$/.test(id))
    throw new UsageError('distributors create: the id is 1 to 32 letters, digits, _ or -')
  const organizationId = requireFlag(values.org, 'org')
  await withContext(async (ctx) => {
    const { db, clock } = changing(ctx, ['distributors', 'create', ...words], (tx) => findDistributorRow(tx, id))
    if (!(await findOrganization(db, organizationId)))
      throw new UsageError(`there is no organization ${organizationId}; \`openearn orgs list\` shows them`)
    const activeFrom = parseInstant(values['active-from'], 'active-from') ?? clock.now()
    const created = await createDistributor(db, { id, name: values.name ?? id, organizationId, activeFrom })
    if (!created) throw new UsageError(`the distributor ${id} exists already`)
    answer({ id }, [id])
  })
}

async function signedOnly(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(words, { from: { type: 'string' } }, 2)
  const [id, state] = positionals
  if (id === undefined || (state !== 'on' && state !== 'off'))
    throw new UsageError('distributors signed-only: give an id, and on or off')
  await withContext(async (ctx) => {
    const look = (tx: Queryable) => listSignedOnly(tx, id)
    const { db, clock } = changing(ctx, ['distributors', 'signed-only', ...words], look)
    if (!(await findDistributorRow(db, id))) throw new UsageError(`there is no distributor ${id}`)
    await updateSignedOnly(db, id, state === 'on', parseInstant(values.from, 'from') ?? clock.now())
    const said = `${id}: ${state === 'on' ? 'only signed attributions count' : 'unsigned attributions count as well'}`
    answer({ id, signedOnly: state === 'on' }, [said])
  })
}

function parseInstant(text: string | undefined, name: string): Date | undefined {
  if (text === undefined) return undefined
  const at = parseTs(text)
  if (!at) throw new UsageError(`--${name} must be an RFC 3339 date-time`)
  return at
}

async function list(words: string[]): Promise<void> {
  parseFlags(words, {})
  await withContext(async ({ db }) => {
    const rows = await listDistributors(db)
    printTable(
      ['ID', 'ORGANIZATION', 'ACTIVE FROM', 'SIGNED ONLY', 'NAME'],
      rows.map((row) => [
        row.id,
        row.organizationId,
        row.activeFrom.toISOString(),
        row.signedOnly ? 'yes' : 'no',
        row.name,
      ]),
      rows,
    )
  })
}
