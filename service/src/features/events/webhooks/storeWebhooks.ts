import type { Queryable, Transaction } from '../../../postgres/pool.js'

export type WebhookRow = {
  id: string
  organizationId: string
  url: string
  types: string[]
  late: boolean
  enabled: boolean
  disabledReason: string
  createdAt: Date
  lastDeliveryAt: Date | null
  failing: number
}

/** A webhook with its sealed secrets. */
export type SecretRow = WebhookRow & { secret: Uint8Array; secretBefore: Uint8Array | null; beforeUntil: Date | null }

const columns = (db: Queryable) => db`id, organization_id as "organizationId", url, types, late, enabled,
  disabled_reason as "disabledReason", created_at as "createdAt", last_delivery_at as "lastDeliveryAt", failing`

export async function listWebhookRows(db: Queryable, organizationId: string): Promise<WebhookRow[]> {
  return db<WebhookRow[]>`
    select ${columns(db)} from webhooks where organization_id = ${organizationId} order by created_at, id`
}

/** A webhook of an organization; undefined if there is no such webhook, or if it is of another. */
export async function findWebhook(
  db: Queryable,
  { id, organizationId }: { id: string; organizationId: string },
): Promise<SecretRow | undefined> {
  const rows = await db<SecretRow[]>`
    select ${columns(db)}, secret, secret_before as "secretBefore", before_until as "beforeUntil"
    from webhooks where id = ${id} and organization_id = ${organizationId}`
  return rows[0]
}

export type NewWebhook = Pick<WebhookRow, 'id' | 'organizationId' | 'url' | 'types' | 'late' | 'createdAt'> & {
  secret: Uint8Array
}

/** Records a webhook that takes the events from now on. False if the organization has as many as it may. */
export async function recordWebhook(tx: Transaction, webhook: NewWebhook, most: number): Promise<boolean> {
  // One at a time for each organization, so that two requests together keep to the limit.
  await tx`select pg_advisory_xact_lock(hashtextextended(${`webhooks ${webhook.organizationId}`}, 0))`
  const { count } = await tx`
    insert into webhooks (id, organization_id, url, types, late, created_at, position, secret)
    select ${webhook.id}, ${webhook.organizationId}, ${webhook.url}, ${webhook.types}, ${webhook.late},
      ${webhook.createdAt}, position, ${Buffer.from(webhook.secret)}
    from feed_end
    where (select count(*) from webhooks where organization_id = ${webhook.organizationId}) < ${most}`
  return count === 1
}

export type WebhookChange = { url: string; types: readonly string[]; enabled: boolean; late: boolean; at: Date }

/** Changes a webhook. One that is enabled again begins without failures, and goes on where it stopped. */
export async function updateWebhook(tx: Transaction, id: string, change: WebhookChange): Promise<void> {
  const { url, types, enabled, late, at } = change
  await tx`
    update webhooks set url = ${url}, types = ${[...types]}, late = ${late}, enabled = ${enabled},
      disabled_reason = case when ${enabled} then '' else disabled_reason end,
      failing = case when ${enabled} and not enabled then 0 else failing end,
      failing_since = case when ${enabled} and not enabled then null else failing_since end
    where id = ${id}`
  // An event that waits for a later try may be taken now.
  await tx`update webhook_queue set run_at = ${at} where webhook_id = ${id} and is_head and leased_until is null`
}

export async function removeWebhook(tx: Transaction, id: string): Promise<void> {
  await tx`delete from webhooks where id = ${id}`
}

/** Replaces the secret. The one before it counts until an instant. */
export async function replaceSecret(
  tx: Transaction,
  { id, secret, beforeUntil }: { id: string; secret: Uint8Array; beforeUntil: Date },
): Promise<void> {
  await tx`
    update webhooks set secret_before = secret, secret = ${Buffer.from(secret)}, before_until = ${beforeUntil}
    where id = ${id}`
}

export type AttemptRow = {
  id: string
  webhookId: string
  eventId: string
  attempt: number
  at: Date
  status: number | null
  durationMs: number
  error: string
}

export async function recordAttempt(db: Queryable, row: AttemptRow): Promise<void> {
  // The webhook may have been removed while the event was on its way.
  await db`
    insert into webhook_attempts (id, webhook_id, event_id, attempt, at, status, duration_ms, error)
    select ${row.id}, id, ${row.eventId}, ${row.attempt}, ${row.at}, ${row.status}, ${row.durationMs}, ${row.error}
    from webhooks where id = ${row.webhookId}`
}

/** Tries of a webhook, newest first, and how many there are. */
export async function listAttempts(
  db: Queryable,
  webhookId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: AttemptRow[]; total: number }> {
  const rows = await db<AttemptRow[]>`
    select id, webhook_id as "webhookId", event_id as "eventId", attempt, at, status, duration_ms as "durationMs", error
    from webhook_attempts where webhook_id = ${webhookId} order by at desc, id limit ${limit} offset ${offset}`
  const [counted] = await db<{ total: number }[]>`
    select count(*) as total from webhook_attempts where webhook_id = ${webhookId}`
  return { rows, total: counted?.total ?? 0 }
}

/** Removes tries made before an instant, a batch at a time. */
export async function pruneAttempts(db: Queryable, before: Date, batch: number): Promise<number> {
  const { count } = await db`
    delete from webhook_attempts where id in (select id from webhook_attempts where at < ${before} limit ${batch})`
  return count
}

/** The organization of a webhook; undefined if there is no such webhook. */
export async function findOrganizationOf(db: Queryable, webhookId: string): Promise<string | undefined> {
  const rows = await db<{ organizationId: string }[]>`
    select organization_id as "organizationId" from webhooks where id::text = ${webhookId}`
  return rows[0]?.organizationId
}
