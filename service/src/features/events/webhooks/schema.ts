import T, { type Static } from 'typebox'
import { formatTs } from '../../../kernel/clock.js'
import { Nullable, Ts, Uuid } from '../../../kernel/wire.js'
import { EventType } from '../event.js'
import type { AttemptRow, WebhookRow } from './storeWebhooks.js'

export const WebhookSchema = T.Object(
  {
    id: Uuid,
    url: T.String(),
    types: T.Array(EventType, { description: 'Empty: events of all types' }),
    enabled: T.Boolean(),
    late: T.Boolean({ description: 'Takes events of the past too' }),
    disabledReason: T.String({ description: 'Why the service disabled it; empty where it did not' }),
    createdAt: Ts,
    lastDeliveryAt: Nullable(Ts),
    failing: T.Integer({ description: 'Tries that failed since the last one that did not' }),
  },
  { title: 'Webhook' },
)

/** A webhook whose secret is shown: when it was made or replaced, and never again. */
export const WebhookWithSecretSchema = T.Object(
  {
    ...WebhookSchema.properties,
    secret: T.String({ description: '`whsec_` and base64: verifies `webhook-signature`. Shown this once' }),
  },
  { title: 'WebhookWithSecret' },
)

export const DeliverySchema = T.Object(
  {
    id: Uuid,
    eventId: Uuid,
    attempt: T.Integer({ description: 'From 1' }),
    at: Ts,
    status: Nullable(T.Integer({ description: 'The HTTP status of the receiver' })),
    durationMs: T.Integer(),
    error: T.String({ description: 'Empty where the receiver took the event' }),
  },
  { title: 'Delivery' },
)

export type Webhook = Static<typeof WebhookSchema>
export type Delivery = Static<typeof DeliverySchema>

export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    types: row.types,
    enabled: row.enabled,
    late: row.late,
    disabledReason: row.disabledReason,
    createdAt: formatTs(row.createdAt),
    lastDeliveryAt: row.lastDeliveryAt === null ? null : formatTs(row.lastDeliveryAt),
    failing: row.failing,
  }
}

export function toDelivery({ id, eventId, attempt, at, status, durationMs, error }: AttemptRow): Delivery {
  return { id, eventId, attempt, at: formatTs(at), status, durationMs, error }
}
