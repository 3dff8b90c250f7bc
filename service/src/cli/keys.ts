import {
  createKey,
  findKeys,
  hashKey,
  type KeyRow,
  listKeys,
  parseKeyText,
  permissions,
  revokeKey,
  setAddressShare,
} from '../features/auth/index.js'
import { formatTs, parseTs } from '../kernel/clock.js'
import type { KeyKind } from '../kernel/operation.js'
import type { Context } from '../postgres/context.js'
import { inTransaction, type Queryable } from '../postgres/pool.js'
import { changing, withContext } from './command.js'
import {
  answer,
  type Command,
  formatTable,
  parseFlags,
  parseOrigin,
  printTable,
  requireFlag,
  UsageError,
} from './terminal.js'

const usage = `openearn keys create --org ID --kind publishable|secret [--name TEXT] [--distributor ID]
    [--permission NAME]… [--origin ORIGIN]… [--hourly UNITS] [--monthly UNITS] [--address-share SHARE]
    [--expires RFC3339]
openearn keys set ID|HINT --address-share SHARE
    SHARE: what one client address may use of a publishable key's hour, above 0 to 1 (no limit), as 0.2
    NAME: ${Object.entries(permissions)
      .map(([name, what]) => `${name} (${what})`)
      .join(',\n          ')}
openearn keys list [--org ID]
openearn keys revoke ID|HINT
openearn keys leak-drill ID|HINT|KEY
    what to do when a key has leaked, in one step: revokes it and makes a successor with the same settings`

export const keys: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb === 'create') return create(words)
    if (verb === 'set') return set(words)
    if (verb === 'list') return list(words)
    if (verb === 'revoke') return revoke(words)
    if (verb === 'leak-drill') return leakDrill(words)
    throw new UsageError(`keys: say create, set, list, revoke or leak-drill\n${usage}`)
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
  const origins = (values.origin ?? []).map(parseOrigin)
  const addressShare = parseShare(values['address-share']) ?? 1
  if (kind === 'secret' && addressShare !== 1) throw new UsageError('--address-share is for publishable keys')
  await withContext(async (ctx) => {
    await assertOwner(ctx, organizationId, values.distributor)
    let made: string | undefined
    const look = (tx: Queryable) => (made === undefined ? Promise.resolve(null) : readKeys(tx, made))
    const input = {
      kind,
      organizationId,
      distributorId: values.distributor ?? null,
      name: values.name ?? '',
      permissions: values.permission ?? [],
      origins,
      hourlyUnits: parseUnits(values.hourly, 'hourly') ?? 10_000,
      monthlyUnits: parseUnits(values.monthly, 'monthly') ?? null,
      addressShare,
      expiresAt,
    }
    const { id, text } = await inTransaction(changing(ctx, ['keys', 'create', ...words], look).db, async (tx) => {
      const key = await createKey({ db: tx }, input)
      made = key.id
      return key
    })
    answer({ id, key: text }, [`id   ${id}`, `key  ${text}`, 'The key is shown this once; only its hash is kept.'])
  })
}

async function set(words: string[]): Promise<void> {
  const { values, positionals } = parseFlags(words, { 'address-share': { type: 'string' } }, 1)
  const [idOrHint] = positionals
  if (idOrHint === undefined) throw new UsageError('keys set: name the key by its id or its hint')
  const share = parseShare(requireFlag(values['address-share'], 'address-share')) ?? 1
  await withContext(async (ctx) => {
    const { db } = changing(ctx, ['keys', 'set', ...words], (tx) => readKeys(tx, idOrHint))
    const changed = await inTransaction(db, (tx) => setAddressShare(tx, idOrHint, share))
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
  const { findDistributorRow } = await import('../features/catalogue/index.js')
  const { findOrganization } = await import('../features/catalogue/operator/index.js')
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
        const state = decideState(key, clock.now())
        const share = key.addressShare === 1 ? '' : String(key.addressShare)
        return [key.id, key.kind, key.hint, state, key.organizationId, key.distributorId ?? '', share, key.name]
      }),
      rows,
    )
  })
}

function decideState({ revokedAt, expiresAt }: KeyRow, now: Date): 'revoked' | 'expired' | 'active' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active'
}

