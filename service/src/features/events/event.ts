import T, { type Static } from 'typebox'
import { formatTs } from '../../kernel/clock.js'
import { ChainId, Nullable, Ts, Uuid } from '../../kernel/wire.js'
import { formatCursor } from './cursor.js'
import type { FeedRow } from './storeFeed.js'

/** Facts that every key sees. */
export const publicTypes = [
  'interaction.confirmed',
  'interaction.retracted',
  'request.claimable',
  'request.claimed',
  'request.cancelled',
  'vault.paused',
  'vault.resumed',
  'vault.capability',
  'vault.withheld',
  'chain.final',
  'chain.stalled',
  'chain.resumed',
  'stream.created',
  'stream.snapshot',
  'stream.vetoed',
  'stream.committed',
  'stream.claimed',
] as const

/** Facts that their own organization alone sees. */
export const ownTypes = [
  'order.created',
  'order.attempt',
  'order.filled',
  'order.cancelled',
  'order.expired',
  'key.revoked',
  'key.budget',
  'webhook.disabled',
] as const

export const eventTypes = [...publicTypes, ...ownTypes] as const

export const subjectKinds = ['wallet', 'opportunity', 'order', 'stream', 'chain', 'key', 'webhook'] as const

/** A text in the document: there will be more types. */
export const EventType = T.String({ description: `One of ${eventTypes.join(', ')}`, examples: [eventTypes[0]] })

export const EventSchema = T.Object(
  {
    id: Uuid,
    cursor: T.String({ description: 'Where to go on from after this event' }),
    type: EventType,
    timestamp: Ts,
    chainId: Nullable(ChainId),
    late: T.Boolean({ description: 'It became true long ago, and is only known now' }),
    subject: T.Object({ kind: T.Enum([...subjectKinds]), id: T.String() }),
    data: T.Record(T.String(), T.Unknown(), {
      description: 'The object as the operation that reads it returned it when the event was told',
    }),
  },
  { title: 'Event' },
)

export type EarnEvent = Static<typeof EventSchema>

/** The wire form of an event. */
export function toEvent(row: FeedRow): EarnEvent {
  return {
    id: row.eventId,
    cursor: formatCursor(row),
    type: row.type,
    timestamp: formatTs(row.at),
    chainId: row.chainId,
    late: row.late,
    subject: { kind: row.subjectKind as EarnEvent['subject']['kind'], id: row.subjectId },
    data: row.data as EarnEvent['data'],
  }
}
