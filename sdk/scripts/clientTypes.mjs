/**
 * The TypeScript of one JSON Schema as the OpenAPI document writes it.
 * `input` widens what a caller may give: bigint for amounts, Date for instants, one value for a list. `plain` takes any
 * text for an address, and for values that the document lists beside `type: string`.
 */
export function typeOf(schema, { input = false, plain = false, indent = '' } = {}) {
  const inner = { input, plain, indent: `${indent}  ` }
  if (schema === undefined || schema === true) return 'unknown'
  if (schema.$ref) return schema.$ref.split('/').at(-1)
  if (schema.enum) return union(schema.enum.map(literal))
  if (schema['x-values'] && !plain) return union([...schema['x-values'].map(literal), ...nullOf(schema)])
  const listed = schema['x-list-of'] ?? (input && schema['x-list'] ? schema.items : undefined)
  if (listed) return listOf(typeOf(listed, inner))
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return union(choices.map((each) => typeOf(each, { input, plain, indent })))
  if (schema.allOf) return schema.allOf.map((each) => typeOf(each, { input, plain, indent })).join(' & ')
  if (Array.isArray(schema.type))
    return union(schema.type.map((type) => typeOf({ ...schema, type }, { input, plain, indent })))
  switch (schema.type) {
    case 'string':
      return textType(schema, input, plain)
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `${input ? 'readonly ' : ''}${element(typeOf(schema.items, { input, plain, indent }))}[]`
    case 'object':
      return objectType(schema, inner, indent)
    default:
      throw new Error(`a schema that the client's types do not know: ${JSON.stringify(schema).slice(0, 200)}`)
  }
}

/** The members of an object type, each with its description. */
export function members(properties, required, { input, plain, indent }) {
  return Object.entries(properties)
    .map(([name, schema]) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
      const optional = required.includes(name) ? '' : '?'
      const type = typeOf(schema, { input, plain, indent })
      const or = optional && input ? ' | undefined' : ''
      return `${comment(schema.description, indent)}${indent}${key}${optional}: ${type}${or}\n`
    })
    .join('')
}

/** A documentation comment, or nothing. */
export function comment(text, indent = '') {
  if (!text) return ''
  const lines = text.replaceAll('*/', '* /').split('\n')
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

function objectType(schema, inner, indent) {
  const { properties = {}, required = [], additionalProperties, patternProperties } = schema
  const open = additionalProperties === true || (patternProperties && !Object.keys(properties).length)
  if (open && !Object.keys(properties).length) return 'Record<string, unknown>'
  const rest = typeof additionalProperties === 'object' ? typeOf(additionalProperties, inner) : open ? 'unknown' : ''
  if (rest && !Object.keys(properties).length) return `Record<string, ${rest}>`
  const body = members(properties, required, inner)
  return `{\n${body}${rest ? `${inner.indent}[name: string]: ${rest}\n` : ''}${indent}}`
}

function textType({ pattern = '', format }, input, plain) {
  if (plain && /0x|0\[xX\]/.test(pattern)) return 'string'
  if (/^\^0x|^\^0\[xX\]/.test(pattern)) return /\}-\(/.test(pattern) ? pair : hex
  if (/^\^\(0\[xX\]\[0-9a-fA-F\]\{40\}\|native\)\$$/.test(pattern)) return `${hex} | 'native'`
  if (!input) return 'string'
  if (format === 'uint256') return 'string | bigint'
  if (format === 'date-time') return 'string | Date'
  if (/^\^\(0\|\[1-9\]\[0-9\]\{0,14\}\)\$$/.test(pattern)) return 'string | number'
  return 'string'
}

const hex = `\`0x\${string}\``
const pair = `\`0x\${string}-\${number}\``
const literal = (value) => (typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value))
const nullOf = ({ type }) => (Array.isArray(type) && type.includes('null') ? ['null'] : [])
const union = (types) => [...new Set(types)].join(' | ')
const element = (type) => (/ [|&] |^readonly /.test(type) ? `(${type})` : type)
const listOf = (type) => `${type} | readonly ${element(type)}[]`