async function revoke(words: string[]): Promise<void> {
  const [idOrHint] = parseFlags(words, {}, 1).positionals
  if (idOrHint === undefined) throw new UsageError('keys revoke: name the key by its id or its hint')
  await withContext(async (ctx) => {
    const { db } = changing(ctx, ['keys', 'revoke', ...words], (tx) => readKeys(tx, idOrHint))
    const revoked = await inTransaction(db, (tx) => revokeAndTell(tx, idOrHint, ctx.clock.now()))
    if (revoked.length === 0) throw new UsageError(`there is no active key ${idOrHint}`)
    answer(
      revoked.map(({ id, hint }) => ({ id, hint })),
      revoked.map(({ id, hint }) => `revoked ${id} (${hint}); refused everywhere within ${refusedMs / 1000} seconds`),
    )
  })
}

/** Revokes a key, and tells its organization in the same transaction. */
async function revokeAndTell(tx: Queryable, idOrHint: string, at: Date): Promise<{ id: string; hint: string }[]> {
  const { tell } = await import('../features/events/index.js')
  const revoked = await revokeKey(tx, idOrHint, at)
  await tell(
    tx,
    revoked.map(({ id, hint, organizationId }) => ({
      ...{ type: 'key.revoked', at, chainId: null, organizationId },
      ...{ subject: { kind: 'key', id } as const, data: { id, hint, revokedAt: formatTs(at) } },
    })),
  )
  return revoked.map(({ id, hint }) => ({ id, hint }))
}

/** Revokes a key and makes its successor in one transaction: there is no moment with both, and none without a record. */
async function leakDrill(words: string[]): Promise<void> {
  const [name] = parseFlags(words, {}, 1).positionals
  if (name === undefined) throw new UsageError('keys leak-drill: name the key by its id, its hint or its text')
  await withContext(async (ctx) => {
    const leaked = await findOneKey(ctx, name)
    let made: string | undefined
    const look = async (tx: Queryable) => ({
      leaked: await readKeys(tx, leaked.id),
      successor: made === undefined ? null : await readKeys(tx, made),
    })
    const { db } = changing(ctx, ['keys', 'leak-drill', ...words], look)
    const at = ctx.clock.now()
    const { text } = await inTransaction(db, async (tx) => {
      const revoked = await revokeAndTell(tx, leaked.id, at)
      if (revoked.length === 0) throw new UsageError(`the key ${leaked.hint} was revoked meanwhile`)
      const key = await createKey({ db: tx }, leaked)
      made = key.id
      return key
    })
    const [successor] = await findKeys(ctx.db, { idOrHint: made ?? '' })
    const refusedFrom = new Date(at.getTime() + refusedMs)
    const rows = [
      ['revoked', leaked.id, leaked.hint, `${formatTs(at)}, refused everywhere by ${formatTs(refusedFrom)}`],
      ['successor', made ?? '', successor?.hint ?? '', `${formatTs(successor?.createdAt ?? at)}, good from now on`],
    ]
    answer({ revoked: { id: leaked.id, hint: leaked.hint }, successor: { id: made ?? '', key: text } }, [
      ...formatTable(['', 'ID', 'KEY', 'AT'], rows),
      `key  ${text}`,
      'The key is shown this once; only its hash is kept. Put it in place of the other one now.',
    ])
  })
}

/** The longest time for which a revoked key may still be accepted. */
const refusedMs = 5_000

async function findOneKey({ db, clock }: Context, name: string): Promise<KeyRow> {
  const isText = parseKeyText(name) !== undefined
  const found = await findKeys(db, { idOrHint: name, ...(isText ? { hash: hashKey(name) } : {}) })
  const [key, ...more] = found.filter((each) => decideState(each, clock.now()) === 'active')
  if (!key) throw new UsageError('there is no active key of this name; `openearn keys list` shows them')
  if (more.length > 0) throw new UsageError('several keys have this hint: name one by its id')
  return key
}

/** Keys as they are recorded with a change: all but what they are made of. */
async function readKeys(tx: Queryable, idOrHint: string): Promise<unknown> {
  return findKeys(tx, { idOrHint })
}
