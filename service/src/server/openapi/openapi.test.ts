import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { describe, expect, it } from 'vitest'
import { checkError } from '../../../test/contract.js'
import { findBreaking } from '../../../tools/openapiDiff.mjs'
import type { Operation } from '../../kernel/operation.js'
import { operations } from '../operations.js'
import { buildExample } from './examples.js'
import { buildOpenApi } from './openapi.js'

// biome-ignore lint/suspicious/noExplicitAny: the tests read a document of every shape
type Loose = any

const file = fileURLToPath(new URL('../../../openapi.json', import.meta.url))
const text = await readFile(file, 'utf8')
const committed: Loose = JSON.parse(text)
const built: Loose = JSON.parse(JSON.stringify(buildOpenApi(operations)))

const checker = fileURLToPath(new URL('../../../tools/checkOpenapi.py', import.meta.url))

/** What Python's validator finds; undefined on a machine that has none. */
async function validateInPython(path: string): Promise<string[] | undefined> {
  return new Promise((resolve, reject) => {
    execFile('python3', [checker, path], (error, stdout, stderr) => {
      if (error?.code === 'ENOENT' || error?.code === 3) resolve(undefined)
      else if (error && error.code !== 1) reject(new Error(stderr, { cause: error }))
      else resolve(stdout.split('\n').filter(Boolean))
    })
  })
}

