import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../src/cli/commands.js'
import { parseConfig } from '../src/kernel/config.js'
import { root } from './documents.js'

const run = promisify(execFile)
const folder = join(root, 'deploy/systemd')
const names = ['openearn-migrate.service', 'openearn@.service']
/** The commands that the template is for. */
const instances = ['start', 'serve', 'watch', 'jobs', 'commit', 'solve']
/** A unit is checked by the program that reads it. Machines without systemd have none. */
const analyze = ['/usr/bin/systemd-analyze', '/bin/systemd-analyze'].find((path) => existsSync(path))
const program = /^ExecStart=(\S+) (\S+) (\S+)$/m

let place: string
const units = new Map<string, string>()

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'openearn-units-'))
  for (const name of names) {
    const text = await readFile(join(folder, name), 'utf8')
    units.set(name, text)
    // The programs of this machine stand in place of those of an installation.
    const own = text.replace(program, `ExecStart=${process.execPath} ${join(root, 'service/bin/openearn.js')} $3`)
    const files = name.includes('@') ? instances.map((each) => name.replace('@', `@${each}`)) : [name]
    for (const file of files) await writeFile(join(place, file), own)
  }
})
afterAll(async () => {
  await rm(place, { recursive: true, force: true })
})

describe('the units of systemd', () => {
  it('are these, and each starts a command of the program by an account that is not root', async () => {
    expect((await readdir(folder)).sort()).toEqual(names)
    for (const [name, text] of units) {
      const [, node, path, command = ''] = program.exec(text) ?? []
      expect([name, node, path]).toEqual([
        ...[name, '/usr/bin/node', '/opt/openearn/node_modules/@openearn/service/bin/openearn.js'],
      ])
      for (const each of command === '%i' ? instances : [command]) expect(Object.keys(commands)).toContain(each)
      expect(text).toMatch(/^User=openearn$/m)
    }
    const { name, bin } = JSON.parse(await readFile(join(root, 'service/package.json'), 'utf8'))
    expect([name, bin.openearn]).toEqual(['@openearn/service', 'bin/openearn.js'])
  })

  it('set what the program accepts', () => {
    for (const [name, text] of units) {
      const [, line = ''] = /^Environment=(.+)$/m.exec(text) ?? []
      const settings = Object.fromEntries(line.split(' ').map((each) => each.split('=') as [string, string]))
      expect([name, settings['OPENEARN_DATA_DIR']]).toEqual([name, '/var/lib/openearn'])
      expect(() => parseConfig(settings)).not.toThrow()
      expect(text).toMatch(/^StateDirectory=openearn$/m)
    }
  })

  it('stand where the image has the program, which installs the viem that the lock has', async () => {
    const recipe = await readFile(join(root, 'deploy/Containerfile'), 'utf8')
    const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
    expect(recipe).toContain(` viem@${packages['node_modules/viem'].version}\n`)
    const [, , path] = program.exec(units.get('openearn@.service') ?? '') ?? []
    expect(recipe).toContain(`ENTRYPOINT ["node", "${path}"]\n`)
  })

  it.skipIf(!analyze)(
    'are read by systemd without a word, and it calls what they may do little',
    async () => {
      const files = (await readdir(place)).map((name) => join(place, name))
      expect(files).toHaveLength(instances.length + 1)
      const { stdout, stderr } = await run(`${analyze}`, ['verify', '--man=no', '--recursive-errors=no', ...files])
      expect(stdout + stderr).toBe('')
      // Ends with an error where an exposure of 0 (none) to 100 is above the threshold.
      const safe = ['security', '--offline=true', '--threshold=20', '--no-pager', ...files]
      expect((await run(`${analyze}`, safe)).stdout).toContain('OK')
    },
    60_000,
  )
})
