import { createKey, listKeys, revokeKey } from '../features/auth/index.js'
import type { Context } from '../kernel/context.js'
import type { KeyKind } from '../kernel/operation.js'
import { parseTs } from '../kernel/wire.js'
import { type Command, parseFlags, print, printTable, requireFlag, UsageError, withContext } from './command.js'

const usage = `openearn keys create --org ID --kind publishable|secret [--name TEXT] [--distributor ID]
    [--permission NAME]… [--origin ORIGIN]… [--hourly UNITS] [--monthly UNITS] [--expires RFC3339]
openearn keys list [--org ID]
openearn keys revoke ID|HINT`

export const keys: Command = {
  summary: 'create, list and revoke API keys',
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'create') return create(words)
    if (verb === 'list') return list(words)
    if (verb === 'revoke') return revoke(words)
    throw new UsageError(`keys: say create, list or revoke\n${usage}`)
  },
}

async function create(words: string[]): Promise<void> {
  const { values } = parseFlags(words, {
    org: { type: 'string' },
    kind: { type: 'string' },
    name: { type: 'string' },
    distributor: { type: 'string' },
    permission: { type: 'string', multiple: true },
    origin: { type: 'string', multiple: true },
    hourly: { type: 'string' },
    monthly: { type: 'string' },
    expires: { type: 'string' },
  })
  const organizationId = requireFlag(values.org, 'org')
  const kind = parseKind(requireFlag(values.kind, 'kind'))
  const expiresAt = values.expires === undefined ? null : parseTs(values.expires)
  if (expiresAt === undefined) throw new UsageError('--expires must be an RFC 3339 date-time')
  await withContext(async (ctx) => {
    await assertOwner(ctx, organizationId, values.distributor)
    const { id, text } = await createKey(ctx, {
      kind,
      organizationId,
      distributorId: values.distributor ?? null,
      name: values.name ?? '',
      permissions: values.permission ?? [],
      origins: values.origin ?? [],
      hourlyUnits: parseUnits(values.hourly, 'hourly') ?? 10_000,
      monthlyUnits: parseUnits(values.monthly, 'monthly') ?? null,
      expiresAt,
    })
    print(`id   ${id}`)
    print(`key  ${text}`)
    print('The key is shown this once; only its hash is kept.')
  })
}

function parseKind(text: string): KeyKind {
  if (text === 'publishable' || text === 'secret') return text
  throw new UsageError('--kind must be publishable or secret')
}

function parseUnits(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  if (/^[0-9]{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`--${name} must be a whole number of cost units`)
}

async function assertOwner(ctx: Context, organizationId: string, distributorId: string | undefined): Promise<void> {
  const { findOrganization, findDistributorRow } = await import('../features/catalogue/index.js')
  if (!(await findOrganization(ctx.db, organizationId)))
    throw new UsageError(`there is no organization ${organizationId}; \`openearn orgs list\` shows them`)
  if (distributorId === undefined) return
  const distributor = await findDistributorRow(ctx.db, distributorId)
  if (distributor?.organizationId !== organizationId)
    throw new UsageError(`the organization has no distributor ${distributorId}`)
}

async function list(words: string[]): Promise<void> {
  const { values } = parseFlags(words, { org: { type: 'string' } })
  await withContext(async (ctx) => {
    const { db, clock } = ctx
    if (values.org !== undefined) await assertOwner(ctx, values.org, undefined)
    const rows = await listKeys(db, values.org)
    printTable(
      ['ID', 'KIND', 'KEY', 'STATE', 'ORGANIZATION', 'DISTRIBUTOR', 'NAME'],
      rows.map((key) => {
        const expired = key.expiresAt !== null && key.expiresAt <= clock.now()
        const state = key.revokedAt ? 'revoked' : expired ? 'expired' : 'active'
        return [key.id, key.kind, key.hint, state, key.organizationId, key.distributorId ?? '', key.name]
      }),
    )
  })
}

async function revoke(words: string[]): Promise<void> {
  const [idOrHint] = parseFlags(words, {}, 1).positionals
  if (idOrHint === undefined) throw new UsageError('keys revoke: name the key by its id or its hint')
  await withContext(async ({ db, clock }) => {
    const revoked = await revokeKey(db, idOrHint, clock.now())
    if (revoked.length === 0) throw new UsageError(`there is no active key ${idOrHint}`)
    for (const key of revoked) print(`revoked ${key.id} (${key.hint}); refused everywhere within 5 seconds`)
  })
}
