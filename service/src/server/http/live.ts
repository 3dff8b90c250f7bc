import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isLoopback, networkOf } from '../../features/limits/index.js'
import { resourceExhausted } from '../../kernel/errors.js'
import type { LiveBody } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'
import { type Admission, type Gate, single, toAllowance } from './admit.js'
import { readAuthorization } from './head.js'

/** How long a stream is open at most, how often it shows that it is, and how often its key pays for it. */
const openMs = 600_000
const beatMs = 15_000
const unitMs = 60_000
/** Streams of a key in a process. */
const keyMax = 1_000
/** Streams of an address, unless the setting says otherwise. */
const addressMax = 5
/** Bytes that may wait for a caller that does not read. */
const waitingMax = 256 * 1024
const tickMs = 1_000

type Stream = {
  response: ServerResponse
  request: FastifyRequest
  atMs: { end: number; beat: number; unit: number }
  end(): void
}

/** The live responses of a process. */
export type LiveStreams = {
  /** Throws 429 where the address or the key has as many streams as it may. */
  assertRoom(request: FastifyRequest, admission: Admission): void
  serve(request: FastifyRequest, reply: FastifyReply, admission: Admission, body: LiveBody): void
  /** Ends all. */
  stop(): void
}

export function createLiveStreams({ ctx, ...gate }: Gate & { ctx: Context }): LiveStreams {
  const { clock, config, log } = ctx
  const streams = new Set<Stream>()
  const counts = new Map<string, number>()
  const count = (name: string, by: number) => {
    const now = (counts.get(name) ?? 0) + by
    if (now > 0) counts.set(name, now)
    else counts.delete(name)
  }
  let timer: NodeJS.Timeout | undefined
  const nameOf = (request: FastifyRequest, { key }: Admission) => ({
    key: `key ${key.caller.keyId}`,
    address: `address ${networkOf(request.ip)}`,
  })
  const mostOf = (request: FastifyRequest) =>
    config.streamsPerAddress ?? (isLoopback(request.ip) ? Number.POSITIVE_INFINITY : addressMax)

  const tick = () => {
    const nowMs = clock.monotonicMs()
    for (const stream of streams) {
      const { atMs, response } = stream
      if (nowMs >= atMs.end) stream.end()
      else if (nowMs >= atMs.beat) {
        atMs.beat = nowMs + beatMs
        response.write(':\n\n')
        void keep(stream, nowMs)
      }
    }
  }
  /** A stream of a key that was revoked, or whose budget is used up, ends. */
  const keep = async (stream: Stream, nowMs: number) => {
    const { headers } = stream.request
    try {
      const key = await gate.authenticate({
        apiKey: single(headers['x-api-key']),
        authorization: readAuthorization(stream.request.raw),
      })
      if (nowMs < stream.atMs.unit) return
      stream.atMs.unit = nowMs + unitMs
      const charge = await gate.limits.budgets.charge(toAllowance(key, stream.request), 1)
      if (!charge.granted) stream.end()
    } catch (error) {
      log.debug({ err: error }, 'a live stream ends')
      stream.end()
    }
  }

  return {
    assertRoom: (request, admission) => {
      const { key, address } = nameOf(request, admission)
      const full = (counts.get(address) ?? 0) >= mostOf(request) ? 'address' : undefined
      if (!full && (counts.get(key) ?? 0) < keyMax) return
      gate.onRefused?.('streams')
      throw resourceExhausted(`this ${full ?? 'key'} has as many live streams open as it may; close one first`, {
        context: { limit: 'streams' },
        retryAfterSeconds: 60,
      })
    },
    serve: (request, reply, admission, body) => {
      const response = reply.raw
      reply.header('Content-Type', 'text/event-stream').header('Cache-Control', 'no-store')
      // A proxy that gathers a response before it hands it on would hold events back.
      reply.header('X-Accel-Buffering', 'no')
      reply.hijack()
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) response.setHeader(name, value)
      response.writeHead(200)
      if (request.method === 'HEAD') {
        response.end()
        return
      }
      response.write(`retry: ${1_000 + Math.floor(Math.random() * 4_000)}\n\n`)
      const nowMs = clock.monotonicMs()
      const names = nameOf(request, admission)
      const end = () => {
        response.end()
      }
      const write = (frame: string) => {
        if (response.writableLength > waitingMax) response.destroy()
        else response.write(frame)
      }
      const stop = body.start({ write, end })
      const atMs = { end: nowMs + openMs, beat: nowMs + beatMs, unit: nowMs + unitMs }
      const stream: Stream = { response, request, end, atMs }
      streams.add(stream)
      count(names.key, 1)
      count(names.address, 1)
      timer ??= setInterval(tick, tickMs).unref()
      response.once('close', () => {
        stop()
        streams.delete(stream)
        count(names.key, -1)
        count(names.address, -1)
        if (streams.size > 0) return
        clearInterval(timer)
        timer = undefined
      })
    },
    stop: () => {
      for (const stream of streams) stream.end()
    },
  }
}
