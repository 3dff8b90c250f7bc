import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const sdk = fileURLToPath(new URL('..', import.meta.url))
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** What a user of the package does with it; `deposit` is the example of the package. Answers what came of it. */
const use = `
async function use({ attribution, verifyPlan }, { request, plan, context }) {
  const { to, data } = plan.transactions.at(-1).transaction
  const [suffix] = attribution.decode(data)
  const own = attribution.readOwnMetadata(suffix)
  const transaction = { chainId: context.chainId, from: request.userAddress, to, input: data }
  const { signature } = await attribution.inspect(transaction, context.signers)
  const stolen = plan.transactions.map((each) => ({ ...each, transaction: { ...each.transaction, value: '1' } }))
  return {
    codes: attribution.listCodes(suffix),
    again: data.endsWith(attribution.encode(own).slice(2)),
    written: attribution.encode({ codes: ['acme'] }),
    signer: signature.signer,
    plan: (await verifyPlan(request, plan.transactions, context)).ok,
    stolen: (await verifyPlan(request, stolen, context)).ok,
  }
}`

const expected = {
  codes: ['acme'],
  again: true,
  written: '0x61636d65040080218021802180218021802180218021',
  signer: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  plan: true,
  stolen: false,
}

describe('the packed sdk', () => {
  let folder: string
  let installed: string
  let example: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openearn-sdk-'))
    installed = join(folder, 'node_modules', '@openearn', 'sdk')
    await mkdir(installed, { recursive: true })
    await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: sdk })
    const packed = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
    expect(packed).toHaveLength(1)
    await run('tar', ['-xzf', join(folder, packed[0]!), '-C', installed, '--strip-components=1'])
    const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    for (const name of Object.keys(dependencies)) await symlink(join(modules, name), join(folder, 'node_modules', name))
    example = await readFile(join(sdk, 'examples', 'deposit.json'), 'utf8')
  }, 120_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('imports and runs with its public dependencies alone', async () => {
    const script = `import * as sdk from '@openearn/sdk'
      ${use}
      console.log(JSON.stringify(await use(sdk, ${example})))`
    await writeFile(join(folder, 'use.mjs'), script)
    const { stdout } = await run(process.execPath, [join(folder, 'use.mjs')], { cwd: folder })
    expect(JSON.parse(stdout)).toEqual(expected)
  })

  it('holds no test, no source and no name of a package that is not published', async () => {
    const names = await readdir(installed, { recursive: true })
    expect(names.filter((name) => /\.test\.|^src|^test|tsbuildinfo|\.map$/.test(name))).toEqual([])
    const files = names.filter((name) => /\.(js|d\.ts)$/.test(name))
    expect(files.length).toBeGreaterThan(20)
    for (const name of files)
      expect(await readFile(join(installed, name), 'utf8'), name).not.toMatch(/(from|import\() ?['"]@openearn\//)
  })

  it('bundles for a browser: no module of Node in it, and it runs where there is no Buffer and no process', async () => {
    await writeFile(join(folder, 'browser.mjs'), "export * from '@openearn/sdk'")
    const bundle = await rolldown({ input: join(folder, 'browser.mjs'), platform: 'browser', logLevel: 'silent' })
    const { output } = await bundle.generate({ format: 'iife', name: 'sdk', minify: true, codeSplitting: false })
    await bundle.close()
    expect(output).toHaveLength(1)
    const [chunk] = output
    const nodes = new Set([...builtinModules, ...builtinModules.map((name) => `node:${name}`)])
    expect([...chunk.imports, ...chunk.dynamicImports].filter((name) => nodes.has(name))).toEqual([])
    expect(chunk.code).not.toMatch(/['"`]node:|WebAssembly/)
    const { TextEncoder, TextDecoder, crypto, URL } = globalThis
    const page = createContext({ TextEncoder, TextDecoder, crypto, URL, example })
    const answer = runInContext(`${chunk.code};${use};use(sdk, JSON.parse(example))`, page)
    expect(await answer).toEqual(expected)
    expect(runInContext('[typeof Buffer, typeof process, typeof require].join()', page)).toBe(
      'undefined,undefined,undefined',
    )
  })
})
