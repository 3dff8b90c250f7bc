import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { commands } from '../src/cli/commands.js'

const cli = join(dirname(fileURLToPath(import.meta.url)), '../src/cli')

/** The packages that a file loads before its first line runs, by what it imports and that imports in turn. */
async function listLoaded(file: string): Promise<string[]> {
  const files = new Set([join(cli, file)])
  const packages = new Set<string>()
  for (const path of files) {
    const text = await readFile(path, 'utf8')
    for (const [, from = ''] of text.matchAll(/^(?:import|export) (?!type )(?:[^'"]*? from )?'([^']+)'$/gm))
      if (from.startsWith('.')) files.add(join(dirname(path), from.replace(/\.js$/, '.ts')))
      else if (!from.startsWith('node:')) packages.add(from)
  }
  return [...packages].toSorted()
}

// Each of these takes a fifth of a second of processor time to load.
it.each(['keys.ts', 'members.ts'])('%s loads no library of chains, of schemas or of wallets', async (file) => {
  expect(await listLoaded(file)).toEqual(['@openearn/embedded-postgres', 'pg', 'pg-copy-streams', 'pg-cursor', 'pino'])
})

// The listeners with all their operations are half of what `openearn serve` loads.
it.each(
  Object.entries(commands).filter(([name, { file }]) => !['dev', 'openapi'].includes(name) && file !== './serve.js'),
)('openearn %s loads no listener', async (_name, { file }) => {
  expect(await listLoaded(file.replace(/\.js$/, '.ts'))).not.toContain('fastify')
})

it.each(['dist/cli', 'dist/program'])(
  '%s: every command is there by its name, and is loaded by require where Node takes modules by it, as that costs less',
  async (built) => {
    const program = `
    const { commands } = require(process.argv[1] + '/../cli/commands.js')
    const missing = Object.entries(commands).filter(([, { file, member }]) => !require(process.argv[1] + '/' + file)[member])
    process.stdout.write(JSON.stringify({ missing, all: Object.keys(commands).length }))`
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program, join(cli, '../..', built)])
    expect(JSON.parse(stdout)).toEqual({ missing: [], all: Object.keys(commands).length })
  },
)
