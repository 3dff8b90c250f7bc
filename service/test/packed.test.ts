import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { link, listFiles, pack, packageFolders, unpack } from '../../sdk/test/packing.js'
import { smallCatalogue } from './catalogueFile.js'
import { makeOwnedDatabase, type OwnedDatabase } from './roles.js'

type Ended = { code: number; out: string; err: string }

let folder: string
let places: string[]
let database: OwnedDatabase
let node: Server
let nodeUrl: string

const lock = fileURLToPath(new URL('../../package-lock.json', import.meta.url))
const environment = (env: Record<string, string>) => ({ PATH: process.env['PATH'], PORT: '0', OPS_PORT: '0', ...env })
const program = () => join(folder, 'node_modules/@openearn/service/bin/openearn.js')

function openearn(words: string[], env: Record<string, string> = {}, flags: string[] = []): Promise<Ended> {
  const options = { cwd: folder, env: environment(env) }
  return new Promise((resolve) =>
    execFile(process.execPath, [...flags, program(), ...words], options, (error, out, err) =>
      // A process that was killed, or never began, has no number.
      resolve({ code: error ? (typeof error.code === 'number' ? error.code : -1) : 0, out, err }),
    ),
  )
}

/** Starts a process that goes on; answers what it says of itself once it is ready, then stops it and tells how it ended. */
async function runUntilReady(word: string, env: Record<string, string>, look: (ready: Ready) => Promise<void>) {
  const child = spawn(process.execPath, [program(), word, '--json'], { cwd: folder, env: environment(env) })
  let said = ''
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  try {
    const ready = await new Promise<Ready>((resolve, reject) => {
      child.stderr.on('data', (chunk) => {
        said += chunk
      })
      child.stdout.on('data', (chunk) => {
        said += chunk
        const line = /^\{"ready":true.*\}$/m.exec(said)?.[0]
        if (line !== undefined) resolve(JSON.parse(line))
      })
      child.once('close', () => reject(new Error(`it ended instead: ${said}`)))
    })
    await look(ready)
  } finally {
    child.kill('SIGTERM')
  }
  expect(await ended, said).toBe(0)
}
type Ready = { baseUrl?: string; opsUrl?: string }

type Locked = { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string>; link?: boolean }

