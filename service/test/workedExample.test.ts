import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { smallCatalogue } from './catalogueFile.js'
import { copyService, load, root } from './copy.js'
import { openTestDatabase, type TestDatabase } from './database.js'
import type { Earn } from './harness.js'

/** A block of the example: the file it changes, and its lines with a mark in front: blank, + or -. */
type Edit = { path: string; lines: readonly string[] }

function readEdits(text: string): Edit[] {
  return [...text.matchAll(/^```diff (\S+)\n([\s\S]*?)^```$/gm)].map(([, path = '', body = '']) => ({
    path,
    lines: body.trimEnd().split('\n'),
  }))
}

/** The text after an edit; its context has to stand in the text exactly once. */
function applyEdit(text: string, { path, lines }: Edit): string {
  const side = (mark: string) =>
    lines.filter((line) => line[0] === ' ' || line[0] === mark).map((line) => `${line.slice(1)}\n`)
  const before = side('-').join('')
  const places = before === '' ? 1 : text.split(before).length - 1
  if (places !== 1) throw new Error(`${path}: what CONTRIBUTING.md shows stands there ${places} times`)
  return before === '' ? text + side('+').join('') : text.replace(before, () => side('+').join(''))
}

let copy: string
let database: TestDatabase
let edits: Edit[]
let earn: Earn

async function apply(edit: Edit): Promise<void> {
  const next = String((await readdir(join(copy, 'service/migrations'))).length + 1).padStart(4, '0')
  const path = join(copy, edit.path.replace('NNNN', next))
  await mkdir(dirname(path), { recursive: true })
  const isNew = edit.lines.every((line) => line.startsWith('+'))
  await writeFile(path, applyEdit(isNew ? '' : await readFile(path, 'utf8'), edit))
}

beforeAll(async () => {
  edits = readEdits(await readFile(join(root, 'CONTRIBUTING.md'), 'utf8'))
  copy = await copyService()
  for (const edit of edits) await apply(edit)
}, 60_000)
afterAll(async () => {
  await earn?.close()
  await rm(copy, { recursive: true, force: true })
})

describe('the worked example of CONTRIBUTING.md', () => {
  it('adds a stored field and its filter in at most six files', () => {
    const paths = new Set(edits.map(({ path }) => path))
    expect(paths.size).toBeGreaterThan(3)
    expect(paths.size).toBeLessThanOrEqual(6)
  })

  it('type-checks as it is written', async () => {
    const project = join(copy, 'service/tsconfig.example.json')
    await writeFile(
      project,
      JSON.stringify({ extends: './tsconfig.test.json', include: ['src'], exclude: ['**/*.test.ts'] }),
    )
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const run = promisify(execFile)(process.execPath, [compiler, '-p', project])
    await expect(
      run.catch((error: { stdout: string }) => Promise.reject(new Error(error.stdout))),
    ).resolves.toBeDefined()
  }, 600_000)

  it('migrates, imports a file with the field, shows it in ListOpportunities and filters by it', async () => {
    const { migrate, readMigrations } = await load(copy, 'service/src/postgres/migrate.ts')
    const { importCatalogue } = await load(copy, 'service/src/features/catalogue/import/index.ts')
    const { openEarn } = await load(copy, 'service/test/harness.ts')
    database = await openTestDatabase()
    expect(await migrate(database.db, await readMigrations())).toHaveLength(1)
    earn = await openEarn({ database })
    const [first, ...others] = smallCatalogue().opportunities
    const file = { ...smallCatalogue(), opportunities: [{ ...first, lockupDays: 30 }, ...others] }
    await importCatalogue(earn.ctx, JSON.stringify(file))
    await earn.ctx.catalogue.refresh()
    const list = async (query: Record<string, number>) => {
      const { body } = await earn.call('ListOpportunities', { query })
      return body.data.map((item: { slug: string; lockupDays: number }) => `${item.slug} ${item.lockupDays}`).sort()
    }
    expect(await list({})).toEqual(['usdc-base 0', 'usdc-ethereum 30'])
    expect(await list({ lockupDaysMax: 30 })).toEqual(['usdc-base 0', 'usdc-ethereum 30'])
    expect(await list({ lockupDaysMax: 29 })).toEqual(['usdc-base 0'])
    const refused = await earn.call('ListOpportunities', { query: { lockupDaysMax: 'long' } })
    expect(refused.status).toBe(400)
    await expect(
      importCatalogue(earn.ctx, JSON.stringify({ opportunities: [{ ...first, lockupDays: -1 }] })),
    ).rejects.toThrow('opportunities[0].lockupDays')
  })

  it('is refused when what it shows is not in the file', () => {
    const edit = { path: 'a.ts', lines: [' b', '+c'] }
    expect(applyEdit('a\nb\n', edit)).toBe('a\nb\nc\n')
    expect(() => applyEdit('a\n', edit)).toThrow('stands there 0 times')
    expect(() => applyEdit('b\nb\n', edit)).toThrow('stands there 2 times')
  })
})
