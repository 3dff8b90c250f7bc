import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../../src/server/operations.js'

const input = fileURLToPath(new URL('../../openapi.json', import.meta.url))
/** Inside the workspace; not committed. */
const output = fileURLToPath(new URL('../../.generated/types', import.meta.url))

beforeAll(async () => {
  await rm(output, { recursive: true, force: true })
  await mkdir(output, { recursive: true })
  await createClient({ input, output, logs: { level: 'silent' }, plugins: ['@hey-api/typescript'] })
}, 60_000)

/**
 * `Fits<A, B>` is true where whoever has an A can use it as a B, and where A has each member of B that may be left out.
 * What an operation does not take is `never` or absent in generated code and absent in the contract's.
 */
const tools = `
import type * as Generated from './types.gen.js'
import type { Operations } from '../../test/contractShapes.js'
type Part<T, K extends string> = K extends keyof T ? Exclude<T[K], undefined> : never
type Whole<T> = T extends (infer U)[] ? Whole<U>[] : T extends object ? { [K in keyof T]-?: Whole<T[K]> } : T
type Fits<A, B> = [A] extends [never] ? true : [A, Whole<A>] extends [B, Whole<B>] ? true : false
const yes = (_: true) => undefined
`

/** What the generator calls an operation: it writes several capitals in a row as a word. */
const generatedName = (operationId: string) =>
  operationId.replace(/[A-Z]{2,}s?$/, (last) => `${last.slice(0, 1)}${last.slice(1).toLowerCase()}`)

/** Two lines for each part of an operation, one a direction. */
function writeClaims(operationId: string): { text: string; claims: string[] } {
  const name = generatedName(operationId)
  const parts = [
    ...['path', 'query', 'body'].map((part) => [part, `Part<Generated.${name}Data, '${part}'>`] as const),
    ['answer', `Generated.${name}Responses[200]`] as const,
  ]
  const lines = parts.flatMap(([part, generated]) => {
    const own = `Part<Operations['${operationId}'], '${part}'>`
    return [
      {
        text: `yes(null! as Fits<${generated}, ${own}>)`,
        claim: `${operationId} ${part}: generated as the contract's`,
      },
      {
        text: `yes(null! as Fits<${own}, ${generated}>)`,
        claim: `${operationId} ${part}: the contract's as generated`,
      },
    ]
  })
  return { text: lines.map(({ text }) => text).join('\n'), claims: lines.map(({ claim }) => claim) }
}

/** The claims the compiler does not believe. */
async function check(operationIds: readonly string[], change = (text: string) => text): Promise<string[]> {
  const file = join(output, 'claims.ts')
  const written = operationIds.map(writeClaims)
  await writeFile(file, change(`${tools}${written.map(({ text }) => text).join('\n')}\n`))
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  })
  const claims = written.flatMap((one) => one.claims)
  const first = tools.split('\n').length - 1
  return ts.getPreEmitDiagnostics(program).map(({ file: source, start = 0, messageText }) => {
    const line = source?.getLineAndCharacterOfPosition(start).line ?? -1
    const said = ts.flattenDiagnosticMessageText(messageText, '\n')
    return (source?.fileName.endsWith('claims.ts') ? claims[line - first] : undefined) ?? `${source?.fileName}: ${said}`
  })
}

describe('types generated from the OpenAPI document', () => {
  it('are the contract’s in both directions: whatever fits one fits the other, of every operation', async () => {
    expect(await check(operations.map(({ operationId }) => operationId))).toEqual([])
  }, 60_000)

  it('would not be believed if an answer lacked a member, or a request asked for more or could not say all', async () => {
    const narrowed = await check(['GetChains'], (text) =>
      text.replace('Generated.GetChainsResponses[200]', '{ data: [] }'),
    )
    expect(narrowed).toEqual(['GetChains answer: generated as the contract’s'.replace('’', "'")])
    const wider = await check(['GetMembership'], (text) =>
      text.replaceAll(
        "Part<Generated.GetMembershipData, 'query'>",
        "Part<Generated.GetMembershipData, 'query'> & { more: string }",
      ),
    )
    expect(wider).toEqual(["GetMembership query: the contract's as generated"])
    const lost = await check(['GetTokens'], (text) =>
      text.replaceAll(
        "Part<Generated.GetTokensData, 'query'>",
        "Omit<Part<Generated.GetTokensData, 'query'>, 'search'>",
      ),
    )
    expect(lost).toEqual(["GetTokens query: generated as the contract's"])
  }, 60_000)
})
