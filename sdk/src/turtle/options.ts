import type { Error as ErrorBody } from '../client/generated/types.js'
import type { Interceptors } from './interceptors.js'

/** The settings of a client, and of one call. */
export type Config = {
  /** The url of the service, without a path of an operation. */
  baseUrl?: string | undefined
  /** The key, or what gives it; sent as `X-API-Key` unless the headers hold a key. */
  auth?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** A value of null takes a header away. */
  headers?: Headers | Readonly<Record<string, string | number | boolean | null | undefined>> | undefined
  /** Used instead of the global `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined
  signal?: AbortSignal | null | undefined
  /** Throw an error rather than answer it; false unless given. */
  throwOnError?: boolean | undefined
}

/** One call, as interceptors see it. */
export type RequestOptions = Config & {
  client?: Client | undefined
  path?: object | undefined
  query?: object | undefined
  body?: unknown
}

export type Client = {
  /** Changes the configuration; members that are not named stay, headers are merged. */
  setConfig(config: Config): Config
  getConfig(): Config
  interceptors: {
    request: Interceptors<(request: Request, options: RequestOptions) => Request | Promise<Request>>
    response: Interceptors<
      (response: Response, request: Request, options: RequestOptions) => Response | Promise<Response>
    >
    error: Interceptors<
      (error: unknown, response: Response | undefined, request: Request, options: RequestOptions) => unknown
    >
  }
}

export type Call = { method: string; path: string }
export type ErrorOf = ErrorBody

/** The parts of a request of one operation. */
type Data = { path?: unknown; query?: unknown; body?: unknown; url: string }

type Given<D extends Data, T extends boolean> = Omit<D, 'url'> &
  Omit<Config, 'throwOnError'> & { throwOnError?: T | undefined; client?: Client | undefined }

/** The outcome of a call: `data` or `error`, with the request, and the response where one came. */
export type RequestResult<R, T extends boolean> = T extends true
  ? { data: R; request: Request; response: Response }
  : ({ data: R; error: undefined } | { data: undefined; error: ErrorOf }) & { request: Request; response: Response }

/** One operation. */
export type TurtleOperation<D extends Data, R> = <T extends boolean = false>(
  ...given: Record<never, never> extends Omit<D, 'url'> ? [options?: Given<D, T>] : [options: Given<D, T>]
) => Promise<RequestResult<R, T>>
