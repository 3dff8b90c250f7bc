import type { As, Page, PageQuery } from './contractItems.js'

type Event = {
  id: string
  cursor: string
  type: string
  timestamp: string
  chainId: number | null
  late: boolean
  subject: { kind: 'wallet' | 'opportunity' | 'order' | 'stream' | 'chain' | 'key' | 'webhook'; id: string }
  data: { [name: string]: unknown }
}
type Webhook = {
  id: string
  url: string
  types: string[]
  enabled: boolean
  late: boolean
  disabledReason: string
  createdAt: string
  lastDeliveryAt: string | null
  failing: number
}
type Delivery = {
  id: string
  eventId: string
  attempt: number
  at: string
  status: number | null
  durationMs: number
  error: string
}
type OfWebhook = { webhookId: string }
type Nothing = { [name: string]: unknown }

/** Operations of events and webhooks, as the contract writes them. */
export type EventOperations = {
  GetEvents: As<{
    query: { after?: string; types?: string[]; limit?: number; waitSeconds?: number }
    answer: { data: Event[]; next: string }
  }>
  StreamEvents: As<{ query: { subject: string }; answer: Event }>
  ListWebhooks: As<{ answer: { data: Webhook[] } }>
  CreateWebhook: As<{
    body: { url: string; types?: string[]; late?: boolean; secret?: string }
    answer: Webhook & { secret: string }
  }>
  UpdateWebhook: As<{
    path: OfWebhook
    body: { url?: string; types?: string[]; enabled?: boolean; late?: boolean }
    answer: Webhook
  }>
  DeleteWebhook: As<{ path: OfWebhook; body: Nothing; answer: Webhook }>
  RotateWebhookSecret: As<{
    path: OfWebhook
    body: { overlapSeconds?: number; secret?: string }
    answer: Webhook & { secret: string }
  }>
  TestWebhook: As<{ path: OfWebhook; body: Nothing; answer: Delivery }>
  ReplayWebhook: As<{ path: OfWebhook; body: { after: string }; answer: Webhook }>
  ListWebhookDeliveries: As<{ path: OfWebhook; query: PageQuery; answer: Page<Delivery> }>
}
