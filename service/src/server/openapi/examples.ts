import type { TSchema } from 'typebox'
import { byName, byOperation, byPattern, byTitle, leftOut } from './exampleValues.js'

type Schema = TSchema & Record<string, unknown>

/** A value that fits a schema, for the document: the same every time. The operation is the one it is a request of. */
export function buildExample(schema: TSchema, name = '', operationId = ''): unknown {
  const { type, default: fallback, enum: values, const: constant, anyOf, examples } = schema as Schema
  const own = byOperation[operationId]?.[name]
  if (own !== undefined) return own
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (constant !== undefined) return constant
  if (Array.isArray(values)) return values.includes(fallback) ? fallback : values[0]
  if (Array.isArray(anyOf))
    return buildExample((anyOf as TSchema[]).find((one) => !isNull(one)) ?? {}, name, operationId)
  if (type === 'object') return buildObject(schema, operationId)
  if (type === 'array') return [buildExample((schema as Schema)['items'] as TSchema, name, operationId)]
  const known = byName[name]
  if (typeof known === (type === 'integer' ? 'number' : type) && fits(schema as Schema, known)) return known
  if (fallback !== undefined) return fallback
  if (type === 'integer' || type === 'number') return Number((schema as Schema)['minimum'] ?? 1)
  if (type === 'boolean') return true
  if (type === 'string') return buildText(schema as Schema, name)
  return type === 'null' ? null : {}
}

function buildObject(schema: TSchema, operationId: string): Record<string, unknown> {
  const properties = 'properties' in schema ? (schema.properties as Record<string, TSchema>) : {}
  const titled = byTitle[(schema as Schema)['title'] as string]
  const required = new Set((schema as Schema)['required'] as string[] | undefined)
  const isShown = (name: string) => required.has(name) || !leftOut[operationId]?.includes(name)
  const shown = Object.entries(properties).filter(([name]) => isShown(name))
  return Object.fromEntries(
    shown.map(([name, member]) => [name, titled?.[name] ?? buildExample(member, name, operationId)]),
  )
}

/** A name may stand for different things: the known value is used if it has the required form. */
function fits({ pattern }: Schema, known: unknown): boolean {
  return typeof pattern !== 'string' || typeof known !== 'string' || new RegExp(pattern).test(known)
}

function buildText({ pattern, minLength }: Schema, name: string): string {
  const fitting = byPattern.find(([place]) => typeof pattern === 'string' && place.test(pattern))
  if (fitting) return fitting[1]
  return (name || 'text').padEnd(Number(minLength ?? 0), 'x')
}

function isNull(schema: TSchema): boolean {
  return 'type' in schema && schema.type === 'null'
}
