import type { TSchema } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../src/kernel/operation.js'
import { buildExample } from '../src/server/openapi/examples.js'
import { operations } from '../src/server/operations.js'
import { type Answer, type Earn, openEarn } from './harness.js'
import { sendRaw } from './sendRaw.js'

let earn: Earn
let key: string
beforeAll(async () => {
  earn = await openEarn()
  key = await earn.key({
    kind: 'secret',
    hourlyUnits: 1_000_000_000,
    permissions: ['organization:incentivize:streams', 'organization:webhooks'],
  })
})
afterAll(() => earn.close())

type Place = 'params' | 'query' | 'body'
type Member = { place: Place; name: string; schema: TSchema & Record<string, unknown>; required: boolean }

/** Members of path, query and body, one by one; those of objects inside a body are left to the fuzz test. */
function membersOf(operation: Operation<never>): Member[] {
  return (['params', 'query', 'body'] as const).flatMap((place) => {
    const schema = operation[place] as (TSchema & Record<string, unknown>) | undefined
    const properties = (schema?.['properties'] ?? {}) as Record<string, Member['schema']>
    const required = new Set((schema?.['required'] ?? []) as string[])
    return Object.entries(properties).map(([name, member]) => ({
      place,
      name,
      schema: member,
      required: place === 'params' || required.has(name),
    }))
  })
}

type Input = { params: Record<string, string>; query: Record<string, string>; body: Record<string, unknown> }

/** Of members of which one has to be there, the one that is. */
const chosen: Readonly<Record<string, string>> = { ReportSwapExecution: 'actionId' }

/** A well-formed request: every required member, made from its schema. */
function wellFormed(operation: Operation<never>): Input {
  const input: Input = { params: {}, query: {}, body: {} }
  for (const { place, name, schema, required } of membersOf(operation)) {
    if (!required && chosen[operation.operationId] !== name) continue
    const value = buildExample(schema, name)
    if (place === 'body') input.body[name] = value
    else input[place][name] = String(value)
  }
  return input
}

async function send(operation: Operation<never>, input: Input): Promise<Answer> {
  const { params, query, body } = input
  return earn.call(operation.operationId, { params, query, key, ...(operation.method === 'POST' ? { body } : {}) })
}

function spoil(operation: Operation<never>, { place, name }: Member, value: unknown): Input {
  const input = wellFormed(operation)
  if (place === 'body') input.body[name] = value
  else input[place][name] = String(value)
  return input
}

const solana = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'
const ton = '0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8'
const evm = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

/** What does not fit a member, by its kind. */
function badValues({ place, name, schema }: Member): readonly unknown[] {
  const pattern = String(schema['pattern'] ?? '')
  const inBody = place === 'body'
  if (pattern.includes('{40}') && !pattern.includes('-('))
    return [
      evm.slice(0, -1),
      `${evm}0`,
      evm.slice(2),
      `0x${'g'.repeat(40)}`,
      solana,
      ton,
      ...(inBody ? [7, null, {}] : []),
    ]
  if (pattern.includes('{64}'))
    return [`0x${'a'.repeat(63)}`, `0x${'a'.repeat(65)}`, 'a'.repeat(64), `0x${'g'.repeat(64)}`]
  if (pattern.includes('{12}'))
    return ['8e03978e-40d5-43e8-bc93', 'x', '8e03978e40d543e8bc936894a57f9324', `${'8'.repeat(36)}`]
  if (schema['format'] === 'uint256')
    return ['-1', '1.5', '1e18', String(2n ** 256n), '0x10', ' 1', ...(inBody ? [1, 1.5, null, '', ['1']] : [])]
  if (schema['type'] === 'integer')
    return [
      '1.5',
      'x',
      '1e3',
      ...(schema['x-saturates'] ? [] : ['99999999999999999999']),
      '0x1',
      ...(inBody ? [1.5, null, []] : []),
    ]
  if (schema['type'] === 'number') return ['x', '.5', '5.', '+5', '01', '1e999', 'NaN', 'Infinity', '--1']
  if (schema['type'] === 'boolean') return ['yes', '1', 'TRUE', ...(inBody ? [1, null, 'true'] : [])]
  if (Array.isArray(schema['enum'])) return ['nonsense', ...(inBody ? [7, null] : [])]
  if (schema['type'] === 'string' && inBody) return [7, null, true, {}, ['x']]
  return name === '' ? [] : []
}

