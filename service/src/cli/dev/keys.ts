import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createKey, parseKeyText } from '../../features/auth/index.js'
import type { Context } from '../../postgres/context.js'
import { organizations } from './names.js'

export type DevKeys = { publishable: string; secret: string }

/** The keys of an earlier run, so that a restart does not change them. */
export async function findDevKeys(file: string): Promise<DevKeys | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  try {
    const { keys } = JSON.parse(text)
    if (parseKeyText(keys.publishable) === 'publishable' && parseKeyText(keys.secret) === 'secret') return keys
  } catch {
    // A half-written file: new keys are made.
    return undefined
  }
  return undefined
}

/** The operator's token of an earlier run, so that a restart does not change it; else a new one. */
export async function openDevToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const [, before] = /"operatorToken": "([\w-]{43})"/.exec(text) ?? []
  return before ?? randomBytes(32).toString('base64url')
}

/** Units an hour: enough for a developer's scripts and tests. */
const hourlyUnits = 10_000_000

/** The devnet's two keys, both of the first organization; made when they are not there yet. */
export async function openDevKeys(ctx: Pick<Context, 'db'>, before: DevKeys | undefined): Promise<DevKeys> {
  const organizationId = organizations[0].id
  const shared = { organizationId, hourlyUnits, name: 'devnet' }
  const publishable = await createKey(ctx, {
    ...shared,
    kind: 'publishable',
    ...(before ? { text: before.publishable } : {}),
  })
  const secret = await createKey(ctx, {
    ...shared,
    kind: 'secret',
    permissions: [
      'organization:incentivize:streams',
      'organization:incentivize:streams:create',
      'organization:webhooks',
    ],
    ...(before ? { text: before.secret } : {}),
  })
  return { publishable: publishable.text, secret: secret.text }
}
