import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { smallCatalogue } from './catalogueFile.js'
import { copyService, load, root } from './copy.js'
import { openTestDatabase, type TestDatabase } from './database.js'
import type { Earn } from './harness.js'
import { createRandom } from './simulation/random.js'

/** A block of the example: the file it changes, and its lines with a mark in front: blank, + or -. */
type Edit = { path: string; lines: readonly string[] }

const fieldHeading = '## A worked example: a stored field and its filter'
const projectionHeading = '## A worked example: a projection and its endpoint'

/** The edits of a section. */
function readEdits(guide: string, heading: string): Edit[] {
  const [, after = ''] = guide.split(`${heading}\n`)
  const text = after.split(/^## /m)[0] ?? ''
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

type Entered = { vaultId: number; wallet: string; block: string; shares: string }

let copy: string
let database: TestDatabase
let edits: Edit[]
let ofProjection: Edit[]
let earn: Earn

async function apply(edit: Edit): Promise<void> {
  const next = String((await readdir(join(copy, 'service/migrations'))).length + 1).padStart(4, '0')
  const path = join(copy, edit.path.replace('NNNN', next))
  await mkdir(dirname(path), { recursive: true })
  const isNew = edit.lines.every((line) => line.startsWith('+'))
  await writeFile(path, applyEdit(isNew ? '' : await readFile(path, 'utf8'), edit))
}

beforeAll(async () => {
  const guide = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  edits = readEdits(guide, fieldHeading)
  ofProjection = readEdits(guide, projectionHeading)
  copy = await copyService()
  for (const edit of [...edits, ...ofProjection]) await apply(edit)
}, 60_000)
afterAll(async () => {
  await earn?.close()
  await rm(copy, { recursive: true, force: true })
})

describe('the worked examples of CONTRIBUTING.md', () => {
  it('add a stored field and its filter in at most six files', () => {
    const paths = new Set(edits.map(({ path }) => path))
    expect(paths.size).toBeGreaterThan(3)
    expect(paths.size).toBeLessThanOrEqual(6)
  })

  it('add a projection with an endpoint in at most nine files', () => {
    const paths = new Set(ofProjection.map(({ path }) => path))
    expect(paths.size).toBeGreaterThan(5)
    expect(paths.size).toBeLessThanOrEqual(9)
  })

  it('type-check as they are written', async () => {
    const project = join(copy, 'service/tsconfig.example.json')
    await writeFile(
      project,
      JSON.stringify({ extends: './tsconfig.test.json', include: ['src'], exclude: ['**/*.test.ts'] }),
    )
    const compiler = join(root, 'node_modules/typescript-native/bin/tsc')
    const run = promisify(execFile)(process.execPath, [compiler, '-p', project])
    await expect(
      run.catch((error: { stdout: string }) => Promise.reject(new Error(error.stdout))),
    ).resolves.toBeDefined()
  }, 600_000)

  it('migrate, import a file with the field, show it in ListOpportunities and filter by it', async () => {
    const { migrate, readMigrations } = await load(copy, 'service/src/postgres/migrate.ts')
    const { importCatalogue } = await load(copy, 'service/src/features/catalogue/import/index.ts')
    const { openEarn } = await load(copy, 'service/test/harness.ts')
    database = await openTestDatabase()
    expect(await migrate(database.db, await readMigrations())).toHaveLength(2)
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
  }, 120_000)

  it('derive the wallets that began to hold, live, taken back and rebuilt, and list them over HTTP', async () => {
    const chainId = 830
    const { openWorld } = await load(copy, 'service/test/projections/world.ts')
    const { listProjections } = await load(copy, 'service/src/server/projections.ts')
    const { rebuildChain, rewindChain } = await load(copy, 'service/test/pipeline.ts')
    const { db } = database
    const projections = listProjections()
    const world = await openWorld(db, { chainId, random: createRandom(chainId) })
    const read = () => db<Entered[]>`
      select vault_id as "vaultId", hex_text(wallet) as wallet, block_number as block, shares::text as shares
      from entrants where chain_id = ${chainId} order by 1, 3, 2`
    const expected = (to: number) => db<Entered[]>`
      select vault_id as "vaultId", hex_text(wallet) as wallet, block_number as block, after::text as shares
      from balance_changes where chain_id = ${chainId} and before = 0 and after > 0 and block_number <= ${to}
      order by 1, 3, 2`
    world.chain.mine(60)
    await world.rest(world.open(projections))
    const top = world.chain.blocks.at(-1).number - 6
    const rows = await read()
    expect(rows.length).toBeGreaterThan(5)
    expect(rows).toEqual(await expected(top))
    await rebuildChain(world.ctx, { chainId, projections })
    expect(await read()).toEqual(rows)
    await rewindChain(world.ctx, { chainId, projections, to: 30 })
    expect(await read()).toEqual(await expected(30))
    await world.rest(world.open(projections))
    expect(await read()).toEqual(rows)

    const [vault] = await db<{ id: number; address: string }[]>`
      select id, address from vaults where chain_id = ${chainId} order by id limit 1`
    const newest = rows.filter(({ vaultId }) => vaultId === vault?.id).sort((a, b) => Number(b.block) - Number(a.block))
    const params = { chainId, vaultAddress: vault?.address ?? '' }
    const { status, body } = await earn.call('ListEntrants', { params, query: { limit: 3 } })
    expect(status).toBe(200)
    expect(body.data.map(({ shares }: Entered) => shares)).toEqual(newest.slice(0, 3).map(({ shares }) => shares))
    expect((await earn.call('ListEntrants', { params, query: { limit: 0 } })).status).toBe(400)
  }, 120_000)

  it('is refused when what it shows is not in the file', () => {
    const edit = { path: 'a.ts', lines: [' b', '+c'] }
    expect(applyEdit('a\nb\n', edit)).toBe('a\nb\nc\n')
    expect(() => applyEdit('a\n', edit)).toThrow('stands there 0 times')
    expect(() => applyEdit('b\nb\n', edit)).toThrow('stands there 2 times')
  })
})
