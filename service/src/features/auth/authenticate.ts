import { permissionDenied, unauthorized } from '../../kernel/errors.js'
import type { Access, Caller } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'
import { hashKey, parseKeyText } from './apiKey.js'
import { findKeyByHash, type KeyRow } from './store.js'

export type Credentials = {
  apiKey: string | undefined
  /** The `Authorization` header. */
  authorization: string | undefined
}

/** Finds the key behind a request. One per process: it remembers keys for a few seconds. */
export type Authenticate = {
  (credentials: Credentials): Promise<AuthenticatedKey>
  /** A good key that is remembered, without a wait; undefined says nothing. */
  remembered(apiKey: string): AuthenticatedKey | undefined
}

export type AuthenticatedKey = {
  caller: Caller
  hourlyUnits: number
  monthlyUnits: number | null
  /** Units an hour that one client address may use; null without a limit. */
  addressUnits: number | null
  origins: readonly string[]
}

/** A revoked key must be refused within 5 s everywhere, so a key is believed for less than that. */
const believedMs = 3_000
const rememberedMax = 10_000

/**
 * A missing, malformed, unknown, revoked or expired key is 401 with the same text, so that nothing can be learned
 * from it.
 */
export function createAuthenticate(ctx: Pick<Context, 'db' | 'clock' | 'config'>): Authenticate {
  const remembered = new Map<string, Remembered>()
  /** Callers of one key who come while it is looked up share the look-up. */
  const pending = new Map<string, { atMs: number; lookedUp: Promise<Remembered | undefined> }>()
  const lookUp = async (text: string, nowMs: number): Promise<Remembered | undefined> => {
    const row = await findKeyByHash(ctx.db, hashKey(text))
    if (!row) return undefined
    if (remembered.size >= rememberedMax) remembered.clear()
    const { hourlyUnits, monthlyUnits, addressUnits, origins } = row
    const found = {
      row,
      key: { caller: toCaller(row), hourlyUnits, monthlyUnits, addressUnits, origins },
      untilMs: nowMs + believedMs,
    }
    remembered.set(text, found)
    return found
  }
  const find = async (text: string): Promise<Remembered | undefined> => {
    const nowMs = ctx.clock.monotonicMs()
    const known = remembered.get(text)
    if (known && known.untilMs > nowMs) return known
    remembered.delete(text)
    const begun = pending.get(text)
    if (begun && begun.atMs + believedMs > nowMs) return begun.lookedUp
    const lookedUp = lookUp(text, nowMs).finally(() => {
      if (pending.get(text)?.lookedUp === lookedUp) pending.delete(text)
    })
    pending.set(text, { atMs: nowMs, lookedUp })
    return lookedUp
  }
  const isGood = ({ row }: Remembered) =>
    row.revokedAt === null && (row.expiresAt === null || row.expiresAt > ctx.clock.now())
  const authenticate = async (credentials: Credentials) => {
    const text = chooseKeyText(credentials, ctx.config.bearerEnabled)
    if (parseKeyText(text) === undefined) throw refused()
    const found = await find(text)
    if (!found || !isGood(found)) throw refused()
    return found.key
  }
  return Object.assign(authenticate, {
    remembered: (apiKey: string) => {
      const known = remembered.get(apiKey)
      return known && known.untilMs > ctx.clock.monotonicMs() && isGood(known) ? known.key : undefined
    },
  })
}

type Remembered = { row: KeyRow; key: AuthenticatedKey; untilMs: number }

function refused() {
  return unauthorized('the API key is missing, malformed, unknown, revoked or expired; send a valid one in X-API-Key')
}

function chooseKeyText(credentials: Credentials, bearerEnabled: boolean): string {
  const bearer = bearerEnabled ? /^Bearer +(\S+) *$/i.exec(credentials.authorization ?? '')?.[1] : undefined
  if (credentials.apiKey && bearer && credentials.apiKey !== bearer)
    throw unauthorized('X-API-Key and Authorization carry different keys; send one')
  return credentials.apiKey || bearer || ''
}

/**
 * Refuses a page's origin outside the key's list; an empty list is any for a publishable key, none for a secret one. `own`: the
 * origin of the service's own pages, which a publishable key may be used from.
 */
export function assertOrigin({ caller, origins }: AuthenticatedKey, origin: string | undefined, own?: string): void {
  if (origin === undefined) return
  if (caller.kind === 'publishable' && (origins.length === 0 || origin === own)) return
  if (origins.includes(origin)) return
  throw permissionDenied('this API key may not be used from this origin')
}

function toCaller(key: KeyRow): Caller {
  const { id, kind, organizationId, distributorId, permissions } = key
  return { keyId: id, kind, organizationId, distributorId, permissions }
}

/** Refuses a key of the wrong kind, or without the permission an operation asks for. */
export function assertAccess(caller: Caller, access: Access, permission: string | undefined): void {
  if (access === 'secret' && caller.kind !== 'secret')
    throw permissionDenied('this operation needs a secret key; publishable keys cannot call it')
  if (permission !== undefined && !caller.permissions.includes(permission))
    throw permissionDenied(`this operation needs the permission ${permission}`)
}
