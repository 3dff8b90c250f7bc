import { readFile } from 'node:fs/promises'
import { forwardEvents, openJetStream } from '../features/events/forward/index.js'
import { openFeed } from '../features/events/index.js'
import type { Clock } from '../kernel/clock.js'
import { readEnv } from '../kernel/config.js'
import { withContext } from './command.js'
import { answer, type Command, parseFlags, print, requireFlag, UsageError } from './terminal.js'

const usage = `openearn events forward --to nats://HOST:PORT [--stream NAME] [--prefix SUBJECT] [--creds FILE] [--after CURSOR] [--once]

Copies every event into a stream of NATS JetStream, each once and in order, and goes on with those that come until it is
stopped. After a break the same command goes on after the last event in the stream. The stream (openearn) is made unless there
is one; a message's subject is the prefix (openearn.events) and the event's type. --after says where an empty stream begins:
\`next\` of GetEvents, the cursor of an event, or latest; without it, the oldest event that is kept. With --once it ends when
everything is there. tls://HOST:PORT is encrypted; user and password or a token go into the url, or into NATS_URL, which is
used without --to.`

export const events: Command = {
  usage,
  run: async ([verb, ...words]) => {
    if (verb !== 'forward') throw new UsageError(`events: say forward\n${usage}`)
    await forward(words)
  },
}

const names = /^[A-Za-z0-9_-]{1,64}$/
const subjects = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/
const flags = {
  to: { type: 'string' },
  stream: { type: 'string' },
  prefix: { type: 'string' },
  creds: { type: 'string' },
  after: { type: 'string' },
  once: { type: 'boolean' },
} as const

/** How often it says how far it is. */
const progressMs = 10_000

async function forward(words: string[]): Promise<void> {
  const { values } = parseFlags(words, flags)
  const { stream = 'openearn', prefix = 'openearn.events', creds, after, once = false } = values
  const url = parseUrl(requireFlag(values.to ?? readEnv()['NATS_URL'], 'to'))
  if (!names.test(stream)) throw new UsageError('--stream: letters, digits, - and _, at most 64')
  if (!subjects.test(prefix)) throw new UsageError('--prefix: words of letters, digits, - and _, with dots between')
  const credentials = creds === undefined ? undefined : await readCredentials(creds)
  await withContext(async (ctx) => {
    const stopping = new AbortController()
    const stop = () => stopping.abort()
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop)
    const { signal } = stopping
    const feed = await openFeed(ctx, { signal })
    const sink = openJetStream({ url, credentials, stream, prefix, mayBegin: after !== undefined })
    let forwarded = 0
    const say = createProgress(ctx.clock)
    try {
      await forwardEvents({ ...ctx, feed }, sink, {
        ...{ after, once, signal },
        onProgress: ({ done, left }) => {
          forwarded = done
          say(done, left)
        },
      })
    } finally {
      await feed.close()
      await sink.close()
    }
    answer({ forwarded }, [`forwarded ${forwarded} events`])
  })
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // The text may hold a password: it is not repeated.
  if (!url?.host || !isDecodable(url) || (url.protocol !== 'nats:' && url.protocol !== 'tls:'))
    throw new UsageError('--to must be nats://HOST:PORT or tls://HOST:PORT')
  return url
}

/** User and password, or a token, may have signs as a url writes them. */
function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password)
    return true
  } catch {
    return false
  }
}

async function readCredentials(file: string): Promise<Uint8Array> {
  return readFile(file).catch(() => {
    throw new UsageError(`--creds: ${file} cannot be read`)
  })
}

/** Prints how far it is while more than a moment's work is left. */
function createProgress(clock: Pick<Clock, 'monotonicMs'>) {
  const startMs = clock.monotonicMs()
  let saidMs = startMs
  return (done: number, left: number): void => {
    const nowMs = clock.monotonicMs()
    if (left === 0 || nowMs - saidMs < progressMs) return
    saidMs = nowMs
    const rate = (done * 1_000) / (nowMs - startMs)
    const percent = Math.floor((done / (done + left)) * 100)
    print(
      `${percent} %, ${done} of ${done + left} events, ${Math.round(rate)} a second, ${Math.ceil(left / rate)} s left`,
    )
  }
}
