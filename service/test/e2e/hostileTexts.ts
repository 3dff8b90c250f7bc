import { readFileSync } from 'node:fs'
import { root } from '../documents.js'

/** Markup that runs where it is taken as markup and asks elsewhere, a mark that turns what follows, and 10 kB without a space. */
export const hostileText = [
  `"><img src="http://elsewhere.example/a.png" onerror="globalThis.ran=1"><script>globalThis.ran=1</script>`,
  `<script src="http://elsewhere.example/a.js"></script><style>@import "http://elsewhere.example/a.css"</style>`,
  `\u202e${'W'.repeat(10_000)}`,
].join('')

/** A url that a stranger chose. */
const hostileUrl = `http://elsewhere.example/a.png?${'a'.repeat(2_000)}`

type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown
  const?: unknown
  pattern?: string
  format?: string
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}
type Operation = { responses: Record<string, { content?: Record<string, { schema: Schema }> }> }
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } }

const document: Document = JSON.parse(readFileSync(`${root}service/openapi.json`, 'utf8'))

/** The schemas that a value may be of, each without the names and choices around it. */
function choicesOf(schema: Schema): Schema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema
  if ($ref !== undefined) return choicesOf(document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {})
  const within = [...anyOf, ...oneOf, ...allOf]
  return within.length > 0 ? within.flatMap(choicesOf) : [schema]
}

const isSchema = (value: Schema | boolean | undefined): value is Schema => typeof value === 'object'

const membersOf = (schemas: readonly Schema[], name: string): Schema[] =>
  schemas
    .map(({ properties, additionalProperties }) => properties?.[name] ?? additionalProperties)
    .filter(isSchema)
    .flatMap(choicesOf)

/** Whether the schema itself fixes the form of a text: as one of some words, by a pattern, or as an instant or number. */
const isFixed = (schema: Schema) => ['enum', 'const', 'pattern', 'format'].some((each) => each in schema)
const isText = ({ type }: Schema) => type === undefined || [type].flat().includes('string')

/** The schemas of what an operation answers at a path. */
function schemasAt(path: string): Schema[] {
  for (const [template, { get }] of Object.entries(document.paths)) {
    const form = new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+').replace(/\/$/, '/?')}$`)
    const schema = form.test(path) ? get?.responses['200']?.content?.['application/json']?.schema : undefined
    if (schema) return choicesOf(schema)
  }
  return []
}

/** Names of the members that were spoiled. */
type Spoiled = Set<string>

function spoil(value: unknown, schemas: readonly Schema[], spoiled: Spoiled, name = ''): unknown {
  if (Array.isArray(value)) {
    const items = schemas.flatMap(({ items: each }) => (each ? choicesOf(each) : []))
    return value.map((each) => spoil(each, items, spoiled, name))
  }
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([member, each]) => [member, spoil(each, membersOf(schemas, member), spoiled, member)]),
    )
  if (typeof value !== 'string') return value
  const texts = schemas.filter(isText)
  if (texts.length > 0 && texts.every(isFixed)) return value
  spoiled.add(name)
  return /(url|img)$/i.test(name) ? hostileUrl : hostileText
}

/**
 * What the service answers at a path, with a hostile text in place of each one whose form the API's own document does not fix.
 * `spoiled` gets the names of their members.
 */
export const spoilAnswer = (path: string, body: unknown, spoiled: Spoiled = new Set()): unknown =>
  spoil(body, schemasAt(path), spoiled)

type Row = Readonly<Record<string, unknown>>

/** Members of the operator's lists that are words of the service itself. */
const words = /^(state|evidence|held|kind|standing|change)$/
const forms = [
  ...[/^0x[0-9a-f]*$/, /^-?\d+(\.\d+)?$/, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
]
const isFree = (member: string, value: unknown): value is string =>
  typeof value === 'string' && !words.test(member) && !forms.some((form) => form.test(value))

function spoilWithin(value: unknown, member: string, end: string): unknown {
  if (Array.isArray(value)) return value.map((each) => spoilWithin(each, member, end))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, spoilWithin(each, name, end)]))
  return isFree(member, value) ? hostileText + end : value
}

/**
 * The rows of a list of the operator with a hostile text in place of each that is no word of the service, number, instant, id or hex;
 * where one row has such a text, all have. `spoiled` gets the names of their members.
 */
export function spoilRows(rows: readonly Row[], spoiled: Spoiled): Row[] {
  const free = new Set(rows.flatMap((row) => Object.keys(row).filter((name) => isFree(name, row[name]))))
  for (const name of free) spoiled.add(name)
  // No two rows have one name.
  return rows.map((row, at) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        free.has(name) ? `${hostileText}${at}` : spoilWithin(value, name, `${at}`),
      ]),
    ),
  )
}
