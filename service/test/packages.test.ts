import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { packageFolders, publishedFolders } from '../../sdk/test/packing.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFile(`${root}${path}`, 'utf8')

type Manifest = {
  name: string
  version: string
  license: string
  description: string
  keywords: string[]
  engines: { node: string }
  files: string[]
  private?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  allowScripts?: Record<string, boolean>
  overrides?: Record<string, string | Record<string, string>>
}
type Component = {
  group?: string
  name: string
  version: string
  scope?: string
  licenses: { license: { id: string } }[]
}
type Locked = {
  version: string
  license: string
  dev?: boolean
  optional?: boolean
  link?: boolean
  hasInstallScript?: boolean
  engines?: { node?: string }
}

const manifest = async (folder: string): Promise<Manifest> => JSON.parse(await read(`${folder}/package.json`))

/** Licences that ask for no more than their own text beside the package. */
const permissive = ['Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'Unlicense']

/** What others of them use where it is there anyway: nothing of ours asks for it. */
const unasked = ['typescript']

/** What npm says that a production installation of our packages consists of, by the lock, as name@version. */
async function listLocked(): Promise<Map<string, Locked>> {
  const ours = packageFolders.flatMap((folder) => ['-w', folder])
  const words = ['ls', ...ours, '--omit=dev', '--package-lock-only', '--all', '--parseable', '--long']
  const { stdout } = await run('npm', words, { cwd: root })
  const { packages } = JSON.parse(await read('package-lock.json')) as { packages: Record<string, Locked> }
  const entries = stdout.split('\n').flatMap((line): [string, Locked][] => {
    const [path = '', name = ''] = line.split(':')
    const entry = path.startsWith(root) ? packages[path.slice(root.length)] : undefined
    return entry === undefined || entry.link || unasked.some((each) => name.startsWith(`${each}@`))
      ? []
      : [[name, entry]]
  })
  return new Map(entries)
}

async function listComponents(): Promise<Map<string, Component>> {
  const { components } = JSON.parse(await read('sbom.json')) as { components: Component[] }
  return new Map(components.map((one) => [`${one.group ? `${one.group}/` : ''}${one.name}@${one.version}`, one]))
}

describe('the packages', () => {
  it('stand under the Apache License 2.0, each with its text and the notice', async () => {
    const [licence, notice] = await Promise.all([read('LICENSE'), read('NOTICE')])
    expect(licence).toMatch(/Apache License\s+Version 2\.0, January 2004/)
    expect(licence).toContain('END OF TERMS AND CONDITIONS')
    for (const folder of publishedFolders) {
      const { license, files } = await manifest(folder)
      expect({ folder, license }).toEqual({ folder, license: 'Apache-2.0' })
      expect(await read(`${folder}/LICENSE`)).toBe(licence)
      expect(await read(`${folder}/NOTICE`)).toBe(notice)
      expect(files).toContain('NOTICE')
    }
  })

  it('say what they are, what they need and that they may be published, all at one version', async () => {
    const { version, engines } = await manifest('.')
    for (const folder of publishedFolders) {
      const one = await manifest(folder)
      expect({ folder, version: one.version, engines: one.engines }).toEqual({ folder, version, engines })
      expect(one.private).toBeUndefined()
      expect(one.description.length).toBeGreaterThan(40)
      expect(one.keywords.length).toBeGreaterThan(2)
      for (const [name, wanted] of Object.entries({ ...one.dependencies, ...one.optionalDependencies }))
        expect(wanted, `${folder}: ${name}`).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
    }
  })

  it('run on the least Node as they are installed from their tarballs, with every package they bring', async () => {
    const { engines } = await manifest('.')
    const least = Number(/^>=(\d+)/.exec(engines.node)?.[1])
    const runs = (wanted: string) =>
      wanted.split('||').some((range) => {
        const major = Number(/\d+/.exec(range)?.[0] ?? 0)
        return />/.test(range) ? major <= least : major === least || range.trim() === '*'
      })
    expect([runs('>=22'), runs('^20.19.0 || >=22.12'), runs('>= 18'), runs('^18')]).toEqual([false, true, true, false])
    const locked = await listLocked()
    const wanted = [...locked].flatMap(([name, one]) => (one.engines?.node ? [{ name, node: one.engines.node }] : []))
    expect(wanted.length).toBeGreaterThan(20)
    expect(wanted.filter(({ node }) => !runs(node))).toEqual([])
    // An override of the checkout does not travel with a tarball, so it may concern tests and tools only.
    const { overrides = {} } = await manifest('.')
    const named = Object.entries(overrides).flatMap(([name, inner]) =>
      typeof inner === 'string' ? [name] : [name, ...Object.keys(inner)],
    )
    const names = [...locked.keys()].map((name) => name.slice(0, name.lastIndexOf('@')))
    expect(names.filter((name) => named.includes(name))).toEqual([])
  })

  it('need neither a local chain nor a compiler to run', async () => {
    const names = [...(await listLocked()).keys()].map((name) => name.slice(0, name.lastIndexOf('@')))
    expect(names.length).toBeGreaterThan(80)
    expect(names.filter((name) => /^@foundry-rs|^@openzeppelin|^solc$|^vitest$|^typescript$/.test(name))).toEqual([])
  })
})

describe('a checkout', () => {
  it('installs by npm ci what npm start needs: the tools and what carries foreign bytecode come with npm test', async () => {
    const { packages } = JSON.parse(await read('package-lock.json')) as { packages: Record<string, Locked> }
    expect(await read('.npmrc')).toMatch(/^omit=dev$/m)
    const left = Object.entries(packages).filter(([, { dev }]) => dev)
    const names = left.map(([path]) => path.split('node_modules/').at(-1) ?? '')
    for (const tool of ['@foundry-rs/forge', '@duckdb/node-api', 'playwright-core', '@biomejs/biome', 'vitest', 'solc'])
      expect(names).toContain(tool)
    for (const contracts of ['@safe-global/safe-contracts', 'entry-point-06', 'entry-point-07', 'entry-point-08'])
      expect(names).toContain(contracts)
    // The devnet deploys these, and needs the local chain.
    for (const needed of ['@aave/core-v3', '@cowprotocol/contracts', '@uniswap/v3-core', '@foundry-rs/anvil'])
      expect(names).not.toContain(needed)
  })

  it('decides on every script that a package would run at npm ci, on any platform, so that npm asks nothing', async () => {
    const { packages } = JSON.parse(await read('package-lock.json')) as { packages: Record<string, Locked> }
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
    const names = new Set(scripted.map(([path]) => path.split('node_modules/').at(-1) ?? ''))
    expect(Object.keys((await manifest('.')).allowScripts ?? {}).sort()).toEqual([...names].sort())
  })

  it('names what npm start needs at the versions with which it is tested', async () => {
    const { dependencies = {} } = await manifest('.')
    const folders = await Promise.all([...publishedFolders, 'portal', '.'].map(manifest))
    const tested = Object.assign({}, ...folders.map(({ devDependencies }) => devDependencies))
    const { 'typescript-native': compiler, ...others } = dependencies
    expect(compiler).toMatch(/^npm:typescript@7/)
    expect(others).toEqual(Object.fromEntries(Object.keys(others).map((name) => [name, tested[name]])))
  })
})

describe('licences and the bill of materials', () => {
  it('agree with what npm lists of a production installation by the lock, and are written anew by npm run licences', async () => {
    await expect(run(process.execPath, ['scripts/licences.mjs', '--check'], { cwd: root })).resolves.toBeDefined()
    const [locked, components, page] = [await listLocked(), await listComponents(), await read('docs/licences.md')]
    const own = new Set(await Promise.all(packageFolders.map(async (folder) => (await manifest(folder)).name)))
    const foreign = [...components].filter(([, { group, name }]) => !own.has(`${group}/${name}`))
    expect(foreign.map(([name]) => name).sort()).toEqual([...locked.keys()].sort())
    for (const [name, { licenses }] of foreign)
      expect([name, licenses[0]?.license.id]).toEqual([name, locked.get(name)?.license])
    const listed = [...page.matchAll(/^\| `([^`]+)` \| (\S+) \| (\S+) \|$/gm)].map(
      ([, name, version]) => `${name}@${version}`,
    )
    expect(listed.sort()).toEqual([...locked.keys()].sort())
  })

  it('name permissive licences only', async () => {
    const found = new Set([...(await listLocked()).values()].map(({ license }) => license))
    expect([...found].filter((licence) => !permissive.includes(licence))).toEqual([])
  })
})
