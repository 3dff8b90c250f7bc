import type { EarnClient } from './client.js'
import { follow, type Live, type LiveOptions } from './live.js'
import { type CallOptions, send } from './send.js'

type Given<P> =
  Record<never, never> extends P ? [params?: P, options?: CallOptions] : [params: P, options?: CallOptions]

/** One operation of the service: path, query and body are one object. Throws `EarnError`. */
export type Operation<P, R> = (client: EarnClient, ...given: Given<P>) => Promise<R>

/** An operation that returns pages, whose items stand in the member `items`; `all` walks over them. */
export type PagedOperation<P, R, Item> = Operation<P, R> & { readonly items: string; readonly item?: Item }

/** An operation that reads. */
export const get =
  <P, R>(name: string, path: string): Operation<P, R> =>
  (client, ...[params, options]) => {
    const rest = { ...params }
    const filled = fill(name, path, rest)
    return send(client, { name, method: 'GET', path: filled + queryOf(rest), body: null }, options) as Promise<R>
  }

/** An operation that reads pages of `items`. */
export const getPages = <P, R, Item>(name: string, path: string, items: string): PagedOperation<P, R, Item> =>
  Object.assign(get<P, R>(name, path), { items })

/** An operation with a body; `query` names the members that stand in the query instead. */
export const post =
  <P, R>(name: string, path: string, query: readonly string[] = []): Operation<P, R> =>
  (client, ...[params, options = {}]) => {
    const rest: Values = { ...params }
    const inQuery: Values = {}
    const filled = fill(name, path, rest)
    for (const key of query) {
      inQuery[key] = rest[key]
      delete rest[key]
    }
    const body = JSON.stringify(rest, (_, value) => (typeof value === 'bigint' ? textOf(value) : value))
    const { idempotencyKey = newKey() } = options
    const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey }
    const request = { name, method: 'POST', path: filled + queryOf(inQuery), body, headers }
    return send(client, request, options) as Promise<R>
  }

/** An operation with a body that returns pages of `items`. */
export const postPages = <P, R, Item>(
  name: string,
  path: string,
  items: string,
  query: readonly string[],
): PagedOperation<P, R, Item> => Object.assign(post<P, R>(name, path, query), { items })

/** An operation whose response goes on: events as they come. */
export type LiveOperation<P, R> = (
  client: EarnClient,
  params: P,
  options?: LiveOptions,
) => AsyncGenerator<R, void, undefined>

/** An operation that streams. */
export const live =
  <P extends object, R extends Live>(name: string, path: string): LiveOperation<P, R> =>
  (client, params, options) =>
    follow(client, { name, method: 'GET', path: path + queryOf(params as Values), body: null }, options)

type Values = Record<string, unknown>

/** Puts members into the path and takes them out of `rest`. */
const fill = (name: string, path: string, rest: Values) =>
  path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = textOf(rest[key] ?? '')
    delete rest[key]
    // `.` and `..` would name another operation.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} needs ${key}`)
    return encodeURIComponent(value)
  })

function queryOf(values: Values): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(values))
    if (value != null) query.set(key, [value].flat().map(textOf).join())
  return query.size ? `?${query}` : ''
}

const textOf = (value: unknown) => (value instanceof Date ? value.toJSON() : `${value}`)

/** Random, also in pages without https, which have no `randomUUID`. */
const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-')
