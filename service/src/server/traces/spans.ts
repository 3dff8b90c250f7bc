import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../kernel/clock.js'

/** Words and numbers that say what a span was; never a value of a caller, a key, or a url beyond its host. */
export type SpanAttributes = Readonly<Record<string, string | number>>
export type SpanKind = 'server' | 'client'
/** One step of a request's work, as it is exported. */
export type Span = {
  traceId: string
  spanId: string
  parentId: string | undefined
  name: string
  kind: SpanKind
  startMs: number
  endMs: number
  attributes: SpanAttributes
  isFailed: boolean
}

type Described = { name: string; attributes: SpanAttributes }
type Place = { traceId: string; spanId: string; parentId: string | undefined; wallMs: number; beganMs: number }

/** Follows requests into what they ask of others. */
export type Spans = {
  /**
   * Decides whether a request is followed, before anything is made for it, and by nothing that its caller sent: true where it
   * is from now on, until its `end`.
   */
  begin(request: object, parent: () => { traceId: string; spanId: string } | undefined): boolean
  traceIdOf(request: object): string | undefined
  /** Does work of a request: what it asks of others belongs to it. */
  within<T>(request: object, work: () => T): T
  end(request: object, described: Described & { isFailed: boolean }): void
  /** True in the work of a request that is followed. */
  isFollowed(): boolean
  /** Does something in a span of its own. Call it where `isFollowed`. `failureOf` names a failure without its words. */
  child<T>(described: Described, work: () => Promise<T>, failureOf: (error: unknown) => string): Promise<T>
}

export type SpansOptions = {
  ratio: number
  clock: Pick<Clock, 'now' | 'monotonicMs'>
  onSpan: (span: Span) => void
  random?: () => number
}

export function createSpans({ ratio, clock, onSpan, random = Math.random }: SpansOptions): Spans {
  const storage = new AsyncLocalStorage<Place>()
  const places = new WeakMap<object, Place>()
  // Following costs every promise of the process something, so that it is switched off while nobody is followed.
  let open = 0
  const current = () => (open === 0 ? undefined : storage.getStore())
  const timesOf = ({ wallMs, beganMs }: Place, fromMs: number) => ({
    startMs: wallMs + fromMs - beganMs,
    endMs: wallMs + clock.monotonicMs() - beganMs,
  })
  return {
    begin: (request, findParent) => {
      if (random() >= ratio || places.has(request)) return false
      const parent = findParent()
      const traceId = parent?.traceId ?? randomBytes(16).toString('hex')
      const times = { wallMs: clock.now().getTime(), beganMs: clock.monotonicMs() }
      places.set(request, { traceId, spanId: newSpanId(), parentId: parent?.spanId, ...times })
      open += 1
      return true
    },
    traceIdOf: (request) => places.get(request)?.traceId,
    within: (request, work) => {
      const place = places.get(request)
      return place ? storage.run(place, work) : work()
    },
    end: (request, described) => {
      const place = places.get(request)
      if (!place) return
      places.delete(request)
      open -= 1
      if (open === 0) storage.disable()
      const { traceId, spanId, parentId, beganMs } = place
      onSpan({ traceId, spanId, parentId, kind: 'server', ...timesOf(place, beganMs), ...described })
    },
    isFollowed: () => current() !== undefined,
    child: async ({ name, attributes }, work, failureOf) => {
      const place = current()
      if (!place) return work()
      const own = { ...place, spanId: newSpanId() }
      const fromMs = clock.monotonicMs()
      const tell = (more: SpanAttributes, isFailed: boolean) =>
        onSpan({
          ...{ traceId: place.traceId, spanId: own.spanId, parentId: place.spanId, kind: 'client', name },
          ...{ ...timesOf(place, fromMs), attributes: { ...attributes, ...more }, isFailed },
        })
      try {
        const result = await storage.run(own, work)
        tell({}, false)
        return result
      } catch (error) {
        tell({ 'error.type': failureOf(error) }, true)
        throw error
      }
    },
  }
}

const newSpanId = () => randomBytes(8).toString('hex')
