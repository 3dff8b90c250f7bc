import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** Who may import whom: a layer may use itself and the layers listed. */
const layers: Record<string, readonly string[]> = {
  kernel: [],
  chain: ['kernel'],
  prices: ['kernel'],
  vaults: ['kernel', 'chain', 'prices'],
  derive: ['kernel', 'chain', 'prices', 'vaults'],
  features: ['kernel', 'chain', 'prices', 'vaults', 'derive'],
  server: ['kernel', 'chain', 'prices', 'vaults', 'derive', 'features'],
  cli: ['kernel', 'chain', 'prices', 'vaults', 'derive', 'features', 'server'],
}

/** Which slice may use which other slice, through its index.ts only. */
const slices: Record<string, readonly string[]> = {
  catalogue: [],
  auth: [],
  limits: [],
  membership: ['catalogue'],
  positions: ['catalogue'],
  ledger: ['catalogue', 'positions'],
  swap: ['catalogue', 'membership'],
  actions: ['catalogue', 'membership', 'positions', 'swap'],
  attribution: ['catalogue', 'ledger', 'actions', 'swap'],
  history: ['catalogue', 'positions'],
  metrics: ['catalogue', 'positions', 'ledger'],
  streams: ['catalogue', 'positions'],
  portfolio: ['catalogue', 'positions', 'ledger', 'streams'],
}

/** Layers that may use the generated contract interfaces; of the features only these slices. */
const contractUsers = ['chain', 'vaults', 'derive', 'cli']
const contractSlices = ['streams', 'swap']

/** Files longer than 400 lines, each with its reason. */
const longFiles: Record<string, string> = {}

const linesMax = 400
const kernelLinesMax = 1_600
const kernelFilesMax = 16

type Source = { path: string; text: string }

async function readSources(root: string): Promise<Source[]> {
  const names = await readdir(root, { recursive: true })
  const files = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  return Promise.all(files.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })))
}

