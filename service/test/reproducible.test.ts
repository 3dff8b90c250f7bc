import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { scaleLimits } from '../../contracts/test/patience.js'
import { seed, seededBytes, seededKey, seededRandom } from './seed.js'
import { type Source, withoutComments } from './tables.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const roots = ['contracts', 'packages', 'sdk', 'react', 'widget', 'portal', 'service']

/** What makes a test depend on how fast a machine is, or on chance. */
const rules: [what: string, pattern: RegExp][] = [
  ['sleeps', /\bsetTimeout\(|\bsetInterval\(|\btimers\/promises\b|\bsleep\(/],
  ['sleeps in the database', /\bpg_sleep\(/],
  ['reads the clock', /\bperformance\.now\(|\bprocess\.hrtime\b|\bDate\.now\(|\bnew Date\(\)|\bmonotonicMs\(\)/],
  [
    'draws without a seed',
    /\bMath\.random\b|\brandomBytes\b|\brandomUUID\b|\bgetRandomValues\b|\bgeneratePrivateKey\b/,
  ],
]

/** Who may all the same, and why. An entry that is no longer needed is red. */
const reasons: Record<string, string> = {
  'contracts/test/until.ts: sleeps': 'the one pause between two looks',
  'contracts/test/present.ts: reads the clock': 'the present of what runs in real time, and nothing else',
  'service/test/hurriedClock.ts: sleeps': 'a clock for the program, not for the test',
  'service/test/hurriedClock.ts: reads the clock': 'a clock for the program, not for the test',
  'service/test/kill/kill.test.ts: sleeps': 'a kill falls into a drawn moment, within a write too',
  'service/test/kill/watchProcess.mjs: sleeps': 'the clock of the program, which says that it waits',
  'service/test/seeded.ts: draws without a seed': 'puts the seed in its place',
  'service/test/database.ts: draws without a seed': 'names of databases that no other run has',
  'service/test/globalSetup.ts: draws without a seed': 'names of databases that no other run has',
  'packages/embedded-postgres/src/embedded.test.ts: sleeps': 'the text of a program that stays until it is killed',
  'service/test/architecture.test.ts: reads the clock': 'planted there',
  'service/src/kernel/clock.test.ts: sleeps': 'the clock itself, over timers that stand still until told',
  'service/src/kernel/clock.test.ts: reads the clock': 'the clock itself, over timers that stand still until told',
  'service/src/postgres/pool.test.ts: sleeps': 'the driver under a server that dies while statements wait',
  'service/src/postgres/pool.test.ts: sleeps in the database': 'a statement that still runs when its connection ends',
  'service/src/postgres/driver.test.ts: sleeps in the database':
    'a statement that runs until its bound or its connection ends it',
  'service/src/postgres/requests.test.ts: sleeps in the database': 'the bound of a statement is a time',
  'service/test/cluster.long.test.ts: sleeps':
    'load and kills at a pace: real processes of others know no clock of ours',
  'service/test/cluster.long.test.ts: reads the clock':
    'the seconds until a cluster is well again are what is promised',
  'service/test/fuzz/fuzz.chain.test.ts: reads the clock': 'a long run tells how far it is',
  'service/src/features/portfolio/faults.chain.test.ts: reads the clock':
    'how long what hangs may keep an answer waiting',
}

async function readTests(): Promise<Source[]> {
  const sources: Source[] = []
  for (const folder of roots) {
    const names = await readdir(join(root, folder), { recursive: true })
    for (const name of names) {
      const path = `${folder}/${name}`
      if (/(^|\/)(node_modules|dist|\.build)\//.test(path) || !/\.(ts|mjs)$/.test(path)) continue
      if (!path.endsWith('.test.ts') && !path.includes('/test/')) continue
      if (path !== 'service/test/reproducible.test.ts')
        sources.push({ path, text: await readFile(join(root, path), 'utf8') })
    }
  }
  return sources
}

/** `file: what`, for each rule a file breaks. Comments, and the name of a program, may say what code may not. */
function findIrreproducible(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => {
    const code = withoutComments(text)
    return rules.filter(([, pattern]) => pattern.test(code)).map(([what]) => `${path}: ${what}`)
  })
}

const limited = new Set(['it', 'test', 'describe', 'beforeAll', 'beforeEach', 'afterAll', 'afterEach'])

/** The limits that tests and hooks of a file name, as they are written. */
function listLimits(text: string): string[] {
  const found: string[] = []
  const nameOf = (called: ts.Expression): string =>
    ts.isIdentifier(called)
      ? called.text
      : ts.isPropertyAccessExpression(called) || ts.isCallExpression(called)
        ? nameOf(called.expression)
        : ''
  const visit = (node: ts.Node): void => {
    const call = ts.isCallExpression(node) && limited.has(nameOf(node.expression)) ? node : undefined
    const [first, ...rest] = call?.arguments ?? []
    const options = first ? [first, ...rest].filter(ts.isObjectLiteralExpression) : []
    for (const { properties } of options)
      for (const each of properties)
        if (ts.isPropertyAssignment(each) && each.name.getText() === 'timeout') found.push(each.initializer.getText())
    const last = rest.at(-1)
    if (last && (ts.isNumericLiteral(last) || ts.isBinaryExpression(last))) found.push(last.getText())
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true))
  return found
}

/** A file that registers hooks when it is imported. */
const hooksAtImport = /^(?:before|after)(?:All|Each)\(/m

describe('the tests', () => {
  it('share modules: one that is imported twice registers its hooks for each file, as it is called there', async () => {
    const shared = (await readTests()).filter(({ path }) => !path.endsWith('.test.ts'))
    expect(shared.length).toBeGreaterThan(100)
    const found = shared.filter(({ text }) => hooksAtImport.test(withoutComments(text))).map(({ path }) => path)
    // A file of the runner's set-up, which it reads for each test file.
    expect(found).toEqual(['service/test/seeded.ts'])
  })

  it('sleep nowhere, measure no time and draw nothing without a seed', async () => {
    const sources = await readTests()
    expect(sources.length).toBeGreaterThan(200)
    const found = findIrreproducible(sources)
    expect(found.filter((each) => !(each in reasons))).toEqual([])
    expect(
      Object.keys(reasons).filter((each) => !found.includes(each)),
      'no longer needed',
    ).toEqual([])
  })

  it('scale every limit they name by TEST_PATIENCE, and nothing else', async () => {
    const sources = (await readTests()).filter(({ path, text }) => path.endsWith('.test.ts') && /\d_?\d{3}/.test(text))
    const by = 7
    const told = sources.flatMap(({ path, text }) => {
      const scaled = scaleLimits(text, by)
      // Most name none, and each reading of a file takes its time.
      if (scaled === text && listLimits(text).length === 0) return []
      const own = listLimits(scaled).filter((limit) => !limit.startsWith(`${by} * `) && !limit.startsWith('patient('))
      const count = listLimits(text).length - own.length
      const replaced = scaled.split(`${by} * `).length - text.split(`${by} * `).length
      return { path, own, count, replaced }
    })
    expect(told.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(100)
    expect(told.filter(({ own, count, replaced }) => own.length > 0 || count !== replaced)).toEqual([])
  })

  it('draw the same numbers, bytes and keys in each run of a file, and the seed is theirs', () => {
    const [one, two] = [seededRandom(), seededRandom()]
    expect(one.next()).not.toBe(two.next())
    expect(seededKey()).toMatch(/^0x[0-9a-f]{64}$/)
    expect(seededBytes()).not.toEqual(seededBytes())
    expect(seed).toBe(Number(process.env['TEST_SEED'] ?? 20_261_120))
  })
})

describe('this check', () => {
  it.each([
    ['a sleep', 'await systemClock.sleep(500)', 'sleeps'],
    ['a sleep of node', "import { setTimeout as wait } from 'node:timers/promises'", 'sleeps'],
    ['a timer', 'await new Promise((resolve) => setTimeout(resolve, 20))', 'sleeps'],
    ['an interval', 'const looking = setInterval(look, 100)', 'sleeps'],
    ['a statement that takes its time', 'await db`select pg_sleep(1)`', 'sleeps in the database'],
    ['a measured time', 'const began = performance.now()', 'reads the clock'],
    ['a measured time of the service’s clock', 'const began = systemClock.monotonicMs()', 'reads the clock'],
    ['the wall clock', 'expect(Date.now() - began).toBeLessThan(150)', 'reads the clock'],
    ['the present', 'earn.clock.set(new Date())', 'reads the clock'],
    ['chance', 'if (Math.random() < 0.5) return', 'draws without a seed'],
    ['a key of chance', 'const key = generatePrivateKey()', 'draws without a seed'],
    ['an id of chance', 'const id = crypto.randomUUID()', 'draws without a seed'],
  ])('is red on %s', (_what, text, broken) => {
    expect(findIrreproducible([{ path: 'x.test.ts', text }])).toEqual([`x.test.ts: ${broken}`])
  })

  it('is green on waiting for what is needed, on a clock that stands still and on a seed', () => {
    const text = `// sleep(500)
      await until('the block', () => seen >= 3)
      await expect.poll(() => seen).toBe(3)
      earn.clock.advance(61_000)
      const clock = { ...systemClock, sleep: async () => undefined }
      const random = seededRandom()`
    expect(findIrreproducible([{ path: 'x.test.ts', text }])).toEqual([])
  })
})
