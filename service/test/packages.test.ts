import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { packageFolders } from '../../sdk/test/packing.js'

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
  dependencies?: Record<string, string>
  dev?: boolean
  devOptional?: boolean
  link?: boolean
  os?: string[]
}

const manifest = async (folder: string): Promise<Manifest> => JSON.parse(await read(`${folder}/package.json`))

/** Licences that ask for no more than their own text beside the package. */
const permissive = ['Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'Unlicense']

/** What stands in the lock for a production installation, as name@version. */
async function listLocked(): Promise<Map<string, Locked>> {
  const { packages } = JSON.parse(await read('package-lock.json')) as { packages: Record<string, Locked> }
  const installed = Object.entries(packages).filter(([, { dev, devOptional }]) => !dev && !devOptional)
  // What development needs too is marked: it belongs to production where a package of production depends on it.
  const needed = new Set(installed.flatMap(([, { dependencies }]) => Object.keys(dependencies ?? {})))
  const entries = Object.entries(packages).filter(([path, { dev, devOptional, link }]) => {
    const name = path.split('node_modules/').at(-1) ?? ''
    return path !== name && !dev && !link && (!devOptional || needed.has(name))
  })
  return new Map(entries.map(([path, entry]) => [`${path.split('node_modules/').at(-1)}@${entry.version}`, entry]))
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
    for (const folder of packageFolders) {
      const { license, files } = await manifest(folder)
      expect({ folder, license }).toEqual({ folder, license: 'Apache-2.0' })
      expect(await read(`${folder}/LICENSE`)).toBe(licence)
      expect(await read(`${folder}/NOTICE`)).toBe(notice)
      expect(files).toContain('NOTICE')
    }
  })

  it('say what they are, what they need and that they may be published, all at one version', async () => {
    const { version, engines } = await manifest('.')
    for (const folder of packageFolders) {
      const one = await manifest(folder)
      expect({ folder, version: one.version, engines: one.engines }).toEqual({ folder, version, engines })
      expect(one.private).toBeUndefined()
      expect(one.description.length).toBeGreaterThan(40)
      expect(one.keywords.length).toBeGreaterThan(2)
      for (const [name, wanted] of Object.entries({ ...one.dependencies, ...one.optionalDependencies }))
        expect(wanted, `${folder}: ${name}`).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
    }
  })

  it('need neither a local chain nor a compiler to run', async () => {
    const names = [...(await listLocked()).keys()].map((name) => name.slice(0, name.lastIndexOf('@')))
    expect(names.length).toBeGreaterThan(80)
    expect(names.filter((name) => /^@foundry-rs|^@openzeppelin|^solc$|^vitest$|^typescript$/.test(name))).toEqual([])
  })
})

describe('licences and the bill of materials', () => {
  it('agree with the lock, and are written anew by npm run licences', async () => {
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

  it('agree with what npm lists of a production installation', async () => {
    const words = ['ls', '--omit=dev', '--omit=peer', '--all', '--parseable', '--long']
    // It ends with 1 where an optional package of another platform is not installed, and lists the others all the same.
    const { stdout } = await run('npm', words, { cwd: root }).catch((error: { stdout: string }) => error)
    const names = stdout
      .trim()
      .split('\n')
      .flatMap((line) => line.split(':')[1] ?? [])
    const components = await listComponents()
    const unlisted = [...new Set(names)].filter((name) => !components.has(name))
    // The root, what is measured with, the subject of the bill itself, and what others may use where it is there anyway.
    expect(unlisted.map((name) => name.slice(0, name.lastIndexOf('@'))).sort()).toEqual([
      '@openearn/bench',
      '@openearn/service',
      'openearn',
      'typescript',
      'zod',
    ])
    const missing = [...components].filter(([name]) => !names.includes(name))
    for (const [name, { scope }] of missing) expect([name, scope]).toEqual([name, 'optional'])
    expect(missing.length).toBeLessThan(8)
  }, 60_000)

  it('name permissive licences only', async () => {
    const found = new Set([...(await listLocked()).values()].map(({ license }) => license))
    expect([...found].filter((licence) => !permissive.includes(licence))).toEqual([])
  })
})
