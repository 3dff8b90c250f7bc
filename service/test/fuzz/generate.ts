import type { seeded } from '../catalogueWorld.js'

type Random = ReturnType<typeof seeded>
// biome-ignore lint/suspicious/noExplicitAny: a document of every shape
type Loose = any

export type Fuzzed = {
  /** The operation aimed at; a request may miss it. */
  operationId: string
  method: string
  url: string
  headers: Record<string, string>
  payload?: string | Buffer
}

/** Values of the world, so that some requests get past the first checks, by the name of the member they fit. */
export type Known = { values: Record<string, readonly unknown[]>; keys: readonly string[] }

const hostileText = [
  '',
  ' ',
  'null',
  'undefined',
  'NaN',
  'true',
  '0',
  '-1',
  '1.5',
  '1e18',
  '00',
  '+1',
  '0x10',
  String(2n ** 256n),
  String(2n ** 256n - 1n),
  '9007199254740993',
  '99999999999999999999999999',
  '0x',
  `0x${'1'.repeat(39)}`,
  `0x${'g'.repeat(40)}`,
  `0X${'AbCdEf0123'.repeat(4)}`,
  `0x${'a'.repeat(63)}`,
  `0x${'F'.repeat(64)}`,
  'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
  '0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8',
  '8e03978e-40d5-43e8-bc93-6894a57f9324',
  '8E03978E-40D5-43E8-BC93-6894A57F9324',
  '8e03978e-40d5-43e8-bc93',
  '00000000-0000-0000-0000-000000000000',
  "' or 1=1 --",
  '"; drop table budgets; --',
  '%',
  '_',
  '\\',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u202e',
  '🚀',
  'ﬀ',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '2026-02-29T00:00:00Z',
  '2026-01-31T12:00:00Z',
  '2026-01-31T12:00:00+02:00',
  '2026-01-31 12:00',
  'a,b,,c',
  ',',
  ','.repeat(300),
  'x'.repeat(300),
  'x'.repeat(10_240),
]

const hostileValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e18,
  1e308,
  2 ** 53,
  [],
  {},
  [null],
  [[[[]]]],
  { toString: 1 },
  { __proto__: null, a: 1 },
  ['a', 'b'],
]

