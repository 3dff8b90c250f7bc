import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  StorageType,
} from '@nats-io/jetstream'
import { connect, credsAuthenticator, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node'
import { failedPrecondition, unavailable } from '../../../kernel/errors.js'
import type { EarnEvent } from '../event.js'
import type { Sink } from './forwardEvents.js'

export type JetStreamSettings = {
  /** `nats://` or `tls://`, host and port, with user and password or a token if there are any. */
  url: URL
  /** The content of a file of NATS credentials. */
  credentials?: Uint8Array | undefined
  /** It is made unless there is one. */
  stream: string
  /** Begins the subject of each message; the event's type follows. */
  prefix: string
  /** A stream that was emptied may be begun anew. */
  mayBegin: boolean
}

const answerMs = 5_000
const reconnectMs = 250

/**
 * A JetStream of NATS as a sink of events. A message has the event as JSON, the subject `PREFIX.TYPE`, and the event's id as
 * `Nats-Msg-Id`. Each message names the sequence that it follows, so that none is stored twice or out of order, even where two
 * processes forward to one stream.
 */
export function openJetStream(settings: JetStreamSettings): Sink & { close(): Promise<void> } {
  const { stream, prefix, mayBegin } = settings
  let opened: Promise<{ connection: NatsConnection; manager: JetStreamManager }> | undefined
  let sequence = 0
  const open = async () => {
    if (opened && (await opened).connection.isClosed()) opened = undefined
    opened ??= openConnection(settings)
    return opened.catch((error: unknown) => {
      opened = undefined
      throw error
    })
  }
  return {
    findLast: async () => {
      const { manager } = await open()
      const { state } = await findOrAddStream(manager, { stream, prefix })
      sequence = state.last_seq
      const message = await manager.streams.getMessage(stream, { last_by_subj: `${prefix}.>` })
      if (!message) {
        if (state.last_seq === 0 || mayBegin) return undefined
        throw failedPrecondition(
          `the stream ${stream} has had messages and holds no event, so nothing says where to go on: name --after`,
        )
      }
      const { cursor } = message.json<Partial<EarnEvent>>()
      if (typeof cursor === 'string') return cursor
      throw failedPrecondition(`the last message of ${prefix}.> in the stream ${stream} is no event`)
    },
    append: async (events) => {
      const { manager } = await open()
      const client = manager.jetstream()
      const first = sequence
      const sent = await Promise.allSettled(
        events.map((event, index) =>
          client.publish(`${prefix}.${event.type}`, JSON.stringify(event), {
            msgID: event.id,
            timeout: answerMs,
            expect: { streamName: stream, lastSequence: first + index },
          }),
        ),
      )
      const failed = sent.find((each) => each.status === 'rejected')
      if (failed) throw failed.reason
      sequence = first + events.length
    },
    close: async () => {
      const held = await opened?.catch(() => undefined)
      await held?.connection.close()
    },
  }
}

async function openConnection({ url, credentials }: JetStreamSettings) {
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const options: NodeConnectionOptions = {
    servers: url.host,
    name: 'openearn',
    timeout: answerMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectMs,
    ...(url.protocol === 'tls:' ? { tls: {} } : {}),
    ...(password ? { user: username, pass: password } : username ? { token: username } : {}),
    ...(credentials === undefined ? {} : { authenticator: credsAuthenticator(credentials) }),
  }
  const connection = await connect(options).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw unavailable(`NATS at ${url.host} cannot be reached: ${why}`, { cause: error })
  })
  return { connection, manager: await jetstreamManager(connection, { timeout: answerMs, checkAPI: false }) }
}

async function findOrAddStream(manager: JetStreamManager, { stream, prefix }: { stream: string; prefix: string }) {
  try {
    return await manager.streams.info(stream)
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== JetStreamApiCodes.StreamNotFound) throw error
    return manager.streams.add({ name: stream, subjects: [`${prefix}.>`], storage: StorageType.File })
  }
}
