import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { generate as generateOrval } from 'orval'
import ts from 'typescript'

const input = fileURLToPath(new URL('../../openapi.json', import.meta.url))
/** Inside the workspace, so that generated code finds its packages; not committed. */
const outputs = fileURLToPath(new URL('../../.generated', import.meta.url))

export const outputOf = (name: string) => join(outputs, name)

export type Asked = { baseUrl: string; key: string; opportunityId: string; body: Record<string, string> }
export type Plan = { actionId: string; transactions: { type: string; transaction: { to: string; data: string } }[] }

/** A generator of clients, and the lines of an app that asks for a deposit's plan through what it generates. */
export type Generator = { name: string; generate(output: string): Promise<void>; use: string }

const asked = `
export type Asked = {
  baseUrl: string
  key: string
  opportunityId: string
  body: { userAddress: string; tokenIn: string; amount: string; distributorId: string }
}
`

export const generators: readonly Generator[] = [
  {
    name: 'hey-api',
    generate: async (output) => {
      await createClient({
        input,
        output,
        logs: { level: 'silent' },
        plugins: [
          '@hey-api/client-fetch',
          '@hey-api/typescript',
          'zod',
          { name: '@hey-api/sdk', validator: { response: 'zod' } },
        ],
      })
    },
    use: `
import { createClient } from './client/index.js'
import { createDepositInteraction } from './sdk.gen.js'
${asked}
export async function makePlan({ baseUrl, key, opportunityId, body }: Asked) {
  const client = createClient({ baseUrl, auth: () => key })
  const { data } = await createDepositInteraction({ client, path: { opportunityId }, body, throwOnError: true })
  return { actionId: data.actionId, transactions: data.transactions }
}
`,
  },
  {
    name: 'openapi-typescript',
    generate: async (output) => {
      await writeFile(join(output, 'paths.ts'), astToString(await openapiTypescript(pathToFileURL(input))))
    },
    use: `
import type { paths } from './paths.js'
${asked}
type Deposit = paths['/v2/actions/deposit/{opportunityId}']['post']
type Body = NonNullable<Deposit['requestBody']>['content']['application/json']
type Answer = Deposit['responses'][200]['content']['application/json']

export async function makePlan({ baseUrl, key, opportunityId, body }: Asked) {
  const sent: Body = body
  const response = await fetch(\`\${baseUrl}/v2/actions/deposit/\${opportunityId}\`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify(sent),
  })
  if (!response.ok) throw new Error(await response.text())
  const data = (await response.json()) as Answer
  return { actionId: data.actionId, transactions: data.transactions }
}
`,
  },
  {
    name: 'orval',
    generate: async (output) => {
      await generateOrval(
        { input: { target: input }, output: { target: join(output, 'client.ts'), client: 'fetch', mode: 'single' } },
        output,
      )
    },
    use: `
import { createDepositInteraction } from './client.js'
${asked}
export async function makePlan({ baseUrl, key, opportunityId, body }: Asked) {
  const plain = globalThis.fetch
  // Its functions ask paths of the page's own origin.
  globalThis.fetch = (path, init) => plain(\`\${baseUrl}\${path}\`, init)
  try {
    const answer = await createDepositInteraction(opportunityId, body, { headers: { 'X-API-Key': key } })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.data))
    return { actionId: answer.data.actionId, transactions: answer.data.transactions }
  } finally {
    globalThis.fetch = plain
  }
}
`,
  },
]

/** Generates a client into a new folder, with the lines that use it and the same lines with a number where a text belongs. */
export async function writeClient({ name, generate, use }: Generator): Promise<void> {
  const output = outputOf(name)
  await rm(output, { recursive: true, force: true })
  await mkdir(output, { recursive: true })
  await generate(output)
  await writeFile(join(output, 'use.ts'), use)
  await writeFile(join(output, 'wrong.ts'), use.replace('amount: string', 'amount: number'))
}

/** What the compiler says of the files that use the clients, and of all that these load, where it is strict. */
export function compileClients(names: readonly string[]): string[] {
  const program = ts.createProgram(
    names.flatMap((name) => ['use.ts', 'wrong.ts'].map((file) => join(outputOf(name), file))),
    {
      strict: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
    },
  )
  return ts.getPreEmitDiagnostics(program).map(({ file: source, messageText }) => {
    const place = source?.fileName.slice(outputs.length + 1) ?? ''
    return `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}
