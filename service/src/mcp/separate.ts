import { cleanText } from './text.js'

/** A schema of the OpenAPI document, as far as it is looked at. */
export type Schema = {
  $ref?: string
  type?: string | readonly string[]
  format?: string
  pattern?: string
  enum?: readonly unknown[]
  const?: unknown
  'x-values'?: readonly unknown[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  properties?: Readonly<Record<string, Schema>>
  items?: Schema
  additionalProperties?: Schema | boolean
}

/** Finds the schema of a reference. */
export type Resolve = (ref: string) => Schema | undefined

/**
 * A copy of an answer in which every text that a stranger may have written stands in a member whose name begins with
 * `untrusted`. What the document holds to a form that has no room for words (a number, an instant, an id, an address, hex, an
 * enum) keeps its name; every other text is a stranger's. Members that the document does not know are left out.
 */
export function separate(value: unknown, schema: Schema, resolve: Resolve): unknown {
  const options = optionsOf(schema, resolve)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'string') return isFormal(value, options) ? value : { untrusted: cleanText(value) }
  if (Array.isArray(value)) return separateList(value, options, resolve)
  if (typeof value !== 'object') return undefined
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const found = options.flatMap(({ properties }) => properties?.[name] ?? [])
      return found.length === 0 ? [] : nameMember(name, separate(member, { anyOf: found }, resolve))
    }),
  )
}

/** A list of texts as a whole is one of strangers as soon as the document holds none of its texts to a form. */
function separateList(list: readonly unknown[], options: readonly Schema[], resolve: Resolve): unknown {
  const items = options.flatMap(({ items }) => items ?? [])
  const members = list.map((each) => separate(each, { anyOf: items }, resolve))
  if (!members.some(isUntrusted)) return members
  return { untrusted: members.map((each) => (isUntrusted(each) ? each.untrusted : each)) }
}

type Untrusted = { untrusted: unknown }

const isUntrusted = (value: unknown): value is Untrusted =>
  typeof value === 'object' && value !== null && Object.keys(value).join() === 'untrusted'

/** `name` with a stranger's text becomes `untrustedName`. */
const nameMember = (name: string, value: unknown): [string, unknown][] =>
  isUntrusted(value) ? [[`untrusted${name[0]?.toUpperCase()}${name.slice(1)}`, value.untrusted]] : [[name, value]]

/** The schema, or those of its alternatives, without references. */
function optionsOf(schema: Schema, resolve: Resolve, depth = 0): Schema[] {
  if (depth > 8) return []
  if (schema.$ref !== undefined) {
    const found = resolve(schema.$ref)
    return found ? optionsOf(found, resolve, depth + 1) : []
  }
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return [...parts.flatMap((part) => optionsOf(part, resolve, depth + 1)), schema]
}

const formats: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/,
  uint256: /^[0-9]{1,78}$/,
}
/** A pattern with these characters alone has no room for words. */
const formalPattern = /^\^[0-9a-fA-FxX?+*\\.()[\]{},-]*\$$/

/** Whether a text has the form that the document gives it, and that form has no room for words. */
const isFormal = (text: string, options: readonly Schema[]): boolean =>
  options.some(({ enum: values, const: only, 'x-values': open, format, pattern }) => {
    if (values?.includes(text) || open?.includes(text) || (only !== undefined && only === text)) return true
    const form = format === undefined ? undefined : formats[format]
    if (form) return form.test(text)
    return pattern !== undefined && formalPattern.test(pattern) && new RegExp(pattern).test(text)
  })
