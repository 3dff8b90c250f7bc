import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { link, listFiles, pack, unpack } from './packing.js'
import { findTypeErrors, resolutions, typedUse } from './resolutions.js'

const run = promisify(execFile)
const sdk = fileURLToPath(new URL('..', import.meta.url))

/** What a user of the package does with it; `deposit` is the example of the package. Answers what came of it. */
const use = `
async function use({ attribution, verifyPlan, verifyStream }, { request, plan, context }) {
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
    stream: (await verifyStream({ type: 'claim', userAddress: to }, plan.transactions, { chainId: 1, stream: to })).ok,
  }
}`

const node = async (file: string) => (await run(process.execPath, [file])).stdout

const expected = {
  codes: ['acme'],
  again: true,
  written: '0x61636d65040080218021802180218021802180218021',
  signer: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  plan: true,
  stolen: false,
  stream: false,
}

describe('the packed sdk', () => {
  let folder: string
  let installed: string
  let example: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openearn-sdk-'))
    ;[installed = ''] = await unpack(await pack(['sdk'], folder), folder)
    const { dependencies, peerDependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    await link(Object.keys({ ...dependencies, ...peerDependencies }), folder)
    example = await readFile(join(sdk, 'examples', 'deposit.json'), 'utf8')
  }, 120_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('imports and runs with its public dependencies alone', async () => {
    const script = `import * as sdk from '@openearn/sdk/verify'
      ${use}
      console.log(JSON.stringify(await use(sdk, ${example})))`
    await writeFile(join(folder, 'use.mjs'), script)
    const { stdout } = await run(process.execPath, [join(folder, 'use.mjs')], { cwd: folder })
    expect(JSON.parse(stdout)).toEqual(expected)
  })

  it('is required by a CommonJS program, which gets the module that others import, without a warning', async () => {
    const script = `const sdk = require('@openearn/sdk/verify')
      ${use}
      use(sdk, ${example}).then(async (answer) => {
        console.log(JSON.stringify(answer))
        console.log((await import('@openearn/sdk/verify')).verifyPlan === sdk.verifyPlan)
      })`
    await writeFile(join(folder, 'use.cjs'), script)
    const { stdout, stderr } = await run(process.execPath, [join(folder, 'use.cjs')], { cwd: folder })
    const [answer, same] = stdout.trim().split('\n')
    expect(JSON.parse(answer!)).toEqual(expected)
    expect({ same, stderr }).toEqual({ same: 'true', stderr: '' })
  })

  it('gives its client to a program that has neither viem nor cborg', async () => {
    const place = await mkdtemp(join(tmpdir(), 'openearn-client-'))
    try {
      const [alone = ''] = await unpack(await pack(['sdk'], place), place)
      expect(alone).not.toBe('')
      const script = `import { createEarnClient, getChains } from '@openearn/sdk'
        const fetch = async (url) => new Response(JSON.stringify({ url }))
        console.log((await getChains(createEarnClient({ baseUrl: 'https://earn.example', fetch }))).url)`
      await writeFile(join(place, 'use.mjs'), script)
      const { stdout } = await run(process.execPath, [join(place, 'use.mjs')], { cwd: place })
      expect(stdout).toBe('https://earn.example/v2/chains/\n')
    } finally {
      await rm(place, { recursive: true, force: true })
    }
  })

  it.each([
    [
      'import',
      'mjs',
      `import * as turtle from '@openearn/sdk/turtle'\nimport * as flows from '@openearn/sdk/flows'\nimport * as proof from '@openearn/sdk/proof'\nimport * as wallet from '@openearn/sdk/wallet'`,
    ],
    [
      'require',
      'cjs',
      `const turtle = require('@openearn/sdk/turtle'), flows = require('@openearn/sdk/flows'), proof = require('@openearn/sdk/proof'), wallet = require('@openearn/sdk/wallet')`,
    ],
  ])(
    'gives the names of the origin and the flows by %s, configured by the environment as there',
    async (_, kind, load) => {
      const script = `${load}
      const fetch = async (request) => new Response(JSON.stringify([request.url, request.headers.get('x-api-key')]))
      turtle.getChains({ fetch }).then(({ data }) => console.log(JSON.stringify([...data, typeof flows.advance, typeof proof.verifyProof, typeof wallet.askFor])))`
      const file = join(folder, `turtle.${kind}`)
      await writeFile(file, script)
      const env = { ...process.env, TURTLE_API_KEY: 'pk_live_x', TURTLE_BASE_URL: 'https://earn.example/' }
      const { stdout, stderr } = await run(process.execPath, [file], { cwd: folder, env })
      expect(JSON.parse(stdout)).toEqual([
        'https://earn.example/v2/chains/',
        'pk_live_x',
        'function',
        'function',
        'function',
      ])
      expect(stderr).toBe('')
    },
  )

  it.each(Object.keys(resolutions).slice(0, 5))(
    'is typed where modules are resolved as %s',
    async (name) => expect(await findTypeErrors(folder, name, typedUse)).toBe(''),
    60_000,
  )

  it('runs its examples as they are packed', async () => {
    for (const name of ['checkBeforeSigning.mjs', 'readAttribution.mjs']) {
      const [packed, ours] = await Promise.all(
        [installed, sdk].map((place) => run(process.execPath, [join(place, 'examples', name)])),
      )
      expect(packed?.stdout).toBe(ours?.stdout)
      expect(packed?.stdout).not.toBe('')
    }
  })

  it('holds no test, no source and no name of a package that is not published', async () => {
    const names = await listFiles(installed)
    expect(names.filter((name) => /\.test\.|^src|^test|tsbuildinfo|\.map$/.test(name))).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['LICENSE', 'NOTICE', 'README.md', 'dist/codec/codec.js']))
    const files = names.filter((name) => /\.(js|d\.c?ts)$/.test(name))
    expect(files.length).toBeGreaterThan(20)
    for (const name of files)
      expect(await readFile(join(installed, name), 'utf8'), name).not.toMatch(/(from|import\() ?['"]@openearn\//)
  })

  it('takes viem from whoever installs it, and brings none of its own', async () => {
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    expect(manifest.peerDependencies).toEqual({ viem: '^2.21.0' })
    expect(Object.keys(manifest.dependencies)).toEqual(['cborg'])
    const used = new Set<string>()
    for (const name of (await listFiles(installed)).filter((each) => /^dist.*\.js$/.test(each)))
      for (const [, from] of (await readFile(join(installed, name), 'utf8')).matchAll(/\bfrom '([^.'][^']*)'/g))
        used.add(from!)
    expect([...used].sort()).toEqual(['cborg', 'viem'])
  })

  it('builds into a page with Vite, and runs there', async () => {
    const page = join(folder, 'page')
    await mkdir(page)
    await writeFile(join(page, 'index.html'), '<script type="module" src="./main.js"></script>')
    const main = `import * as sdk from '@openearn/sdk/verify'\n${use}\nglobalThis.answer = use(sdk, ${example})`
    await writeFile(join(page, 'main.js'), main)
    const said: string[] = []
    const logger = {
      info: () => undefined,
      clearScreen: () => undefined,
      hasErrorLogged: () => false,
      hasWarned: false,
    }
    const say = (text: string) => said.push(text)
    await build({
      root: page,
      configFile: false,
      logLevel: 'warn',
      customLogger: { ...logger, warn: say, warnOnce: say, error: say },
      build: { modulePreload: { polyfill: false } },
    })
    expect(said).toEqual([])
    const html = await readFile(join(page, 'dist', 'index.html'), 'utf8')
    const script = /src="\/(assets\/[^"]+\.js)"/.exec(html)?.[1]
    const run = `await import('./${script}'); console.log(JSON.stringify(await answer))`
    await writeFile(join(page, 'dist', 'run.mjs'), run)
    expect(JSON.parse(await node(join(page, 'dist', 'run.mjs')))).toEqual(expected)
  }, 60_000)

  it('bundles for a browser: no module of Node in it, and it runs where there is no Buffer and no process', async () => {
    await writeFile(join(folder, 'browser.mjs'), "export * from '@openearn/sdk/verify'")
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
