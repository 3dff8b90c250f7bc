import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readTree, type Source, withoutComments } from './tables.js'

const below = ['kernel', 'postgres', 'rpc', 'sync', 'wallets', 'prices', 'vaults']

/** Who may import whom: a room may use itself and the rooms listed. */
const layers: Record<string, readonly string[]> = {
  kernel: [],
  postgres: ['kernel'],
  rpc: ['kernel', 'postgres'],
  sync: ['kernel', 'postgres', 'rpc'],
  wallets: ['kernel', 'postgres', 'rpc'],
  prices: ['kernel', 'postgres', 'rpc'],
  vaults: ['kernel', 'postgres', 'rpc', 'sync', 'wallets', 'prices'],
  snapshots: ['kernel', 'postgres', 'rpc', 'sync', 'wallets', 'prices', 'vaults'],
  probing: ['kernel', 'postgres', 'rpc', 'sync', 'wallets', 'prices', 'vaults'],
  derive: ['kernel', 'rpc', 'wallets', 'prices', 'vaults'],
  features: [...below, 'snapshots', 'probing', 'derive'],
  server: [...below, 'snapshots', 'probing', 'derive', 'features'],
  mcp: [],
  cli: [...below, 'snapshots', 'probing', 'derive', 'features', 'server', 'mcp'],
}

/**
 * Rooms that others enter by a door only: an index.ts of the room, or of a folder in it. So are slices, by other rooms; a
 * slice enters another by its own index.ts.
 */
const closed = ['prices', 'vaults', 'snapshots', 'probing', 'mcp']

/** Most names a door gives. */
const namesMax = 30

/** Which slice may use which other slice, through its index.ts only. */
const slices: Record<string, readonly string[]> = {
  catalogue: [],
  auth: [],
  limits: [],
  events: [],
  plans: ['catalogue'],
  membership: ['catalogue'],
  positions: ['catalogue'],
  paid: ['positions'],
  ledger: ['catalogue', 'positions'],
  swap: ['catalogue', 'plans'],
  actions: ['catalogue', 'membership', 'positions', 'ledger', 'plans', 'swap'],
  orders: ['catalogue', 'plans', 'swap', 'attribution'],
  solver: ['catalogue', 'swap', 'orders'],
  attribution: ['catalogue', 'ledger', 'plans'],
  metrics: ['catalogue', 'positions', 'paid', 'ledger'],
  history: ['catalogue', 'positions', 'metrics'],
  streams: ['catalogue', 'positions', 'paid'],
  status: ['catalogue', 'positions', 'ledger'],
  portfolio: ['catalogue', 'positions', 'ledger', 'history', 'streams'],
  audit: ['catalogue', 'positions', 'paid', 'ledger', 'metrics', 'history', 'streams'],
}

/** Who may use the other packages: rooms, and of the features only these slices where some are named. */
const packageUsers: Record<string, { rooms: readonly string[]; slices?: readonly string[] }> = {
  '@openearn/contracts': {
    rooms: ['rpc', 'vaults', 'probing', 'derive', 'cli'],
    slices: ['streams', 'swap', 'solver'],
  },
  '@openearn/attribution': { rooms: ['derive', 'features', 'server'] },
  '@openearn/attribution/codec': { rooms: ['features', 'rpc'], slices: ['attribution'] },
  '@openearn/embedded-postgres': { rooms: ['server'] },
  '@openearn/sdk': { rooms: ['mcp', 'cli'] },
  '@openearn/sdk/verify': { rooms: ['mcp', 'cli'] },
}

/** Files longer than 400 lines, each with its reason. */
const longFiles: Record<string, string> = {}

const linesMax = 400
/** Caps of the kernel, and of its helpers for promises apart. */
const caps: Record<string, { files: number; lines: number }> = {
  kernel: { files: 16, lines: 1_200 },
  [join('kernel', 'async')]: { files: 5, lines: 150 },
}

