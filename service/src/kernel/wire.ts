import T, { type TObject, type TSchema } from 'typebox'
import { Set as setFormat } from 'typebox/format'
import { parseRaw } from './amount.js'
import { parseTs } from './clock.js'
import type { Violation } from './errors.js'
import type { RawQuery } from './operation.js'

/** A pattern, and what a caller should write where a text does not have it; `says` is left out of documents. */
export type TextForm = { pattern: string; says: string; format?: string }
export const addressForm: TextForm = {
  pattern: '^0[xX][0-9a-fA-F]{40}$',
  says: 'must be an EVM address: 0x and 40 hex digits',
}
export const uuidForm: TextForm = {
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  says: 'must be a uuid',
  format: 'uuid',
}
export const digitsForm: TextForm = {
  pattern: '^[0-9]{1,78}$',
  says: 'must be a text of decimal digits, an integer below 2^256',
}

/** EVM address on input: any case, checksum not judged. Lower-cased by the code that stores it. */
export const AddressInput = T.String({ ...addressForm, description: 'EVM address, any case' })
export const Address = T.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'EVM address, EIP-55 checksum' })
export const TxHash = T.String({
  pattern: '^0[xX][0-9a-fA-F]{64}$',
  says: 'must be a transaction hash: 0x and 64 hex digits',
  description: 'Transaction hash',
})
export const Hex = T.String({ pattern: '^0x([0-9a-fA-F]{2})*$' })
export const Uuid = T.String({ ...uuidForm, description: 'UUID' })
/** One of some values, which are checked; in the document it is a text, as clients of the interface have typed it. */
export const OpenEnum = <V extends string>(values: readonly V[], options: { default?: V; description?: string } = {}) =>
  T.Enum([...values], { ...options, 'x-open': true })
/** A raw amount of digits must also be below 2^256. */
setFormat('uint256', (text) => parseRaw(text) !== undefined)
export const Raw = T.String({ ...digitsForm, format: 'uint256', description: "Integer in the token's smallest unit" })
/** A date-time on input, read by `parseTs`. */
setFormat('date-time', (text) => parseTs(text) !== undefined)
export const TsInput = T.String({ format: 'date-time', description: 'RFC 3339 date-time, with Z or an offset' })
export const SignedRaw = T.String({ pattern: '^-?[0-9]{1,78}$' })
export const Dec = T.String({ pattern: '^-?[0-9]+(\\.[0-9]+)?$', description: 'Plain decimal, no exponent' })
export const Ts = T.String({
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z$',
  format: 'date-time',
  description: 'RFC 3339, UTC',
})
export const ChainId = T.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const Nullable = <S extends TSchema>(schema: S) => T.Union([schema, T.Null()])
/** A list parameter: repeated, or separated by commas; blanks trimmed, empties dropped. The document shows one text, with `asArray` an array. */
export const List = (given: { maxItems?: number; form?: TextForm; description?: string; asArray?: boolean } = {}) => {
  const { form, asArray, ...options } = given
  return T.Array(T.String({ ...form }), { maxItems: 200, ...options, ...(asArray ? { 'x-as-array': true } : {}) })
}

/** A count of which more than there is means all there is. */
export const count = (description: string, options: { default?: number } = {}) =>
  T.Optional(T.Integer({ description, ...options, 'x-saturates': true }))

/** The four pagination members of a query. */
export const pageQuery = {
  page: count('From 1; below 1 is 1', { default: 1 }),
  limit: count('Items a page, 1 to 100; below 1 is 20', { default: 20 }),
  pageLimit: count('Alias of limit'),
  pageSize: count('Alias of limit'),
}

export const PaginationSchema = T.Object(
  { page: T.Integer(), limit: T.Integer(), total: T.Integer(), totalPages: T.Integer() },
  { title: 'Pagination' },
)
export const PaginationNavSchema = T.Object(
  { ...PaginationSchema.properties, hasNext: T.Boolean(), hasPrevious: T.Boolean() },
  { title: 'PaginationNav' },
)
export const PageOf = <S extends TSchema>(item: S) => T.Object({ data: T.Array(item), pagination: PaginationSchema })

