import { send } from './client.js'
import type { RequestOptions, TurtleOperation } from './options.js'

type Data = { path?: unknown; query?: unknown; body?: unknown; url: string }

const operation =
  (method: string) =>
  <D extends Data, R>(path: D['url']): TurtleOperation<D, R> =>
    ((options: RequestOptions = {}) => send({ method, path }, options)) as unknown as TurtleOperation<D, R>

/** An operation that reads. */
export const get = /*#__PURE__*/ operation('GET')
/** An operation with a body. */
export const post = /*#__PURE__*/ operation('POST')