describe('the OpenAPI document', () => {
  it('is the committed openapi.json; `npm run openapi` writes it anew', () => {
    expect(built).toEqual(committed)
  })

  it('is committed in fewer than 420,000 bytes, a line for each part of an operation', () => {
    expect(text.length).toBeLessThan(430_000)
    expect(text.split('\n').length).toBeGreaterThan(1_000)
  })

  it('breaks no client of the committed document of the same version', () => {
    expect(built.info.version === committed.info.version ? findBreaking(committed, built) : []).toEqual([])
  })

  it('is valid OpenAPI 3.1 in the eyes of an independent validator, with every reference resolved', async () => {
    const validator = new Validator()
    const result = await validator.validate(structuredClone(built))
    expect(result).toMatchObject({ valid: true })
    expect(validator.version).toBe('3.1')
    const refs = [...JSON.stringify(built).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '')
    expect(refs.length).toBeGreaterThan(50)
    for (const ref of new Set(refs))
      expect(
        ref.split('/').reduce((part: Loose, name) => part?.[name], built),
        ref,
      ).toBeDefined()
  })

  it('is valid OpenAPI 3.1 in the eyes of a validator of another language, examples too', async (test) => {
    const found = await validateInPython(file)
    test.skip(found === undefined, 'python3 has no openapi-spec-validator on this machine')
    expect(found).toEqual([])
    const folder = await mkdtemp(join(tmpdir(), 'openearn-document-'))
    try {
      const spoilt = join(folder, 'openapi.json')
      const { summary } = built.paths['/v2/chains/'].get
      const parameters = [{ name: 'limit', in: 'query', schema: { type: 'integer' }, example: 'many' }]
      const get = { ...built.paths['/v2/chains/'].get, summary: [summary], parameters }
      await writeFile(spoilt, JSON.stringify({ ...built, paths: { ...built.paths, '/v2/chains/': { get } } }))
      expect(await validateInPython(spoilt)).toEqual([
        expect.stringContaining('paths./v2/chains/.get'),
        expect.stringContaining('example of paths./v2/chains/.get.parameters.0'),
      ])
    } finally {
      await rm(folder, { recursive: true })
    }
  }, 60_000)

  it('carries the version, the names and what each operation costs and asks for', () => {
    expect(built.info.version).toBe('v2.0.0')
    expect(built.components.schemas.V2CreateMembershipInput).toBeDefined()
    expect(built.components.schemas.V2CreateMembershipAgreementInput).toBeDefined()
    for (const operation of operations) {
      const described = built.paths[operation.path][operation.method.toLowerCase()]
      expect(described.operationId).toBe(operation.operationId)
      expect(described.operationId).not.toMatch(/V2/)
      expect(Number.isInteger(described['x-cost'])).toBe(true)
      expect(described['x-access']).toBe(operation.access)
      expect(described.summary.length).toBeGreaterThan(3)
      expect(described.description.length).toBeGreaterThan(10)
      const names = described.parameters.map((one: Loose) => one.$ref ?? one.name)
      if (operation.method === 'POST') expect(names).toContain('#/components/parameters/IdempotencyKey')
    }
  })

  const parameterOf = (operationId: string, name: string) => {
    const operation = operations.find((one) => one.operationId === operationId)!
    const { parameters } = built.paths[operation.path][operation.method.toLowerCase()]
    return parameters.find((one: Loose) => one.name === name)
  }

  it('types lists of ids as arrays where clients of the interface have arrays, whose values are repeated', () => {
    const arrays = {
      GetDistributorMetrics: ['opportunityIds', 'productIds'],
      GetDistributorLPs: ['opportunityIds', 'productIds'],
      GetMerkleProofs: ['streamIds'],
    }
    for (const [operationId, names] of Object.entries(arrays))
      for (const name of names) {
        const parameter = parameterOf(operationId, name)
        expect(parameter).toMatchObject({ style: 'form', explode: true, schema: { type: 'array', maxItems: 200 } })
        expect(parameter.schema.items).toMatchObject({ type: 'string', format: 'uuid' })
        expect(parameter.example).toEqual([expect.any(String)])
      }
  })

  it('names the format of every instant and the type of every fixed value', () => {
    let [instants, values] = [0, 0]
    const walk = (part: Loose) => {
      if (typeof part !== 'object' || part === null) return
      if (typeof part.pattern === 'string' && part.pattern.includes('{2}T')) {
        expect(part.format).toBe('date-time')
        instants++
      }
      if (Array.isArray(part.enum)) {
        const types = [part.type].flat()
        for (const value of part.enum)
          expect(types).toContain(value === null ? 'null' : typeof value === 'number' ? 'integer' : typeof value)
        values++
      }
      for (const inner of Object.values(part)) walk(inner)
    }
    walk(built)
    expect(instants).toBeGreaterThan(50)
    expect(values).toBeGreaterThan(50)
  })

  it('has no default in a body, as generators take a member with a default for a required one', () => {
    const walk = (part: Loose, place: string) => {
      if (typeof part !== 'object' || part === null) return
      if (part.type !== undefined) expect(part, place).not.toHaveProperty('default')
      for (const [key, inner] of Object.entries(part)) walk(inner, `${place}.${key}`)
    }
    const bodies = Object.entries<Loose>(built.components.schemas).filter(([name]) => name.endsWith('Input'))
    expect(bodies.length).toBeGreaterThan(10)
    for (const [name, schema] of bodies) walk(schema, name)
    expect(built.components.schemas.CreateDepositInteractionInput.properties.slippageBps.description).toContain(
      '50 unless given',
    )
  })

  it('writes a refusal that several operations share once', () => {
    const refusals = operations.flatMap(({ path, method }) =>
      Object.entries<Loose>(built.paths[path][method.toLowerCase()].responses).filter(([status]) => status >= '4'),
    )
    const texts = refusals
      .filter(([, response]) => response.$ref === undefined)
      .map(([status, response]) => `${status} ${JSON.stringify(response)}`)
    const shared = texts.filter((text) => !text.includes('"example"'))
    expect(new Set(shared).size).toBe(shared.length)
    expect(refusals.length - texts.length).toBeGreaterThan(200)
    expect(JSON.stringify(built).length).toBeLessThan(430_000)
  })

  it('shows a stream that can be created: of two tokens, at a time to come', () => {
    const { requestBody } = built.paths['/v2/streams/'].post
    const { startTimestamp, rewardTokenId, customArgs } = requestBody.content['application/json'].example
    expect(Date.parse(startTimestamp)).toBeGreaterThan(Date.UTC(2029, 0))
    const opportunityId = parameterOf('GetOpportunity', 'id').example
    expect(new Set([rewardTokenId, customArgs.targetTokenId, opportunityId]).size).toBe(3)
  })

  it('names the refusals of a late and of an overloaded service with every operation', () => {
    for (const { path, method, operationId } of operations) {
      const { responses } = built.paths[path][method.toLowerCase()]
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(['408', '503']))
    }
  })

  it('names units of gas as what they are, not as an amount of a token', () => {
    const described: string[] = []
    const walk = (part: Loose) => {
      if (typeof part !== 'object' || part === null) return
      for (const [name, inner] of Object.entries<Loose>(part)) {
        if (/^gas(Limit)?$/.test(name) && inner?.type === 'string') described.push(inner.description)
        walk(inner)
      }
    }
    walk(built.components.schemas)
    expect(described.length).toBeGreaterThan(1)
    expect(new Set(described)).toEqual(new Set(['Units of gas']))
  })

  it('says what top wallets cost, and names a group of operations in a sentence', () => {
    expect(parameterOf('GetDistributorMetrics', 'includeTopWallets').description).toContain('costs 5 units more')
    for (const tag of built.tags) expect(tag.description, tag.name).toMatch(/\.$/)
    expect(built.info.contact.name.length).toBeGreaterThan(3)
  })

  it('types other comma lists, sorts and ecosystems as texts, as clients of the interface have them', () => {
    for (const operation of operations)
      for (const [name, schema] of Object.entries<Loose>(operation.query?.properties ?? {})) {
        if (schema.type !== 'array' || schema['x-as-array']) continue
        const parameter = parameterOf(operation.operationId, name)
        expect([parameter.schema.type, parameter.style, parameter.explode], name).toEqual([
          'string',
          undefined,
          undefined,
        ])
        expect(parameter.description).toMatch(/separated by commas, at most [0-9,]+$/)
        expect(typeof parameter.example).toBe('string')
      }
    expect(parameterOf('ListOpportunities', 'chainIds').schema.type).toBe('string')
    for (const operationId of ['ListOpportunities', 'ListOpportunitiesByDistributor', 'ListInteractions'])
      for (const name of ['sortBy', 'sortOrder']) {
        const { schema, description } = parameterOf(operationId, name)
        expect(schema).toMatchObject({ type: 'string' })
        expect(schema).not.toHaveProperty('enum')
        for (const value of schema['x-values']) expect(description).toContain(value)
      }
    const { V2CreateMembershipInput, V2CreateMembershipAgreementInput, CreateDepositInteractionInput } =
      built.components.schemas
    for (const { walletEcosystem } of [V2CreateMembershipInput, V2CreateMembershipAgreementInput].map(
      ({ properties }) => properties,
    ))
      expect(walletEcosystem).toMatchObject({ type: 'string', 'x-values': ['evm', 'solana', 'ton'] })
    expect(CreateDepositInteractionInput.properties.mode).toMatchObject({ type: 'string' })
    expect(parameterOf('GetMembership', 'walletEcosystem').schema.enum).toEqual(['evm', 'solana', 'ton'])
  })

  it('lets null be what may be null', () => {
    expect(parameterOf('ListOpportunities', 'featured').schema.type).toEqual(['boolean', 'null'])
    expect(parameterOf('GetAttribution', 'chainId').schema.type).toEqual(['integer', 'null'])
    expect(parameterOf('ListOpportunities', 'depositEnabled').schema.type).toBe('boolean')
  })

  it('names the format of every uuid', () => {
    let count = 0
    const walk = (part: Loose) => {
      if (typeof part !== 'object' || part === null) return
      if (typeof part.pattern === 'string' && part.pattern.includes('{8}-')) {
        expect(part.format).toBe('uuid')
        count++
      }
      for (const inner of Object.values(part)) walk(inner)
    }
    walk(built)
    expect(count).toBeGreaterThan(20)
  })

  it('says where it is served: the public base url, whoever serves the document', () => {
    expect(built.servers).toEqual([{ url: 'http://127.0.0.1:4020' }])
    const { servers } = buildOpenApi(operations, { url: 'https://earn.example/api' })
    expect(servers).toEqual([{ url: 'https://earn.example/api' }])
  })

  it.each([
    ['keys', /X-API-Key/, /pk_live_/, /sk_live_/, /Authorization: Bearer/],
    ['units', /X-RateLimit-Remaining/, /X-Request-Cost/, /`hourly`/, /`ip`/, /Retry-After/],
    ['idempotency', /Idempotency-Key/, /Idempotency-Replayed/, /409/],
    ['pages', /`page`/, /`limit`/, /100/, /totalPages/],
    ['errors', /`reason`/, /context\.retryable/, /violations/],
    ['answers kept', /ETag/, /If-None-Match/, /HEAD/],
    ['waiting vaults', /GetWalletRequests/, /CreateClaimDepositInteraction/, /CreateWithdrawInteraction/],
    ['values', /smallest unit/, /checksum/],
  ])('tells of %s in its own text', (_what, ...patterns) => {
    for (const pattern of patterns) expect(built.info.description).toMatch(pattern as RegExp)
  })

  it('shows with each operation what its example is answered with, 200 or an error in the one shape', () => {
    for (const operation of operations) {
      const described = built.paths[operation.path][operation.method.toLowerCase()]
      const status = described['x-example-status']
      if (status === 200) continue
      const { example } = described.responses[status].content['application/json']
      expect(checkError(status, example), operation.operationId).toEqual([])
      const others = Object.entries<Loose>(described.responses).filter(
        ([code]) => !['200', String(status)].includes(code),
      )
      for (const [, response] of others) expect(response.content?.['application/json'].example).toBeUndefined()
    }
  })

  it('shows no placeholder: no text that only repeats the name of its member', () => {
    const walk = (part: Loose, name: string, place: string) => {
      if (typeof part === 'string') expect(part, place).not.toBe(name)
      if (typeof part !== 'object' || part === null) return
      for (const [key, inner] of Object.entries(part)) walk(inner, Array.isArray(part) ? name : key, `${place}.${key}`)
    }
    for (const operation of operations) {
      const { requestBody, parameters, responses } = built.paths[operation.path][operation.method.toLowerCase()]
      const { operationId } = operation
      if (requestBody) walk(requestBody.content['application/json'].example, '', `${operationId} body`)
      for (const parameter of parameters) walk(parameter.example, parameter.name, `${operationId} ${parameter.name}`)
      const [content] = Object.values<Loose>(responses[200].content)
      walk(content.example, '', `${operationId} 200`)
    }
  })

  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    'gives examples of %s that fit its schemas',
    (_id, operation) => {
      const schemas: TSchema[] = [operation.responses[200]]
      for (const schema of [operation.params, operation.query, operation.body]) if (schema) schemas.push(schema)
      for (const schema of schemas) {
        const example = buildExample(schema, '', operation.operationId)
        const validator = Compile(schema)
        expect(validator.Check(example), JSON.stringify([example, validator.Errors(example)])).toBe(true)
      }
    },
  )

  it('refuses one name for two schemas', () => {
    const clash = {
      ...operations[0],
      path: '/v2/clash',
      operationId: 'Clash',
      responses: { 200: { type: 'object', title: 'Token' } },
    }
    expect(() => buildOpenApi([...operations, clash as unknown as Operation<never>])).toThrow(/called Token/)
  })
})