/** Every import and re-export, type-only and dynamic ones included. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(['"])([^'"]+)\1/g)
  return [...found].map((match) => match[2] ?? '')
}

function checkImport(from: string, specifier: string): boolean {
  const [layer, slice] = from.split(sep)
  if (specifier.startsWith('@openearn/')) {
    const users = packageUsers[specifier]
    if (layer === 'features' && users?.slices) return users.slices.includes(slice ?? '')
    return users?.rooms.includes(layer ?? '') ?? false
  }
  if (!specifier.startsWith('.')) return true
  const target = relative('.', join(dirname(from), specifier))
  const [targetLayer, targetSlice, targetFile] = target.split(sep)
  if (targetLayer === '..' || layer === undefined || targetLayer === undefined) return false
  if (layer !== targetLayer) {
    const mayUse = layers[layer]?.includes(targetLayer) ?? false
    if (closed.includes(targetLayer)) return mayUse && basename(target) === 'index.js'
    const doors = layer === 'cli' ? ['index.js', 'operator.js'] : ['index.js']
    return mayUse && (targetLayer !== 'features' || doors.includes(basename(target)))
  }
  if (layer !== 'features' || slice === targetSlice) return true
  return targetFile === 'index.js' && (slices[slice ?? '']?.includes(targetSlice ?? '') ?? false)
}

function findViolations(sources: readonly Source[]): string[] {
  const violations: string[] = []
  for (const { path, text } of sources) {
    const code = withoutComments(text)
    for (const specifier of importsOf(code))
      if (!checkImport(path, specifier)) violations.push(`${path} -> ${specifier}`)
    if (path.startsWith(`derive${sep}`))
      for (const word of findImpurities(code)) violations.push(`${path}: ${word} where all is pure`)
    if (path !== join('kernel', 'config.ts') && /\bprocess\.env\b/.test(code)) violations.push(`${path}: process.env`)
    if (path !== join('kernel', 'clock.ts') && /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/.test(code))
      violations.push(`${path}: reads the clock`)
    const mayHoldSql = /(^|\/)store[A-Z]?[A-Za-z]*\.ts$/.test(path) || path.startsWith(`postgres${sep}`)
    if (!mayHoldSql && holdsSql(code)) violations.push(`${path}: SQL outside a store`)
    if (/^(index|operator)\.ts$/.test(basename(path)))
      violations.push(...listDoorFaults(text).map((fault) => `${path}: ${fault}`))
    const lines = text.split('\n').length - 1
    if (lines > linesMax && !longFiles[path]) violations.push(`${path}: ${lines} lines`)
  }
  for (const folder in caps) {
    const own = sources.filter(({ path }) => dirname(path) === folder)
    const lines = own.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
    if (own.length > (caps[folder]?.files ?? 0)) violations.push(`${folder}: ${own.length} files`)
    if (lines > (caps[folder]?.lines ?? 0)) violations.push(`${folder}: ${lines} lines`)
  }
  for (const circle of findCircles(sources)) violations.push(`circle: ${circle}`)
  return violations
}

/** What is wrong with a door: it begins with a paragraph on what stands behind it, and gives few names, each by its name. */
function listDoorFaults(text: string): string[] {
  const code = withoutComments(text)
  const lists = [...code.matchAll(/\bexport\s+(?:type\s+)?\{([^}]*)\}/g)].flatMap(([, list]) => (list ?? '').split(','))
  const own = [...code.matchAll(/^export\s+(?:async\s+)?(?:const|function|type|class)\s+\w+/gm)]
  const count = lists.filter((name) => name.trim() !== '').length + own.length
  return [
    ...(text.startsWith('/**\n') ? [] : ['begins without a paragraph']),
    ...(/\bexport\s+\*/.test(code) ? ['gives all there is of a file'] : []),
    ...(count > namesMax ? [`gives ${count} names`] : []),
  ]
}

/** What waits or reaches out of the process has no place among pure functions. */
function findImpurities(code: string): string[] {
  const waits = /\b(async|await|Promise)\b/.exec(code)
  const reaches = importsOf(code).filter(
    (each) => each.startsWith('node:') || /kernel\/(outbound|log|context)\.js$/.test(each),
  )
  return [...(waits ? [waits[0]] : []), ...reaches]
}