/** The packages that ours bring, as they stand at the top of this checkout; the checkout itself needs more for its devnet. */
async function listProduction(): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(lock, 'utf8')) as { packages: Record<string, Locked> }
  const ofOurs = Object.keys(packages).filter(
    (path) => path !== '' && path !== 'bench' && !path.includes('node_modules'),
  )
  const found = new Set<string>()
  const open = [...ofOurs]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const { dependencies, optionalDependencies } = packages[path] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = `node_modules/${name}`
      if (found.has(name) || !packages[place] || packages[place].link) continue
      found.add(name)
      open.push(place)
    }
  }
  return [...found]
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openearn-packed-'))
  places = await unpack(await pack(packageFolders, folder), folder)
  await link(await listProduction(), folder)
  database = await makeOwnedDatabase(inject('database').server, basename(folder).toLowerCase().replaceAll('-', '_'))
  node = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x2105' })))
  })
  await new Promise<void>((done) => node.listen(0, '127.0.0.1', done))
  const address = node.address()
  nodeUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/with-a-key`
}, 120_000)
afterAll(async () => {
  await new Promise((done) => node?.close(done))
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

describe('the packed service and its packages', () => {
  it('hold what runs, the licence and the notice, and neither tests nor sources', async () => {
    const files = new Map<string, string[]>()
    for (const place of places) files.set(place.split('@openearn/')[1] ?? '', await listFiles(place))
    for (const [name, list] of files) {
      expect(
        list.filter((file) => /\.test\.|(^|\/)tests?\/|^src\/|\.map$|tsbuildinfo|\.sol$/.test(file)),
        name,
      ).toEqual([])
      expect(list).toEqual(expect.arrayContaining(['LICENSE', 'NOTICE', 'package.json']))
    }
    expect(files.get('service')).toEqual(
      expect.arrayContaining([
        'bin/openearn.js',
        'dist/cli/main.js',
        'dist/program/main.js',
        'dist/program/LICENCES.txt',
        'migrations/0001_postgres.sql',
        'README.md',
        'openapi.json',
      ]),
    )
  })

  it('migrate as the owner; import, and each way to run as a role that only reads and writes', async () => {
    const [owner, service] = [{ DATABASE_URL: database.owner }, { DATABASE_URL: database.service }]
    const migrated = await openearn(['migrate', '--json'], owner)
    expect(JSON.parse(migrated.out).applied.length).toBeGreaterThan(10)
    await database.grant()
    expect(JSON.parse((await openearn(['migrate', '--json'], service)).out)).toEqual({ applied: [] })
    const file = join(folder, 'catalogue.json')
    await writeFile(file, JSON.stringify(smallCatalogue()))
    const imported = await openearn(['catalogue', 'import', file, '--json'], service)
    expect(JSON.parse(imported.out)).toEqual({ opportunities: 2, tokens: 6, distributors: 2, unpriced: [] })
    for (const word of ['start', 'serve', 'watch', 'jobs', 'commit', 'solve'])
      await runUntilReady(word, service, async ({ baseUrl, opsUrl }) => {
        expect((await fetch(`${opsUrl}/readyz`)).status).toBe(200)
        if (word !== 'start' && word !== 'serve') expect(baseUrl).toBeUndefined()
        else expect((await fetch(`${baseUrl}/v2/opportunities/`)).status).toBe(401)
      })
  }, 120_000)

  it('refuse a foreign role in one sentence, and a folder without a database in another', async () => {
    const stranger = await openearn(['orgs', 'list'], {
      DATABASE_URL: database.service.replace('_service:secret', '_nobody:x'),
    })
    expect(stranger).toMatchObject({ code: 2, out: '' })
    expect(stranger.err).toMatch(/^openearn: the database lets nobody in by DATABASE_URL: .*\n$/)
    const empty = await openearn(['doctor', '--json'])
    expect(empty).toMatchObject({ code: 2, out: '' })
    expect(JSON.parse(empty.err).error).toMatch(/^there is no database in .*`openearn migrate` makes a new one here$/)
  }, 60_000)

  it('bring no local chain: openearn dev asks for it in one sentence', async () => {
    const { code, err, out } = await openearn(['dev'], { LOG_LEVEL: 'error', ANVIL_PORT: '0' })
    expect(code).toBe(2)
    expect(`${out}${err}`).toMatch(
      /openearn: the devnet needs anvil for \S+ \S+: install @foundry-rs\/anvil next to the service/,
    )
  }, 60_000)
})

describe('the command line', () => {
  it('says its version, and refuses an older Node.js in one sentence', async () => {
    const { version } = JSON.parse(await readFile(join(folder, 'node_modules/@openearn/service/package.json'), 'utf8'))
    expect(await openearn(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
    expect(JSON.parse((await openearn(['--version', '--json'])).out)).toEqual({ version })
    const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.4'}})`
    expect(await openearn(['start'], {}, ['--import', older])).toEqual({
      code: 2,
      out: '',
      err: 'openearn: this is Node.js 18.20.4; OpenEarn needs 20.19 or later\n',
    })
  })

  it('prints one JSON document where --json is said, and gives keys only permissions that there are', async () => {
    const env = { DATABASE_URL: database.owner }
    const { id } = JSON.parse((await openearn(['orgs', 'create', '--name', 'First', '--json'], env)).out)
    const listed = JSON.parse((await openearn(['orgs', 'list', '--json'], env)).out)
    expect(listed).toContainEqual({ id, name: 'First', organizationType: 'distributor', premium: false })
    const create = ['keys', 'create', '--org', id, '--kind', 'secret', '--permission']
    const refused = await openearn([...create, 'organization:everything'], env)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toBe(
      'openearn: there is no permission organization:everything; there are organization:incentivize:streams, organization:incentivize:streams:create, organization:webhooks\n',
    )
    const created = JSON.parse((await openearn([...create, 'organization:incentivize:streams', '--json'], env)).out)
    expect(created.key).toMatch(/^sk_live_/)
    const [key] = JSON.parse((await openearn(['keys', 'list', '--org', id, '--json'], env)).out)
    expect(key).toMatchObject({ id: created.id, permissions: ['organization:incentivize:streams'], revokedAt: null })
    const [last, ...others] = JSON.parse((await openearn(['audit', '--limit', '1', '--json'], env)).out)
    expect(last).toMatchObject({
      command: expect.stringMatching(/^keys create /),
      before: null,
      at: expect.any(String),
    })
    expect(others).toEqual([])
    expect((await openearn(['keys', '--help'])).out).toMatch(/organization:incentivize:streams \(.+\),\n/)
  }, 60_000)

  it('asks a url for its chain id before it takes it, and removes only a chain that nothing hangs on', async () => {
    const env = { DATABASE_URL: database.owner }
    const add = (chainId: string, url: string) =>
      openearn(['chains', 'add', chainId, '--name', `Chain ${chainId}`, '--rpc', url], env)
    const wrong = await add('10', nodeUrl)
    expect(wrong).toMatchObject({ code: 2, out: '' })
    expect(wrong.err).toContain('8453')
    expect(wrong.err).not.toContain('with-a-key')
    expect(await add('11', 'http://127.0.0.1:9')).toMatchObject({
      code: 0,
      out: expect.stringContaining('was not asked'),
    })
    expect(await openearn(['chains', 'remove', '11'], env)).toEqual({ code: 0, out: '11: removed\n', err: '' })
    expect((await openearn(['chains', 'remove', '11'], env)).err).toBe('openearn: there is no chain 11\n')
    expect((await openearn(['chains', 'remove', '8453'], env)).err).toMatch(/has blocks, tokens or vaults/)
  }, 60_000)
})
