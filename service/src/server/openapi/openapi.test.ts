import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { describe, expect, it } from 'vitest'
import { findBreaking } from '../../../tools/openapiDiff.mjs'
import type { Operation } from '../../kernel/operation.js'
import { operations } from '../operations.js'
import { buildExample } from './examples.js'
import { buildOpenApi } from './openapi.js'

// biome-ignore lint/suspicious/noExplicitAny: the tests read a document of every shape
type Loose = any

const committed: Loose = JSON.parse(await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8'))
const built: Loose = JSON.parse(JSON.stringify(buildOpenApi(operations)))

describe('the OpenAPI document', () => {
  it('is the committed openapi.json; `npm run openapi` writes it anew', () => {
    expect(built).toEqual(committed)
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

  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    'gives examples of %s that fit its schemas',
    (_id, operation) => {
      const schemas: TSchema[] = [operation.responses[200]]
      for (const schema of [operation.params, operation.query, operation.body]) if (schema) schemas.push(schema)
      for (const schema of schemas) {
        const example = buildExample(schema)
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
