// The rooms whose decisions are pure, so that a unit test decides in milliseconds: which of their files are changed, and
// which tests judge them.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const isSource = (name) => name.endsWith('.ts') && !name.endsWith('.test.ts')
const slice = (name) => `service/src/features/${name}`

/**
 * folder: the room. files: those that decide, where the room also asks a database, a node or a provider. tests: files of
 * other rooms that judge it as well. readers: tests that read the text of the files, which is another while they are changed.
 */
export const rooms = {
  derive: { folder: 'service/src/derive' },
  attribution: { folder: 'packages/attribution/src', readers: ['codec.test.ts'] },
  verify: { folder: 'sdk/src/verify' },
  streams: { folder: slice('streams'), files: ['accrual', 'allotment', 'instants', 'rates', 'terms', 'tree'] },
  plans: { folder: slice('plans'), files: ['gas', 'gasLimits', 'approvals', 'inputs', 'plan', 'simulation'] },
  swap: { folder: slice('swap'), files: ['swapSteps', 'routes', 'wrapping'] },
  limits: { folder: slice('limits'), files: ['budget', 'idempotency', 'ipBuckets'] },
  kernel: { folder: 'service/src/kernel' },
  history: {
    folder: slice('history'),
    files: ['movements', 'point', 'points', 'range', 'rates', 'readings', 'series'],
  },
  metrics: { folder: slice('metrics'), files: ['buckets', 'changes', 'counts', 'floors', 'range', 'selection'] },
}

/** The files of a room that are changed. */
export function filesOf({ folder, files }) {
  if (files) return files.map((name) => `${folder}/${name}.ts`)
  const names = readdirSync(folder, { recursive: true })
  return names.filter(isSource).map((name) => `${folder}/${name}`)
}

/** These start a database, a chain or a program: a test that reaches one is not pure. */
const impure = [
  'contracts/test/anvil.ts',
  'packages/embedded-postgres/src/embedded.ts',
  'packages/embedded-postgres/src/index.ts',
  'service/test/database.ts',
]

/** Whether a test runs without a database and without a chain, by what it imports and that imports in turn. */
function isPure(test) {
  const reached = new Set([test])
  for (const file of reached) {
    const text = readFileSync(file, 'utf8').replace(/^(im|ex)port type .*$/gm, '')
    const { importedFiles } = ts.preProcessFile(text, true, true)
    for (const { fileName } of importedFiles)
      if (/^\..*\.js$/.test(fileName)) reached.add(join(dirname(file), fileName.replace(/\.js$/, '.ts')))
  }
  return !impure.some((file) => reached.has(file))
}

/** The tests that judge a room: those that stand in it, and those of other rooms that are named. */
export function testsOf({ folder, tests = [], readers = [] }) {
  const names = readdirSync(folder, { recursive: true }).map((name) => `${folder}/${name}`)
  const own = names.filter((name) => /(?<!\.(chain|long))\.test\.ts$/.test(name))
  return [...own, ...tests].filter((test) => !readers.some((name) => test.endsWith(`/${name}`)) && isPure(test))
}
