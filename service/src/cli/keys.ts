import { createKey, listKeys, permissions, revokeKey, setAddressShare } from '../features/auth/index.js'
import type { KeyKind } from '../kernel/operation.js'
import { parseTs } from '../kernel/wire.js'
import type { Context } from '../postgres/context.js'
import { answer, type Command, parseFlags, printTable, requireFlag, UsageError, withContext } from './command.js'

const usage = `openearn keys create --org ID --kind publishable|secret [--name TEXT] [--distributor ID]
    [--permission NAME]… [--origin ORIGIN]… [--hourly UNITS] [--monthly UNITS] [--address-share SHARE]
    [--expires RFC3339]
openearn keys set ID|HINT --address-share SHARE
    SHARE: what one client address may use of a publishable key's hour, above 0 to 1 (no limit), as 0.2
    NAME: ${Object.entries(permissions)
      .map(([name, what]) => `${name} (${what})`)
      .join(',\n          ')}
openearn keys list [--org ID]
openearn keys revoke ID|HINT`

export const keys: Command = {
  summary: 'create, change, list and revoke API keys',
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'create') return create(words)
    if (verb === 'set') return set(words)
    if (verb === 'list') return list(words)
    if (verb === 'revoke') return revoke(words)
    throw new UsageError(`keys: say create, set, list or revoke\n${usage}`)
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
    'address-share': { type: 'string' },
    expires: { type: 'string' },
  })
  const organizationId = requireFlag(values.org, 'org')
  const kind = parseKind(requireFlag(values.kind, 'kind'))
  const expiresAt = values.expires === undefined ? null : parseTs(values.expires)
  if (expiresAt === undefined) throw new UsageError('--expires must be an RFC 3339 date-time')
  const unknown = (values.permission ?? []).find((name) => !Object.hasOwn(permissions, name))
  if (unknown !== undefined)
    throw new UsageError(`there is no permission ${unknown}; there are ${Object.keys(permissions).join(', ')}`)
  const addressShare = parseShare(values['address-share']) ?? 1
  if (kind === 'secret' && addressShare !== 1) throw new UsageError('--address-share is for publishable keys')
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
      addressShare,
      expiresAt,
    })
    answer({ id, key: text }, [`id   ${id}`, `key  ${text}`, 'The key is shown this once; only its hash is kept.'])
  })
}

async function set(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(words, { 'address-share': { type: 'string' } }, 1)
  const [idOrHint] = positionals
  if (idOrHint === undefined) throw new UsageError('keys set: name the key by its id or its hint')
  const share = parseShare(requireFlag(values['address-share'], 'address-share')) ?? 1
  await withContext(async ({ db }) => {
    const changed = await setAddressShare(db, idOrHint, share)
    if (changed.length === 0) throw new UsageError(`there is no active publishable key ${idOrHint}`)
    answer(
      changed.map(({ id, hint }) => ({ id, hint, addressShare: share })),
      changed.map(({ id, hint }) => `one address may use ${share} of the hour of ${id} (${hint})`),
    )
  })
}

/** Above 0 to 1 with at most four decimals, as kept. */
function parseShare(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const share = /^(0?\.[0-9]{1,4}|[01](\.0{1,4})?)$/.test(text) ? Number(text) : 0
  if (share > 0) return share
  throw new UsageError('--address-share must be above 0 and at most 1, with at most four decimals')
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
      ['ID', 'KIND', 'KEY', 'STATE', 'ORGANIZATION', 'DISTRIBUTOR', 'ADDRESS SHARE', 'NAME'],
      rows.map((key) => {
        const expired = key.expiresAt !== null && key.expiresAt <= clock.now()
        const state = key.revokedAt ? 'revoked' : expired ? 'expired' : 'active'
        const share = key.addressShare === 1 ? '' : String(key.addressShare)
        return [key.id, key.kind, key.hint, state, key.organizationId, key.distributorId ?? '', share, key.name]
      }),
      rows,
    )
  })
}

async function revoke(words: string[]): Promise<void> {
  const [idOrHint] = parseFlags(words, {}, 1).positionals
  if (idOrHint === undefined) throw new UsageError('keys revoke: name the key by its id or its hint')
  await withContext(async ({ db, clock }) => {
    const revoked = await revokeKey(db, idOrHint, clock.now())
    if (revoked.length === 0) throw new UsageError(`there is no active key ${idOrHint}`)
    answer(
      revoked.map(({ id, hint }) => ({ id, hint })),
      revoked.map(({ id, hint }) => `revoked ${id} (${hint}); refused everywhere within 5 seconds`),
    )
  })
}