/** Names and values of a raw query string (without `?`), in order. Bad percent escapes are kept as they stand. */
export function parseQueryString(text: string): RawQuery {
  const query = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const values = query.get(name)
    if (values) values.push(value)
    else query.set(name, [value])
  }
  return query
}

type Decoded = { value: Record<string, unknown>; violations: Violation[] }

/**
 * Turns query (or path) text into typed values by the declared schema: integers, numbers, booleans, lists and text.
 * Empty is absent; a scalar given twice, NUL characters and text that is no number or boolean are violations; unknown
 * names are ignored. Bounds and patterns are left to the schema check that follows.
 */
export function decodeQuery(schema: TObject, query: RawQuery): Decoded {
  const decoded: Decoded = { value: {}, violations: [] }
  for (const [name, property] of Object.entries<TSchema>(schema.properties)) {
    const values = (query.get(name) ?? []).filter((value) => value !== '')
    if (values.length === 0) continue
    const result = decodeValues(property, values)
    if (result === absent) continue
    if (result instanceof Refusal) decoded.violations.push({ path: name, message: result.message })
    else decoded.value[name] = result
  }
  return decoded
}

const absent = Symbol('absent')
class Refusal {
  constructor(readonly message: string) {}
}

function decodeValues(property: TSchema, values: readonly string[]): unknown {
  if (values.some((value) => value.includes('\0'))) return new Refusal('must not contain NUL characters')
  const type = 'type' in property ? property.type : undefined
  if (type === 'array') {
    const present = values.flatMap((value) => value.split(',').map((item) => item.trim())).filter(Boolean)
    return present.length === 0 ? absent : present
  }
  const [value = ''] = values
  if (values.length > 1) return new Refusal('must be given once')
  if ('nullable' in property && property.nullable === true && value === 'null') return absent
  if (type === 'integer') return decodeInteger(value, 'x-saturates' in property)
  return decodeScalar(type, value)
}

/** A count beyond the safe integers means as much as the last of them: a page past every end, a limit above every limit. */
function decodeInteger(value: string, saturates: boolean): unknown {
  const number = /^-?[0-9]+$/.test(value) ? Number(value) : Number.NaN
  if (Number.isNaN(number) || !(saturates || Number.isSafeInteger(number))) return new Refusal('must be an integer')
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(number, Number.MAX_SAFE_INTEGER))
}

function decodeScalar(type: unknown, value: string): unknown {
  if (type === 'number') {
    // A number in a query follows JSON, exponents included; a number too large for a float is refused.
    const number = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(value) ? Number(value) : Number.NaN
    return Number.isFinite(number) ? number : new Refusal('must be a number as JSON has it, like 0.5 or 1e-7')
  }
  if (type === 'boolean') {
    if (value === 'true' || value === 'false') return value === 'true'
    return new Refusal('must be true or false')
  }
  return value
}

/** A violation found by the compiled check of a schema. */
export type SchemaError = { keyword: string; schemaPath: string; params: object; message: string }

/** Describes a violation in words that say what to write instead: the schema's own words, if it has any. */
export function describeViolation(schema: TSchema, { keyword, schemaPath, params, message }: SchemaError): string {
  if (keyword === 'format')
    return 'format' in params && params.format === 'date-time'
      ? 'must be an RFC 3339 date-time with Z or an offset'
      : 'must be an integer below 2^256'
  if (keyword === 'pattern') return findSaid(schema, schemaPath) ?? message
  if ('allowedValues' in params && Array.isArray(params.allowedValues))
    return `must be one of ${params.allowedValues.join(', ')}`
  return message
}

/** The `says` of the part of a schema that `path` points to: `#/properties/amount`. */
function findSaid(schema: TSchema, path: string): string | undefined {
  const names = path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const part = names.reduce<unknown>((outer, name) => readMember(outer, name), schema)
  const says = readMember(part, 'says')
  return typeof says === 'string' ? says : undefined
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
