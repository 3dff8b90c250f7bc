import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import { List } from '../../kernel/wire.js'
import { EventSchema } from './event.js'
import type { EventsContext } from './feed.js'
import { getEvents } from './getEvents.js'
import { streamEvents } from './streamEvents.js'

/** The operations of events. */
export const feedOperations: readonly Operation<EventsContext>[] = [
  defineOperation({
    operationId: 'GetEvents',
    method: 'GET',
    path: '/v2/events',
    access: 'secret',
    cost: 1,
    tag: 'Events',
    summary: 'Read events',
    description:
      'What became true, and what stopped being true, each once and in order. Keep `next` with what you did, and send it as ' +
      '`after`. Where nothing is new, the call waits up to `waitSeconds`.',
    query: T.Object({
      after: T.Optional(
        T.String({
          description:
            'A cursor: `next`, or that of an event. Absent: from the oldest event that is kept. `latest`: from now on',
        }),
      ),
      types: T.Optional(List({ asArray: true, description: 'Only events of these types; absent: all' })),
      limit: T.Optional(T.Integer({ minimum: 1, maximum: 500, default: 100 })),
      waitSeconds: T.Optional(T.Integer({ minimum: 0, maximum: 25, default: 0 })),
    }),
    responses: {
      200: T.Object({ data: T.Array(EventSchema), next: T.String({ description: 'The cursor to go on from' }) }),
      400: 'A parameter is malformed',
      410: 'The event of the cursor is not in the feed (reason `CURSOR_GONE`); `context.oldest` is a valid cursor',
    },
    run: getEvents,
  }),
  defineOperation({
    operationId: 'StreamEvents',
    method: 'GET',
    path: '/v2/events/live',
    access: 'publishable',
    cost: 1,
    tag: 'Events',
    isLive: true,
    summary: 'Follow events live',
    description:
      'Server-sent events of one subject, as they are told; read it with `fetch`, as the key is a header. The `id` of each is ' +
      'its cursor, and a `Last-Event-ID` goes on after it. An event `gone` says that this cursor is lost. The stream ends ' +
      'after 10 minutes: connect again after `retry` milliseconds. Each minute costs a unit more.',
    query: T.Object({
      subject: T.String({
        description: '`wallet:0x…` (of all chains), `opportunity:<uuid>` or `order:<uuid>`',
        examples: [`wallet:0x${'5f'.repeat(20)}`],
      }),
    }),
    responses: { 200: EventSchema, 400: 'The subject or the cursor is malformed' },
    run: streamEvents,
  }),
]