/** A live response does not end: streamEvents.test.ts has its cases. */
const cases = operations.filter(({ isLive }) => !isLive).map((operation) => [operation.operationId, operation] as const)
/** Operations that have a member of which a case can say something. */
const having = (fits: (member: Member) => boolean) =>
  cases.filter(([, operation]) => membersOf(operation).some((member) => fits(member)))

/** What does not fit a member, or one item of a list. */
function listBad(member: Member): readonly unknown[] {
  const inner = member.schema['items'] as Member['schema'] | undefined
  return inner ? badValues({ ...member, schema: inner, place: 'query' }) : badValues(member)
}

const isText = ({ place, schema }: Member) => place !== 'body' || schema['type'] === 'string'
const isDemanded = ({ place, required }: Member) => required && place !== 'params'

describe('a well-formed request', () => {
  it.each(cases)('to %s gets past the schema', async (_id, operation) => {
    const answer = await send(operation, wellFormed(operation))
    expect(answer.body?.context?.violations, answer.text).toBeUndefined()
  })
})

describe('400 INVALID_ARGUMENT', () => {
  const spoilable = having((member) => listBad(member).length > 0)
  it.each(spoilable)('%s refuses values of the wrong kind in every member, and names it', async (_id, operation) => {
    for (const member of membersOf(operation)) {
      for (const value of listBad(member)) {
        const answer = await send(operation, spoil(operation, member, value))
        const what = `${member.place} ${member.name} = ${JSON.stringify(value)}: ${answer.text}`
        expect(answer.status, what).toBe(400)
        expect(answer.body.error, what).toContain(member.name)
      }
    }
  })

  it.each(having(isDemanded))('%s refuses a missing member', async (_id, operation) => {
    for (const member of membersOf(operation)) {
      if (!isDemanded(member) || member.place === 'params') continue
      const input = wellFormed(operation)
      delete input[member.place][member.name]
      const answer = await send(operation, input)
      expect(answer.status, answer.text).toBe(400)
      expect(answer.body.context.violations.map(({ path }: { path: string }) => path.split('.').pop())).toContain(
        member.name,
      )
    }
  })

  it.each(having(isText))('%s refuses NUL characters anywhere, and scalars given twice', async (_id, operation) => {
    for (const member of membersOf(operation)) {
      const type = member.schema['type']
      if (!isText(member)) continue
      const answer = await send(operation, spoil(operation, member, 'a\u0000b'))
      expect(answer.status, `${member.name}: ${answer.text}`).toBe(400)
      if (member.place !== 'query' || type === 'array') continue
      const { params, query, body } = wellFormed(operation)
      const value = encodeURIComponent(String(buildExample(member.schema, member.name)))
      const twice = `${new URLSearchParams({ ...query, [member.name]: '' })}&${member.name}=${value}&${member.name}=${value}`
      const doubled = await earn.call(operation.operationId, {
        params,
        query: twice,
        key,
        body: operation.body && body,
      })
      expect(doubled.status, `${member.name} twice: ${doubled.text}`).toBe(400)
    }
  })

  const posts = cases.filter(([, operation]) => operation.method === 'POST')
  it.each(posts)('%s refuses bodies that are no JSON object', async (_id, operation) => {
    const { params, query } = wellFormed(operation)
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    for (const body of ['{', '[]', 'null', '7', '"x"', '{"a":}', deep, Buffer.from([0x7b, 0xff, 0x7d])]) {
      const answer = await earn.call(operation.operationId, { params, query, key, body })
      expect(answer.status, `${String(body).slice(0, 20)}: ${answer.text}`).toBe(400)
    }
  })
})

