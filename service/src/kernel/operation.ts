import type { Static, TObject, TSchema } from 'typebox'
import type { Context } from './context.js'

/** Who may call: anyone, any key, secret keys only. */
export type Access = 'public' | 'publishable' | 'secret'

export type KeyKind = 'publishable' | 'secret'

/** The key behind a request and what it may do. */
export type Caller = {
  keyId: string
  kind: KeyKind
  organizationId: string
  /** The only distributor this key may act for, when it is bound to one. */
  distributorId: string | null
  permissions: readonly string[]
}

/** The caller of a public operation. */
export const anonymous: Caller = {
  keyId: '',
  kind: 'publishable',
  organizationId: '',
  distributorId: null,
  permissions: [],
}

export type Method = 'GET' | 'POST'

/** Statuses of an operation in addition to 401, 429 and 500, each with its meaning. `200` is the body's schema. */
export type Responses = { 200: TSchema } & { [status in 400 | 403 | 404 | 409 | 410 | 412 | 413 | 415 | 503]?: string }

/** Raw query names to their values in order of appearance, before any parsing. */
export type RawQuery = ReadonlyMap<string, readonly string[]>

/** A body serialised beforehand: its parts, sent as they are. `digest`, when known, is the same only for the same bytes. */
export class PreparedBody {
  constructor(
    readonly parts: readonly Uint8Array[],
    readonly digest?: Uint8Array,
  ) {}
}

/** Where a live response is written: frames of server-sent events. */
export type LiveSink = { write(frame: string): void; end(): void }

/** A response that goes on. `start` begins to write, and returns a function that ends it. */
export class LiveBody {
  constructor(readonly start: (sink: LiveSink) => () => void) {}
}

const mark = Symbol('written')

/**
 * The result of an operation that writes. `write` runs in the transaction that commits before the body is sent. It holds
 * constraints, not checks: it may throw an EarnError, it awaits the database alone, and it may run again in another
 * transaction. Its ids and times are made before.
 */
export type Written<Body, Tx> = { readonly [mark]: true; readonly body: Body; readonly write: Write<Tx> }

export type Write<Tx> = (tx: Tx) => Promise<void>

export function written<Body, Tx>(body: Body, write: Write<Tx>): Written<Body, Tx> {
  return { [mark]: true, body, write }
}

/** False for every body, whatever members it has. */
export function isWritten(result: unknown): result is Written<unknown, unknown> {
  return typeof result === 'object' && result !== null && mark in result
}

/**
 * An endpoint as data: registration, validation, the OpenAPI document, cost and access all read this.
 * `run` gets path, query and body members merged into one parsed input.
 */
export type Operation<C = Context> = {
  readonly operationId: string
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly access: Access
  readonly permission?: string
  /** Cost units, or a pure function of the raw query. */
  readonly cost: number | ((query: RawQuery) => number)
  /** Units beyond `cost`, by how much there is to answer. Asked before the call is charged, so it has to be cheap. */
  readonly costMore?: (ctx: C, input: never) => Promise<number>
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TSchema
  /** Name of the body's schema in the OpenAPI document. */
  readonly bodyName?: string
  readonly responses: Responses
  /**
   * Answers carry a strong ETag and honour If-None-Match. Returns the object that responses depend on apart from the
   * request, for all callers: while it is the same object, the same request has the same response.
   */
  readonly cacheable?: (ctx: C) => object
  /** A call with a publishable key also takes a token from the bucket of its address. */
  readonly addressLimited?: boolean
  /** Throws where the caller may not have an answer of this input that is kept under an Idempotency-Key. */
  readonly assertMayRepeat?: (ctx: C, input: never, caller: Caller) => void
  /** Its 200 is a `LiveBody`, a stream of events of this schema. Its input has `lastEventId`, the header `Last-Event-ID`. */
  readonly isLive?: boolean
  /** Members of its response that are shown once: a repetition under an Idempotency-Key has them empty. */
  readonly hidden?: readonly string[]
  /** It may keep a processor for long: a key has only a few of them at once. */
  readonly isHeavy?: boolean
  /** All its errors say in `context.retryable` whether the same request may succeed later, as every 503 does. */
  readonly tellsRetryable?: boolean
  /** Returns the body, or `written` where it writes: nothing is written on the way. */
  run(ctx: C, input: never, caller: Caller): Promise<unknown>
}

type Part<S extends TSchema | undefined> = S extends TSchema ? Static<S> : unknown

type Descriptor<C, P extends TObject | undefined, Q extends TObject | undefined, B extends TSchema | undefined> = Omit<
  Operation<C>,
  'params' | 'query' | 'body' | 'run'
> & {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly run: (ctx: C, input: Part<P> & Part<Q> & Part<B>, caller: Caller) => Promise<unknown>
}

/** Declares an operation; the input type of `run` follows from the schemas. */
export function defineOperation<
  C,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(descriptor: Descriptor<C, P, Q, B>): Operation<C> {
  return descriptor as unknown as Operation<C>
}
