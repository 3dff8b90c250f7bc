import T from 'typebox'
import { defineOperation, type Operation } from '../../../kernel/operation.js'
import { PageOf, pageQuery } from '../../../kernel/wire.js'
import type { EventsContext } from '../feed.js'
import { createWebhook } from './createWebhook.js'
import { deleteWebhook } from './deleteWebhook.js'
import { Types, WebhookParams } from './input.js'
import { listWebhookDeliveries } from './listWebhookDeliveries.js'
import { listWebhooks } from './listWebhooks.js'
import { replayWebhook } from './replayWebhook.js'
import { overlapDefault, overlapMax, rotateWebhookSecret } from './rotateWebhookSecret.js'
import { DeliverySchema, WebhookSchema, WebhookWithSecretSchema } from './schema.js'
import { testWebhook } from './testWebhook.js'
import { updateWebhook } from './updateWebhook.js'

const common = { access: 'secret', permission: 'organization:webhooks', tag: 'Events' } as const
const read = { ...common, method: 'GET', cost: 1 } as const
const write = { ...common, method: 'POST', cost: 10 } as const

const malformed = 'A member is malformed'
const notYours = 'The key lacks the permission `organization:webhooks`'
const unknown = 'The organization has no such webhook'
const notSetUp = 'The operator has set no key for secrets'

const Url = T.String({
  description: 'https, at a public address, port 443 or 8443',
  examples: ['https://app.example/events'],
})
const Secret = T.String({ description: '`whsec_` and the base64 of 24 to 64 bytes; made by the service unless given' })
const Late = T.Boolean({ description: 'Events of the past too' })

/** The operations of webhooks. */
export const webhookOperations: readonly Operation<EventsContext>[] = [
  defineOperation({
    ...read,
    operationId: 'ListWebhooks',
    path: '/v2/webhooks',
    summary: 'List webhooks',
    description: 'The webhooks of your organization, oldest first.',
    responses: { 200: T.Object({ data: T.Array(WebhookSchema) }), 403: notYours },
    run: listWebhooks,
  }),
  defineOperation({
    ...write,
    operationId: 'CreateWebhook',
    path: '/v2/webhooks',
    summary: 'Create a webhook',
    description:
      'Sends your organization each event from now on, signed by Standard Webhooks 1.0.0, in order for each subject, until it is ' +
      'taken with a status of 2xx: for up to five days. At most 20 an organization. A repetition under an Idempotency-Key shows ' +
      'no secret.',
    body: T.Object({
      url: Url,
      types: T.Optional(Types),
      late: T.Optional(Late),
      secret: T.Optional(Secret),
    }),
    responses: {
      200: WebhookWithSecretSchema,
      400: malformed,
      403: notYours,
      409: 'The organization has 20 webhooks',
      503: notSetUp,
    },
    hidden: ['secret'],
    run: createWebhook,
  }),
  defineOperation({
    ...write,
    operationId: 'UpdateWebhook',
    path: '/v2/webhooks/{webhookId}',
    summary: 'Change a webhook',
    description: 'One that is enabled again goes on with the events that it missed, as far as they are kept.',
    params: WebhookParams,
    body: T.Object({
      url: T.Optional(Url),
      types: T.Optional(Types),
      enabled: T.Optional(T.Boolean()),
      late: T.Optional(Late),
    }),
    responses: { 200: WebhookSchema, 400: malformed, 403: notYours, 404: unknown },
    run: updateWebhook,
  }),
  defineOperation({
    ...write,
    operationId: 'DeleteWebhook',
    path: '/v2/webhooks/{webhookId}/delete',
    summary: 'Delete a webhook',
    description: 'Removes a webhook with its queue and its deliveries, and returns it as it was.',
    params: WebhookParams,
    body: T.Object({}),
    responses: { 200: WebhookSchema, 400: malformed, 403: notYours, 404: unknown },
    run: deleteWebhook,
  }),
  defineOperation({
    ...write,
    operationId: 'RotateWebhookSecret',
    path: '/v2/webhooks/{webhookId}/secret',
    summary: 'Replace the secret of a webhook',
    description:
      'Until the overlap ends each event carries a signature by the old secret as well. A repetition under an Idempotency-Key ' +
      'shows no secret.',
    params: WebhookParams,
    body: T.Object({
      overlapSeconds: T.Optional(T.Integer({ minimum: 0, maximum: overlapMax, default: overlapDefault })),
      secret: T.Optional(Secret),
    }),
    responses: { 200: WebhookWithSecretSchema, 400: malformed, 403: notYours, 404: unknown, 503: notSetUp },
    hidden: ['secret'],
    run: rotateWebhookSecret,
  }),
  defineOperation({
    ...write,
    operationId: 'TestWebhook',
    path: '/v2/webhooks/{webhookId}/test',
    summary: 'Send a test event',
    description:
      'Sends an event `webhook.test` at once, whether the webhook is enabled or not, and returns the delivery.',
    params: WebhookParams,
    body: T.Object({}),
    responses: { 200: DeliverySchema, 400: malformed, 403: notYours, 404: unknown, 503: notSetUp },
    run: testWebhook,
  }),
  defineOperation({
    ...write,
    operationId: 'ReplayWebhook',
    path: '/v2/webhooks/{webhookId}/replay',
    summary: 'Send events again',
    description: 'Sends the events after a cursor again, with the same ids, at half of the rate.',
    params: WebhookParams,
    body: T.Object({ after: T.String({ description: 'A cursor of GetEvents' }) }),
    responses: {
      200: WebhookSchema,
      400: malformed,
      403: notYours,
      404: unknown,
      410: 'The event of the cursor is not in the feed (reason `CURSOR_GONE`)',
    },
    run: replayWebhook,
  }),
  defineOperation({
    ...read,
    operationId: 'ListWebhookDeliveries',
    path: '/v2/webhooks/{webhookId}/deliveries',
    summary: 'List deliveries',
    description: 'The tries of a webhook, newest first, kept for 30 days.',
    params: WebhookParams,
    query: T.Object(pageQuery),
    responses: { 200: PageOf(DeliverySchema), 400: malformed, 403: notYours, 404: unknown },
    run: listWebhookDeliveries,
  }),
]