/** Files that import each other, directly or round about, in types too: each circle as its files in order. */
function findCircles(sources: readonly Source[]): string[] {
  const imports = new Map(
    sources.map(({ path, text }) => [
      path,
      importsOf(withoutComments(text))
        .filter((each) => each.startsWith('.'))
        .map((each) => join(dirname(path), each).replace(/\.js$/, '.ts')),
    ]),
  )
  // Tarjan: what is reached from a file and reaches it again is one circle.
  const places = new Map<string, { index: number; low: number; open: boolean }>()
  const stack: string[] = []
  const circles: string[] = []
  const visit = (path: string): { index: number; low: number; open: boolean } => {
    const own = { index: places.size, low: places.size, open: true }
    places.set(path, own)
    stack.push(path)
    for (const next of imports.get(path) ?? []) {
      if (!imports.has(next)) continue
      const other = places.get(next)
      if (!other) own.low = Math.min(own.low, visit(next).low)
      else if (other.open) own.low = Math.min(own.low, other.index)
    }
    if (own.low === own.index) {
      const circle = stack.splice(stack.indexOf(path))
      for (const each of circle) {
        const place = places.get(each)
        if (place) place.open = false
      }
      if (circle.length > 1) circles.push(circle.sort().join(' - '))
    }
    return own
  }
  for (const path of imports.keys()) if (!places.has(path)) visit(path)
  return circles.sort()
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
    const sources = await readTree(src, '.ts')
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
    ['rpc using prices', 'rpc/x.ts', "import type { A } from '../prices/index.js'", 'rpc/x.ts -> ../prices/index.js'],
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
      'the server using the door of commands',
      'server/x.ts',
      "import { a } from '../features/membership/operator.js'",
      'server/x.ts -> ../features/membership/operator.js',
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
      'rpc/x.ts',
      "import { a } from '../../../sdk/index.js'",
      'rpc/x.ts -> ../../../sdk/index.js',
    ],
    [
      'a slice passing the door of a room',
      'features/ledger/x.ts',
      "import { a } from '../../snapshots/store.js'",
      'features/ledger/x.ts -> ../../snapshots/store.js',
    ],
    [
      'snapshots using probing',
      'snapshots/x.ts',
      "import { a } from '../probing/index.js'",
      'snapshots/x.ts -> ../probing/index.js',
    ],
    ['sync knowing vaults', 'sync/x.ts', "import { a } from '../vaults/index.js'", 'sync/x.ts -> ../vaults/index.js'],
    [
      'derivation reading a database',
      'derive/x.ts',
      "import type { A } from '../postgres/pool.js'",
      'derive/x.ts -> ../postgres/pool.js',
    ],
    ['derivation that waits', 'derive/x.ts', 'export const a = async () => 1', 'derive/x.ts: async where all is pure'],
    [
      'derivation that reads a file',
      'derive/x.ts',
      "import { readFileSync } from 'node:fs'",
      'derive/x.ts: node:fs where all is pure',
    ],
    [
      'the codec in a room that may not',
      'vaults/x.ts',
      "import { a } from '@openearn/attribution'",
      'vaults/x.ts -> @openearn/attribution',
    ],
    [
      'a database server of one’s own in a slice',
      'features/auth/x.ts',
      "import { a } from '@openearn/embedded-postgres'",
      'features/auth/x.ts -> @openearn/embedded-postgres',
    ],
    [
      'SQL in the kernel',
      'kernel/x.ts',
      'export const a = db`select id from api_keys`',
      'kernel/x.ts: SQL outside a store',
    ],
    ['the environment', 'rpc/x.ts', 'export const a = process.env.HOME', 'rpc/x.ts: process.env'],
    ['the wall clock', 'features/auth/x.ts', 'export const a = Date.now()', 'features/auth/x.ts: reads the clock'],
    [
      'SQL outside a store',
      'features/auth/x.ts',
      'export const a = db`select id from api_keys`',
      'features/auth/x.ts: SQL outside a store',
    ],
    [
      'a slice passing the inner door of another',
      'features/streams/x.ts',
      "import { a } from '../catalogue/operator/index.js'",
      'features/streams/x.ts -> ../catalogue/operator/index.js',
    ],
    ['a door without a paragraph', 'rpc/index.ts', 'export const a = 1', 'rpc/index.ts: begins without a paragraph'],
    [
      'a door of 31 names',
      'rpc/index.ts',
      `export { ${Array.from({ length: 30 }, (_, index) => `type A${index}`).join(', ')} } from './a.js'\nexport const b = 1`,
      'rpc/index.ts: gives 31 names',
    ],
    ['a door of a whole file', 'rpc/index.ts', "export * from './a.js'", 'rpc/index.ts: gives all there is of a file'],
    ['a file of 401 lines', 'rpc/x.ts', 'export {}\n'.repeat(401), 'rpc/x.ts: 401 lines'],
    ['a kernel above its cap', 'kernel/x.ts', 'export {}\n'.repeat(1_201), 'kernel: 1201 lines'],
    ['its helpers above theirs', 'kernel/async/x.ts', 'export {}\n'.repeat(151), 'kernel/async: 151 lines'],
  ]
  it.each(planted)('is red on %s', async (_name, path, text, violation) => {
    const folder = await mkdtemp(join(root, 'tree-'))
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
    expect(findViolations(await readTree(folder, '.ts'))).toContain(violation)
  })

  it('is red on files that import each other, in types alone and round about', async () => {
    const folder = await mkdtemp(join(root, 'tree-'))
    const ring = [
      ['prices/x.ts', "import type { A } from './y.js'"],
      ['prices/y.ts', "export * from './z.js'"],
      ['prices/z.ts', "import { a } from './x.js'"],
    ] as const
    await mkdir(join(folder, 'prices'), { recursive: true })
    for (const [path, text] of ring) await writeFile(join(folder, path), text)
    expect(findViolations(await readTree(folder, '.ts'))).toEqual(['circle: prices/x.ts - prices/y.ts - prices/z.ts'])
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
    expect(findViolations(await readTree(folder, '.ts'))).toEqual([])
  })
})
