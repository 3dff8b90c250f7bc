import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readTree } from './tables.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const skipped = new Set(['node_modules', 'dist', '.git', '.openearn', 'coverage'])

/** Files that may name an installed package and write at the same time, each with what it writes. */
const allowed: Record<string, string> = {
  'bench/micro/chain.mjs': 'a cache folder of its own, which it removes',
  'bench/micro/proofs.mjs': 'a temporary folder of its own',
  'bench/peers/ponder/run.mjs': 'temporary folders of its own',
  'contracts/test/anvil.ts': 'temporary folders of its own',
  'packages/embedded-postgres/src/embedded.test.ts': 'a copy of an installation in a temporary folder',
  'packages/embedded-postgres/src/embeddedFolder.ts': 'copies in the data folder',
  'scripts/licences.mjs': 'sbom.json and docs/licences.md',
  'scripts/pages.mjs': 'the files of the pages in the service’s own dist',
  'sdk/scripts/copyCodec.js': 'the codec’s files in the sdk’s own dist',
  'sdk/test/installed.long.test.ts': 'temporary folders that npm installs into',
  'sdk/test/resolutions.ts': 'a folder of a packed package',
  'sdk/test/packing.ts': 'temporary folders that packages are unpacked into',
  'service/src/cli/dev/anvil.ts': 'the devnet’s folder',
  'service/test/addedKind.chain.test.ts': 'a temporary copy of the source',
  'service/test/copy.ts': 'a temporary copy of the source',
  'service/test/e2e/snippets.ts': 'a temporary folder that looks like a checkout',
  'service/test/installed.long.test.ts': 'a temporary folder that npm installs into',
  'service/test/loadedFiles.test.ts': 'a temporary folder of its own, which it removes',
  'service/test/packed.test.ts': 'a temporary folder with packed packages',
  'service/test/workedExample.test.ts': 'a temporary copy of the source',
  'service/test/dependencies.test.ts': 'nothing: it holds the words it looks for',
  'service/test/deployUnits.test.ts': 'a temporary folder of units',
  'service/test/installedImage.long.test.ts': 'a temporary folder that stands for an image',
}

const names = /node_modules|(import\.meta|require)\.resolve\b|createRequire\(/
const writes =
  /\b(writeFile|appendFile|rename|copyFile|cp|symlink|link|truncate|unlink|rm|createWriteStream)(Sync)?\(|\bsed -i|\bpatch\b/

/** Why a file could change an installed package; undefined when it cannot. */
const findWrite = (text: string) =>
  names.test(text) && writes.test(text) ? 'names an installed package and writes' : undefined

async function listFiles(folder: string, pattern: RegExp): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(`${root}${folder}`, { withFileTypes: true })) {
    const path = `${folder}${entry.name}`
    if (entry.isDirectory() && !skipped.has(entry.name)) found.push(...(await listFiles(`${path}/`, pattern)))
    if (entry.isFile() && pattern.test(entry.name)) found.push(path)
  }
  return found
}

const read = (path: string) => readFile(`${root}${path}`, 'utf8')

describe('installed packages', () => {
  it('are as they were published: no file writes into node_modules', async () => {
    const files = await listFiles('', /\.(ts|js|mjs|cjs|sh)$/)
    expect(files.length).toBeGreaterThan(300)
    const found: string[] = []
    for (const path of files) if (findWrite(await read(path))) found.push(path)
    expect(found.sort()).toEqual(Object.keys(allowed).sort())
    const patching = `const file = import.meta.resolve('some-driver'); writeFileSync(file, after)`
    expect(findWrite(patching)).toBeDefined()
    expect(findWrite(`writeFileSync('notes.txt', text)`)).toBeUndefined()
  })

  it('are not changed by a script of a package of ours, when it is installed, built or started', async () => {
    const manifests = await listFiles('', /^package\.json$/)
    expect(manifests.length).toBeGreaterThan(5)
    for (const path of manifests) {
      const { scripts = {} } = JSON.parse(await read(path)) as { scripts?: Record<string, string> }
      for (const [name, script] of Object.entries(scripts)) {
        expect(name, path).not.toMatch(/install|prepare|prepublish/)
        expect(script, `${path} ${name}`).not.toMatch(/node_modules|patch/)
      }
    }
  })

  it('hold one driver of PostgreSQL, pg', async () => {
    const lock = JSON.parse(await read('package-lock.json')) as { packages: Record<string, unknown> }
    expect(Object.keys(lock.packages)).not.toContain('node_modules/postgres')
    expect(Object.keys(lock.packages)).toContain('node_modules/pg')
    expect(() => createRequire(import.meta.url).resolve('postgres')).toThrow()
  })
})

describe('the sources that `npm start` compiles', () => {
  it('import no package that `npm ci` leaves out, so that a fresh machine can start', async () => {
    const lock = JSON.parse(await readFile(`${root}package-lock.json`, 'utf8')).packages
    const folders = [
      'packages/attribution',
      'packages/embedded-postgres',
      'contracts',
      'sdk',
      'react',
      'widget',
      'portal',
      'service',
    ]
    const imported = /^(?:import|export) .*from '((?:@[^/']+\/)?[^./'][^/']*)/gm
    const sources = await Promise.all(
      folders.map(async (folder) => {
        const trees = await Promise.all(['.ts', '.tsx'].map((ending) => readTree(`${root}${folder}/src`, ending)))
        return trees.flat().map(({ path, text }) => ({ folder, path: `${folder}/src/${path}`, text }))
      }),
    )
    const found = sources
      .flat()
      .flatMap(({ folder, path, text }) =>
        [...text.matchAll(imported)].map(([, name = '']) => ({ folder, path, name })),
      )
    expect(found.length).toBeGreaterThan(500)
    const missing = found.filter(({ folder, name }) => {
      const held = lock[`${folder}/node_modules/${name}`] ?? lock[`node_modules/${name}`]
      return !name.startsWith('node:') && (!held || held.dev === true)
    })
    expect(missing.map(({ path, name }) => `${path}: ${name}`)).toEqual([])
  })
})
