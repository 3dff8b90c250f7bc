import { newId } from '../../kernel/ids.js'
import type { KeyKind } from '../../kernel/operation.js'
import type { Queryable } from '../../postgres/pool.js'
import { createKeyText, formatHint, hashKey, parseKeyText } from './apiKey.js'
import { recordKey } from './store.js'

export type CreateKeyInput = {
  kind: KeyKind
  organizationId: string
  distributorId?: string | null
  name?: string
  permissions?: string[]
  origins?: string[]
  hourlyUnits?: number
  monthlyUnits?: number | null
  /** The share of the hour one client address may use; publishable keys only. Default 1, which is no limit. */
  addressShare?: number
  expiresAt?: Date | null
  /** A given key text instead of a new one: the devnet's public keys. */
  text?: string
}

/** Creates an API key and returns its text, which is shown this once and never stored. */
export async function createKey(ctx: { db: Queryable }, input: CreateKeyInput): Promise<{ id: string; text: string }> {
  const text = input.text ?? createKeyText(input.kind)
  if (parseKeyText(text) !== input.kind) throw new RangeError('the given key text is not of this kind')
  const id = newId()
  await recordKey(ctx.db, {
    id,
    hash: hashKey(text),
    hint: formatHint(text),
    kind: input.kind,
    name: input.name ?? '',
    organizationId: input.organizationId,
    distributorId: input.distributorId ?? null,
    permissions: input.permissions ?? [],
    origins: input.origins ?? [],
    hourlyUnits: input.hourlyUnits ?? 10_000,
    monthlyUnits: input.monthlyUnits ?? null,
    addressShare: input.addressShare ?? 1,
    expiresAt: input.expiresAt ?? null,
  })
  return { id, text }
}
