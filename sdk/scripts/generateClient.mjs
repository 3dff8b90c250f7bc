// Writes src/client/generated/ and src/turtle/generated/ from the service's OpenAPI document:
// `node scripts/generateClient.mjs [--check]`.
// With --check nothing is written, and the exit code is 1 where a file differs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { comment, members, typeOf } from './clientTypes.mjs'
import { turtleFiles } from './turtleClient.mjs'

const document = JSON.parse(readFileSync(new URL('../../service/openapi.json', import.meta.url), 'utf8'))
const source = new URL('../src/', import.meta.url)
const head = '// Generated from service/openapi.json by `npm run client`. Do not edit.\n'

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
)
operations.sort((a, b) => (a.operationId < b.operationId ? -1 : 1))

const jsonOf = (part) => part?.content?.['application/json']?.schema
const liveOf = (part) => part?.content?.['text/event-stream']?.schema
const resolve = (part) =>
  part?.$ref
    ? part.$ref
        .split('/')
        .slice(1)
        .reduce((at, name) => at[name], document)
    : part
const lower = (name) => name[0].toLowerCase() + name.slice(1)

/** Path, query and body of an operation in one object: a name stands for one thing only. */
function describe(operation) {
  const parameters = (operation.parameters ?? [])
    .map(resolve)
    .filter((each) => each.in !== 'header' && each.description !== 'Alias of limit')
  const body = resolve(jsonOf(resolve(operation.requestBody))) ?? { properties: {}, required: [] }
  const properties = {}
  for (const { name, schema, description } of parameters)
    properties[name] = { ...schema, description, ...(schema.type === 'array' && { 'x-list': true }) }
  for (const [name, schema] of Object.entries(body.properties)) {
    if (Object.hasOwn(properties, name)) throw new Error(`${operation.operationId} has two members ${name}`)
    properties[name] = schema
  }
  const required = [...parameters.filter((each) => each.required).map(({ name }) => name), ...(body.required ?? [])]
  const result = resolve(operation.responses['200'])
  const paged = resolve(jsonOf(result))?.properties ?? {}
  const items = paged.pagination && Object.keys(paged).find((name) => paged[name].type === 'array')
  const query =
    operation.method === 'POST' ? parameters.filter((each) => each.in === 'query').map((each) => each.name) : []
  return {
    ...operation,
    properties,
    required,
    result: jsonOf(result) ?? liveOf(result),
    isLive: !!liveOf(result),
    items,
    query,
  }
}

const described = operations.map(describe)

const schemas = Object.entries(document.components.schemas)
  .filter(([name]) => !name.endsWith('Input'))
  .map(([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)}\n`)
const requests = described.map(({ operationId, properties, required }) =>
  Object.keys(properties).length === 0
    ? `export type ${operationId}Params = Record<never, never>\n`
    : `export type ${operationId}Params = {\n${members(properties, required, { input: true, indent: '  ' })}}\n`,
)
const results = described.map(({ operationId, result }) => `export type ${operationId}Result = ${typeOf(result)}\n`)
const types = `${head}${[...schemas, ...requests, ...results].join('\n')}`

const access = { public: 'no key', publishable: 'any key', secret: 'a secret key' }
const used = new Set()
const functions = described.map(({ operationId, method, path, query, items, ...operation }) => {
  const cost = `Costs ${operation['x-cost']} units; takes ${access[operation['x-access']] ?? operation['x-access']}.`
  const given = [operationId, path, ...(items ? [items] : [])].map((text) => `'${text}'`)
  if (query.length) given.push(`[${query.map((name) => `'${name}'`).join(', ')}]`)
  const kind = operation.isLive ? 'live' : `${method === 'GET' ? 'get' : 'post'}${items ? 'Pages' : ''}`
  used.add(kind)
  const item = items ? `, types.${operationId}Result['${items}'][number]` : ''
  const generics = `types.${operationId}Params, types.${operationId}Result${item}`
  return `${comment([operation.summary, operation.description, cost].filter(Boolean).join('\n\n'))}export const ${lower(operationId)} = /*#__PURE__*/ ${kind}<${generics}>(
${given.map((each) => `  ${each},\n`).join('')})\n`
})
const code = `${head}import { ${[...used].sort().join(', ')} } from '../operation.js'
import type * as types from './types.js'

${functions.join('\n')}`

let differs = false
for (const [name, text] of [
  ['client/generated/types.ts', types],
  ['client/generated/operations.ts', code],
  ...turtleFiles(described, head),
]) {
  const file = new URL(name, source)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  differs = true
  if (process.argv.includes('--check')) continue
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
}
if (differs && process.argv.includes('--check')) {
  console.error('the generated code of src/ differs from service/openapi.json: run npm run client')
  process.exitCode = 1
}