describe('400 INVALID_ARGUMENT for addresses of the wrong ecosystem', () => {
  const fitting = { evm, solana, ton }
  const asks = cases.filter(([, operation]) => membersOf(operation).some(({ name }) => name === 'walletEcosystem'))
  it.each(asks)('%s takes an address for its own ecosystem only', async (_id, operation) => {
    const place = operation.method === 'POST' ? 'body' : 'query'
    for (const walletEcosystem of ['evm', 'solana', 'ton', 'bitcoin'])
      for (const [ecosystem, address] of Object.entries(fitting)) {
        const input = wellFormed(operation)
        Object.assign(input[place], { walletEcosystem, address })
        const answer = await send(operation, input)
        if (ecosystem !== walletEcosystem) expect(answer.status, `${ecosystem} as ${walletEcosystem}`).toBe(400)
      }
    expect(asks.length).toBeGreaterThan(2)
  })
})

describe('413, 415 and 431', () => {
  const posts = cases.filter(([, operation]) => operation.method === 'POST')
  it.each(posts)('%s refuses a body above 64 KiB and one of another type', async (_id, operation) => {
    const { params } = wellFormed(operation)
    const big = { params, key, body: { note: 'x'.repeat(66_000) } }
    expect((await earn.call(operation.operationId, big)).status).toBe(413)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'x', '']) {
      const input = { params, key, body: '{}', headers: { 'content-type': type } }
      expect((await earn.call(operation.operationId, input)).status, type).toBe(415)
    }
  })

  it('every operation refuses a head above 64 KiB', async () => {
    const address = await earn.service.publicApp.listen({ host: '127.0.0.1', port: 0 })
    const port = Number(new URL(address).port)
    for (const operation of operations) {
      const head = `${operation.method} ${operation.path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nX-Big: ${'a'.repeat(70_000)}\r\n\r\n`
      const text = await sendRaw(port, head)
      expect(text, operation.operationId).toMatch(/^HTTP\/1\.1 431 /)
      expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 431, status: 'INVALID_ARGUMENT' })
    }
  })
})

describe('404 NOT_FOUND', () => {
  it.each(cases)('%s is there under its method and version alone', async (_id, operation) => {
    const path = operation.path.replace(/\{([a-zA-Z]+)\}/g, (_, name) => wellFormed(operation).params[name] ?? '')
    // A path may be another operation's too: `build` reads as the id of an order.
    const fits = (other: string) => new RegExp(`^${other.replace(/\{[a-zA-Z]+\}/g, '[^/]+')}$`).test(path)
    const taken = new Set(operations.filter((other) => fits(other.path)).map(({ method }) => String(method)))
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
      if (!taken.has(method)) expect((await earn.request(method, path, { key })).status, method).toBe(404)
    expect((await earn.request(operation.method, path.replace('/v2/', '/v1/'), { key })).status).toBe(404)
  })
})

describe('ignored', () => {
  it.each(cases)('%s takes no notice of names it does not know, snake_case twins included', async (_id, operation) => {
    const input = wellFormed(operation)
    const plain = await send(operation, input)
    const twins = membersOf(operation)
      .filter(({ place, name }) => place !== 'params' && /[A-Z]/.test(name))
      .map(({ name }) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    const extra = Object.fromEntries([...twins, 'tvlGreaterThan', 'unknown'].map((name) => [name, 'nonsense']))
    const answer = await send(operation, {
      ...input,
      query: { ...input.query, ...extra },
      body: { ...input.body, ...extra },
    })
    expect([answer.status, answer.body?.reason], answer.text).toEqual([plain.status, plain.body?.reason])
  })

  const named = having(({ place }) => place !== 'body')
  it.each(named)('%s survives 10 KB in any query value', async (_id, operation) => {
    for (const member of membersOf(operation)) {
      if (member.place === 'body') continue
      const answer = await send(operation, spoil(operation, member, 'x'.repeat(10_240)))
      expect([200, 400, 404], `${member.name}: ${answer.text.slice(0, 200)}`).toContain(answer.status)
    }
  })
})
