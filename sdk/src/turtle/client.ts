import { createInterceptors } from './interceptors.js'
import type { Call, Client, Config, ErrorOf, RequestOptions } from './options.js'

/** The outcome of a call: an answer or an error, the request, and the response where one came. */
export type Outcome = { data?: unknown; error?: unknown; request: Request; response: Response | undefined }

/** A client of a service, with a configuration and interceptors of its own. */
export function createClient(config: Config = {}): Client {
  let present = merge({}, config)
  const client: Client = {
    setConfig: (more) => {
      present = merge(present, more)
      return client.getConfig()
    },
    getConfig: () => ({ ...present }),
    interceptors: { request: createInterceptors(), response: createInterceptors(), error: createInterceptors() },
  }
  return client
}

const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {}

/** The client of every call that names no other. In Node it is configured by the two variables that the origin's users set. */
const common = /*#__PURE__*/ createClient({
  baseUrl: environment['TURTLE_BASE_URL'],
  auth: environment['TURTLE_API_KEY'],
})

export { common as client }

/** Sends one call by the client of its options. */
export async function send(call: Call, given: RequestOptions): Promise<Outcome> {
  const { client = common } = given
  const options = merge(client.getConfig(), given)
  let request = await makeRequest(call, options)
  for (const fn of client.interceptors.request.fns) if (fn) request = await fn(request, options)
  assertNoSecret(request)
  const { fetch = globalThis.fetch } = options
  let response: Response
  try {
    response = await fetch(request)
  } catch (error) {
    return fail(client, error, { request, response: undefined }, options)
  }
  for (const fn of client.interceptors.response.fns) if (fn) response = await fn(response, request, options)
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    // It ends in the middle.
    return fail(client, error, { request, response }, options)
  }
  const { value, problem } = parse(text)
  if (response.ok && !problem) return { data: value, request, response }
  return fail(client, response.ok ? problem : problem ? text : value, { request, response }, options)
}

/** An error as the interceptors leave it: thrown where that is asked for, else a member of the outcome. */
async function fail(
  client: Client,
  error: unknown,
  { request, response }: Omit<Outcome, 'data' | 'error'>,
  options: RequestOptions,
): Promise<Outcome> {
  let told = error
  for (const fn of client.interceptors.error.fns) if (fn) told = await fn(told, response, request, options)
  told ||= {} satisfies Partial<ErrorOf>
  if (options.throwOnError) throw told
  return { error: told, request, response }
}

/** The value that a text is in JSON, an empty object for nothing; or the error of the parser. */
function parse(text: string): { value?: unknown; problem?: unknown } {
  try {
    return { value: text ? JSON.parse(text) : {} }
  } catch (problem) {
    return { problem }
  }
}

async function makeRequest({ method, path }: Call, options: Merged): Promise<Request> {
  const { baseUrl, auth, body, signal } = options
  if (!baseUrl) throw new TypeError('no service to call: client.setConfig({ baseUrl: … })')
  const headers = new Headers(options.headers)
  const isKeyGiven = headers.has('x-api-key') || headers.has('authorization')
  const key = isKeyGiven ? undefined : typeof auth === 'function' ? await auth() : auth
  if (key) headers.set('x-api-key', key)
  if (body !== undefined) headers.set('content-type', 'application/json')
  return new Request(baseUrl + fill(path, options.path ?? {}) + queryOf(options.query ?? {}), {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body, (_, value) => asText(value)),
    signal: signal ?? null,
    // A redirect is not followed: the key would travel on with it.
    redirect: 'manual',
  })
}

const asText = (value: unknown) => (typeof value === 'bigint' ? `${value}` : value)

const textOf = (value: unknown) => (value instanceof Date ? value.toJSON() : `${value}`)

/** Puts members into the path. `.` and `..` would name another operation. */
const fill = (path: string, members: object) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = textOf((members as Record<string, unknown>)[name] ?? '')
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`path.${name} is needed`)
    return encodeURIComponent(value)
  })

function queryOf(members: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members))
    if (value != null) for (const each of [value].flat()) query.append(name, textOf(each))
  return query.size ? `?${query}` : ''
}

/** A secret key in a page is everybody's. */
function assertNoSecret({ headers }: Request): void {
  if (!('document' in globalThis)) return
  const keys = [headers.get('x-api-key'), headers.get('authorization')]
  if (keys.some((key) => key && /^(Bearer )?sk_/i.test(key))) throw new TypeError('no secret key in a page')
}

type Merged = RequestOptions & { headers: Headers }

/** Two configurations as one. A header that is null is taken away. */
function merge(a: Config, b: RequestOptions): Merged {
  const headers = new Headers()
  for (const part of [a.headers, b.headers])
    for (const [name, value] of part instanceof Headers ? part : Object.entries(part ?? {})) {
      if (value === null) headers.delete(name)
      else if (value !== undefined) headers.set(name, `${value}`)
    }
  const baseUrl = (b.baseUrl ?? a.baseUrl)?.replace(/\/+$/, '')
  return { ...a, ...b, baseUrl, headers }
}
