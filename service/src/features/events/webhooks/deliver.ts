import { newId } from '../../../kernel/ids.js'
import type { Allowed } from './addresses.js'
import { type Posted, post } from './post.js'
import { openSecrets, type Sealing } from './secrets.js'
import { sign } from './signature.js'
import type { AttemptRow, SecretRow } from './storeWebhooks.js'

/** How events are sent. */
export type Sending = { sealing: Sealing; allowed: Allowed; signal?: AbortSignal }

/**
 * Sends an event to a webhook once, signed for this try (Standard Webhooks 1.0.0). The id of the event is the id of the message,
 * the same at every try.
 */
export async function deliver(
  { sealing, ...sending }: Sending,
  webhook: SecretRow,
  event: { eventId: string; attempt: number; body: string },
  times: { at: Date; monotonicMs(): number },
): Promise<AttemptRow> {
  const { eventId, attempt, body } = event
  const { at } = times
  const timestamp = Math.floor(at.getTime() / 1000)
  const startMs = times.monotonicMs()
  const signature = signWith(sealing, webhook, { at, signed: { id: eventId, timestamp, body } })
  const headers = { 'webhook-id': eventId, 'webhook-timestamp': String(timestamp) }
  const posted: Posted =
    signature === undefined
      ? { status: null, error: 'the secret cannot be opened: the operator has changed SECRETS_KEY; replace the secret' }
      : await post({ url: webhook.url, headers: { ...headers, 'webhook-signature': signature }, body }, sending)
  const durationMs = Math.round(times.monotonicMs() - startMs)
  return { ...posted, id: newId(), webhookId: webhook.id, eventId, attempt, at, durationMs }
}

/** Undefined where the secrets were sealed with another key. */
function signWith(
  sealing: Sealing,
  webhook: SecretRow,
  { at, signed }: { at: Date; signed: Parameters<typeof sign>[1] },
): string | undefined {
  try {
    return sign(openSecrets(sealing, webhook, at), signed)
  } catch {
    return undefined
  }
}