/** Every import and re-export, type-only and dynamic ones included. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(['"])([^'"]+)\1/g)
  return [...found].map((match) => match[2] ?? '')
}

function checkImport(from: string, specifier: string): boolean {
  const [layer, slice] = from.split(sep)
  if (specifier.startsWith('@openearn/contracts'))
    return layer === 'features' ? contractSlices.includes(slice ?? '') : contractUsers.includes(layer ?? '')
  if (specifier === '@openearn/sdk') return layer === 'cli'
  if (specifier.startsWith('@openearn/')) return false
  if (!specifier.startsWith('.')) return true
  const target = relative('.', join(dirname(from), specifier))
  const [targetLayer, targetSlice, targetFile] = target.split(sep)
  if (targetLayer === '..' || layer === undefined || targetLayer === undefined) return false
  if (layer !== targetLayer) {
    const mayUse = layers[layer]?.includes(targetLayer) ?? false
    return mayUse && (targetLayer !== 'features' || targetFile === 'index.js')
  }
  if (layer !== 'features' || slice === targetSlice) return true
  return targetFile === 'index.js' && (slices[slice ?? '']?.includes(targetSlice ?? '') ?? false)
}

/** Text without comments, so that prose may name what code may not use. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

function findViolations(sources: readonly Source[]): string[] {
  const violations: string[] = []
  for (const { path, text } of sources) {
    const code = withoutComments(text)
    for (const specifier of importsOf(code))
      if (!checkImport(path, specifier)) violations.push(`${path} -> ${specifier}`)
    if (path !== join('kernel', 'config.ts') && /\bprocess\.env\b/.test(code)) violations.push(`${path}: process.env`)
    if (path !== join('kernel', 'clock.ts') && /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/.test(code))
      violations.push(`${path}: reads the clock`)
    const mayHoldSql = /(^|\/)store[A-Z]?[A-Za-z]*\.ts$/.test(path) || path.startsWith(`kernel${sep}`)
    if (!mayHoldSql && holdsSql(code)) violations.push(`${path}: SQL outside a store`)
    const lines = text.split('\n').length - 1
    if (lines > linesMax && !longFiles[path]) violations.push(`${path}: ${lines} lines`)
  }
  const kernel = sources.filter(({ path }) => path.startsWith(`kernel${sep}`))
  const kernelLines = kernel.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
  if (kernel.length > kernelFilesMax) violations.push(`kernel: ${kernel.length} files`)
  if (kernelLines > kernelLinesMax) violations.push(`kernel: ${kernelLines} lines`)
  return violations
}

/** A tagged template or string that starts like a statement. `select 1` is a ping, not a query of a table. */
function holdsSql(code: string): boolean {
  const statements = code.matchAll(
    /[`'"]\s*(select|insert\s+into|update|delete\s+from|with|create|alter|drop|truncate|copy)\s([^`'"]*)/gi,
  )
  return [...statements].some(([, verb, rest]) => {
    const word = (verb ?? '').toLowerCase()
    if (word === 'select') return /\bfrom\b/i.test(rest ?? '') && !/^1\b/.test(rest ?? '')
    if (word === 'update') return /\bset\b/i.test(rest ?? '')
    if (word === 'with') return /\bas\s*\(/i.test(rest ?? '')
    if (word === 'create' || word === 'alter' || word === 'drop')
      return /\b(table|index|database|view)\b/i.test(rest ?? '')
    if (word === 'copy') return /\b(from|to)\s+std/i.test(rest ?? '')
    return true
  })
}

const src = resolve(dirname(fileURLToPath(import.meta.url)), '..', 'src')

describe('the architecture', () => {
  it('holds: imports follow the table, and env, clock, SQL and length stay in their places', async () => {
    const sources = await readSources(src)
    expect(sources.length).toBeGreaterThan(20)
    expect(findViolations(sources)).toEqual([])
  })

  it('has no cycle between slices', () => {
    const visit = (slice: string, path: readonly string[]): void => {
      expect(path, `${[...path, slice].join(' -> ')}`).not.toContain(slice)
      for (const next of slices[slice] ?? []) visit(next, [...path, slice])
    }
    for (const slice of Object.keys(slices)) visit(slice, [])
  })
})

describe('the architecture test itself', () => {
  let root: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'openearn-architecture-'))
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  const planted: [name: string, path: string, text: string, violation: string][] = [
    [
      'the kernel using a slice',
      'kernel/x.ts',
      "import { a } from '../features/auth/index.js'",
      'kernel/x.ts -> ../features/auth/index.js',
    ],
    [
      'chain using prices',
      'chain/x.ts',
      "import type { A } from '../prices/index.js'",
      'chain/x.ts -> ../prices/index.js',
    ],
    [
      'a slice passing a door',
      'features/ledger/x.ts',
      "import { a } from '../catalogue/store.js'",
      'features/ledger/x.ts -> ../catalogue/store.js',
    ],
    [
      'a slice using one not in the table',
      'features/catalogue/x.ts',
      "export * from '../ledger/index.js'",
      'features/catalogue/x.ts -> ../ledger/index.js',
    ],
    [
      'a dynamic import against the table',
      'derive/x.ts',
      "await import('../server/http.js')",
      'derive/x.ts -> ../server/http.js',
    ],
    [
      'the server passing a door',
      'server/x.ts',
      "import { a } from '../features/auth/store.js'",
      'server/x.ts -> ../features/auth/store.js',
    ],
    [
      'contracts in a slice that may not',
      'features/auth/x.ts',
      "import { a } from '@openearn/contracts'",
      'features/auth/x.ts -> @openearn/contracts',
    ],
    [
      'an import from outside the service',
      'chain/x.ts',
      "import { a } from '../../../sdk/index.js'",
      'chain/x.ts -> ../../../sdk/index.js',
    ],
    ['the environment', 'chain/x.ts', 'export const a = process.env.HOME', 'chain/x.ts: process.env'],
    ['the wall clock', 'features/auth/x.ts', 'export const a = Date.now()', 'features/auth/x.ts: reads the clock'],
    [
      'SQL outside a store',
      'features/auth/x.ts',
      'export const a = db`select id from api_keys`',
      'features/auth/x.ts: SQL outside a store',
    ],
    ['a file of 401 lines', 'chain/x.ts', 'export {}\n'.repeat(401), 'chain/x.ts: 401 lines'],
    ['a kernel above its cap', 'kernel/x.ts', 'export {}\n'.repeat(1_601), 'kernel: 1601 lines'],
  ]
  it.each(planted)('is red on %s', async (_name, path, text, violation) => {
    const folder = await mkdtemp(join(root, 'tree-'))
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
    expect(findViolations(await readSources(folder))).toContain(violation)
  })

  it('is green on what the table allows', async () => {
    const folder = await mkdtemp(join(root, 'tree-'))
    const files: [string, string][] = [
      ['features/ledger/x.ts', "import { a } from '../catalogue/index.js'\nimport { b } from './store.js'"],
      ['features/auth/store.ts', '// process.env is not read here\nexport const a = db`select id from api_keys`'],
      ['cli/x.ts', "import { a } from '../server/start.js'\nimport { b } from '@openearn/contracts'"],
    ]
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    expect(findViolations(await readSources(folder))).toEqual([])
  })
})
