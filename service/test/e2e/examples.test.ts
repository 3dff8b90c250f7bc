import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/server/operations.js'
import { type Dev, makeFolder, type Started, startDevnet } from './process.js'

// biome-ignore lint/suspicious/noExplicitAny: the test reads a document of every shape
type Loose = any

let dataDir: string
let devnet: Started & { dev: Dev }
let document: Loose

beforeAll(async () => {
  dataDir = await makeFolder('openearn-examples-')
  devnet = await startDevnet(dataDir)
  document = await (await fetch(`${devnet.dev.opsUrl}/openapi.json`)).json()
}, 180_000)
afterAll(async () => {
  await devnet?.stop()
  await rm(dataDir, { recursive: true, force: true })
}, 60_000)

/** A request made of nothing but the examples of an operation, sent to the server the document names. */
async function sendExample(path: string, method: string, operation: Loose) {
  const query = new URLSearchParams()
  const headers: Record<string, string> = { 'X-API-Key': devnet.dev.keys.secret }
  let filled = path
  for (const reference of operation.parameters) {
    const parameter = reference.$ref ? document.components.parameters[reference.$ref.split('/').at(-1)] : reference
    const { in: place, name, example } = parameter
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(example))
    else if (example !== undefined && place === 'query') query.append(name, String(example))
    else if (example !== undefined) headers[name] = String(example)
  }
  const body = operation.requestBody?.content['application/json'].example
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const response = await fetch(`${document.servers[0].url}${filled}?${query}`, {
    method: method.toUpperCase(),
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Loose }
}

describe('the examples of the document the devnet serves', () => {
  it.each(operations.map(({ operationId, path, method }) => [operationId, path, method.toLowerCase()] as const))(
    'of %s, sent to it, are answered with the status shown',
    async (_id, path, method) => {
      const operation = document.paths[path][method]
      const shown = operation['x-example-status']
      const { status, body } = await sendExample(path, method, operation)
      expect([status, status === shown ? '' : JSON.stringify(body)]).toEqual([shown, ''])
      // A refusal is shown whole.
      if (status !== 200) expect(body).toEqual(operation.responses[status].content['application/json'].example)
    },
  )
})