/** Makes requests from the OpenAPI document: some well-formed, most with something wrong in one place or several. */
export function createGenerator(document: Loose, random: Random, known: Known): () => Fuzzed {
  const operations: { path: string; method: string; operation: Loose }[] = Object.entries<Loose>(document.paths)
    .flatMap(([path, item]) => Object.entries<Loose>(item).map(([method, operation]) => ({ path, method, operation })))
    // A live response does not end.
    .filter(({ operation }) => operation.responses['200'].content['application/json'] !== undefined)
  const resolve = (schema: Loose): Loose =>
    schema?.$ref
      ? resolve(
          schema.$ref
            .slice(2)
            .split('/')
            .reduce((part: Loose, name: string) => part[name], document),
        )
      : schema

  const fitting = (schemaRef: Loose, name: string): unknown => {
    const found = resolve(schemaRef) ?? {}
    const schema = Array.isArray(found.type) ? { ...found, type: found.type[0] } : found
    const pool = known.values[name]
    if (schema['x-list-of']) return Array.from({ length: random.integer(4) }, () => fitting(schema['x-list-of'], name))
    if (schema.type === 'array') return Array.from({ length: random.integer(4) }, () => fitting(schema.items, name))
    if (pool && random.chance(0.8)) return random.pick(pool)
    if (schema.enum ?? schema['x-values']) return random.pick(schema.enum ?? schema['x-values'])
    if (schema.anyOf) return fitting(random.pick(schema.anyOf), name)
    if (schema.type === 'object') return buildObject(schema)
    if (schema.type === 'integer') return random.pick([schema.minimum ?? 0, schema.maximum ?? 50, 1, 2, 20, 100])
    if (schema.type === 'number') return random.pick([0, 0.5, 12.25, 1000])
    if (schema.type === 'boolean') return random.chance(0.5)
    if (schema.type === 'null') return null
    const { pattern = '' } = schema
    if (pattern.includes('{40}')) return `0x${hex(40)}`
    if (pattern.includes('{64}')) return `0x${hex(64)}`
    if (pattern.includes('{12}')) return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`
    if (pattern.includes('[0-9]')) return String(random.integer(1_000_000))
    return random.pick(['acme', 'usd', 'USDC', 'x'])
  }
  const hex = (length: number) => Array.from({ length }, () => random.integer(16).toString(16)).join('')
  const wild = (): unknown => (random.chance(0.6) ? random.pick(hostileText) : random.pick(hostileValues))

  /** How likely each part of one request is spoilt: 0 for a well-formed one. */
  let spoil = 0
  const value = (schema: Loose, name: string) => (random.chance(spoil) ? wild() : fitting(schema, name))
  const buildObject = (schema: Loose): Loose => {
    const body: Loose = {}
    const required: string[] = schema.required ?? []
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      if (!required.includes(name) && random.chance(0.5)) continue
      if (random.chance(spoil / 3)) continue
      body[name] = value(member, name)
    }
    if (random.chance(0.1)) body[random.pick(['extra', 'user_address', 'distributor_id', 'constructor'])] = wild()
    return body
  }

  const text = (found: unknown): string => {
    if (Array.isArray(found)) return found.map(text).join(',')
    return typeof found === 'object' ? JSON.stringify(found) : String(found)
  }
  const percent = (part: string) => encodeURIComponent(part.replace(/[\ud800-\udfff]/gu, '\ufffd'))

  const buildUrl = (path: string, operation: Loose): string => {
    const parameters: Loose[] = operation.parameters.map(resolve)
    let url = path
    const query: string[] = []
    for (const { in: place, name, schema, required } of parameters) {
      if (place === 'path') {
        const filled = percent(text(value(schema, name)))
        url = url.replace(
          `{${name}}`,
          random.chance(spoil / 20) ? random.pick(['%00', '%E0%A4%A', '..%2f', '']) : filled,
        )
      }
      if (place !== 'query' || (!required && random.chance(0.7)) || random.chance(spoil / 3)) continue
      query.push(`${name}=${percent(text(value(schema, name)))}`)
      if (random.chance(spoil / 5)) query.push(`${name}=${percent(text(wild()))}`)
    }
    if (random.chance(0.1))
      query.push(
        random.pick([
          'tvlGreaterThan=1',
          'distributor_id=x',
          'PAGE=2',
          '=',
          '&&',
          '%',
          '%zz=1',
          '__proto__=1',
          'a[]=1',
        ]),
      )
    if (random.chance(0.2)) url = url.endsWith('/') ? url.slice(0, -1) : `${url}/`
    if (random.chance(spoil / 30))
      url = random.pick([url.replace('/v2/', '/v1/'), `${url}/more`, url.toUpperCase(), '/', '/v2'])
    return `${url}${query.length > 0 ? `?${query.join('&')}` : ''}`
  }

  const buildHeaders = (isPost: boolean): Record<string, string> => {
    const headers: Record<string, string> = { 'x-api-key': random.pick(known.keys) }
    if (isPost) headers['content-type'] = 'application/json'
    const maybe = (chance: number, name: string, values: readonly string[]) => {
      if (random.chance(chance)) headers[name] = random.pick(values)
    }
    maybe(spoil / 10, 'x-api-key', ['', 'nonsense', 'pk_live_GHPb2DhYDddw4xtO0yghV4f9vSbuiS0x18tvku', '🚀'.slice(0, 0)])
    maybe(spoil / 20, 'authorization', ['Bearer x', 'Basic abc', 'Bearer', `Bearer ${known.keys[0]}`])
    maybe(0.1, 'origin', ['https://app.example', 'null', 'x'])
    maybe(0.1, 'accept-encoding', ['br', 'gzip', 'identity;q=0', '*', 'br;q=x'])
    maybe(0.1, 'if-none-match', ['*', '"x"', 'W/"x"', '"'])
    if (isPost) {
      maybe(0.3, 'idempotency-key', [
        'a',
        '"a"',
        'b',
        'c',
        '""',
        '"',
        'x'.repeat(255),
        'x'.repeat(256),
        String(random.integer(1e9)),
      ])
      maybe(spoil / 10, 'content-type', [
        'text/plain',
        'application/json; charset=utf-8',
        'application/x-www-form-urlencoded',
        '',
      ])
    }
    return headers
  }

  const buildPayload = (operation: Loose): string | Buffer | undefined => {
    const schema = operation.requestBody?.content['application/json'].schema
    if (!schema) return random.chance(0.1) ? '{}' : undefined
    if (random.chance(spoil / 4))
      return random.pick<string | Buffer>([
        '',
        '{',
        '[]',
        'null',
        '7',
        '"x"',
        '{"a":1,"a":2}',
        '{"__proto__":{"amount":"1"}}',
        '['.repeat(2_000) + ']'.repeat(2_000),
        `{"amount":"${'1'.repeat(70_000)}"}`,
        Buffer.from([0xff, 0xfe, 0x7b]),
        Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
      ])
    return JSON.stringify(random.chance(spoil / 10) ? wild() : buildObject(resolve(schema)))
  }

  return () => {
    const { path, method, operation } = random.pick(operations)
    spoil = random.pick([0, 0, 0.1, 0.3, 0.8])
    const verb = random.chance(spoil / 20)
      ? random.pick(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'GET', 'POST'])
      : method
    const isPost = method === 'post'
    const payload = isPost ? buildPayload(operation) : undefined
    return {
      operationId: operation.operationId,
      method: verb.toUpperCase(),
      url: buildUrl(path, operation),
      headers: buildHeaders(isPost),
      ...(payload === undefined ? {} : { payload }),
    }
  }
}
