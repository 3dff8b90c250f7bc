import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as client from '../src/client/index.js'

const run = promisify(execFile)
const sdk = fileURLToPath(new URL('..', import.meta.url))
const entry = JSON.stringify(join(sdk, 'dist/client/index.js'))
const flows = JSON.stringify(join(sdk, 'dist/flows/index.js'))

/** Bytes of a program after bundling, minifying and brotli, as a browser loads it at first. */
async function sizeOf(folder: string, name: string, code: string): Promise<number> {
  const file = join(folder, `${name}.mjs`)
  await writeFile(file, code)
  const bundle = await rolldown({ input: file })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  return brotliCompressSync(output[0].code).length
}

describe('the client', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openearn-client-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('is what the OpenAPI document says today', async () => {
    await run(process.execPath, [join(sdk, 'scripts/generateClient.mjs'), '--check'])
  })

  it('takes at most 3.5 kB with every operation, and 1.2 kB with one', async () => {
    const all = await sizeOf(folder, 'all', `export * from ${entry}`)
    const one = await sizeOf(
      folder,
      'one',
      `import { createEarnClient, listOpportunities } from ${entry}
       console.log(listOpportunities(createEarnClient({ baseUrl: '/' })))`,
    )
    expect(all).toBeLessThanOrEqual(3_500)
    expect(one).toBeLessThanOrEqual(1_200)
  })

  it('takes at most 20 kB with every operation and all flows; the verifier is loaded with the first plan', async () => {
    const code = `export * from ${entry}\nexport * from ${flows}`
    const bytes = await sizeOf(folder, 'flows', code)
    expect(bytes).toBeGreaterThan(3_500)
    expect(bytes).toBeLessThanOrEqual(20_000)
    const bundle = await rolldown({ input: join(folder, 'flows.mjs') })
    const { output } = await bundle.generate({ format: 'esm' })
    await bundle.close()
    const [first, ...later] = output
    expect(first.code).not.toMatch(/secp256k1|function verifyPlan/)
    expect(later.some((chunk) => 'code' in chunk && chunk.code.includes('function verifyPlan'))).toBe(true)
  })

  it('has one function for each operation of the document, named after it', async () => {
    const document = JSON.parse(
      await (await import('node:fs/promises')).readFile(join(sdk, '../service/openapi.json'), 'utf8'),
    ) as { paths: Record<string, Record<string, { operationId: string }>> }
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((each) => each.operationId))
    const names = ids.map((id) => id[0]?.toLowerCase() + id.slice(1)).sort()
    const own = ['EarnError', 'all', 'createEarnClient']
    expect(
      Object.keys(client)
        .filter((name) => !own.includes(name))
        .sort(),
    ).toEqual(names)
  })
})
