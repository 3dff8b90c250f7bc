// node scaffold.mjs <checkout>, after move.mjs: the two packages, workspaces, references, and the few words
// that are no imports. Every patch says when it finds nothing to change.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'

const root = process.argv[2]
if (!root) throw new Error('which checkout?')
process.chdir(root)
const read = (path) => readFileSync(path, 'utf8')
const write = (path, text) => writeFileSync(path, text)
const json = (path, change) => {
  const value = JSON.parse(read(path))
  change(value)
  write(path, `${JSON.stringify(value, null, 2)}\n`)
}
let missed = 0
const patch = (path, from, to) => {
  const text = existsSync(path) ? read(path) : ''
  const fresh = text.replace(from, to)
  if (fresh === text) {
    missed += 1
    console.log(`patch without effect: ${path}: ${String(from).slice(0, 80)}`)
  } else write(path, fresh)
}
const service = JSON.parse(read('service/package.json'))
const take = (section, names) => {
  const taken = {}
  for (const name of names) {
    const version = service[section]?.[name]
    if (version === undefined) continue
    taken[name] = version
  }
  return taken
}

const packageOf = (name, rest) => ({
  name: `@openearn/${name}`,
  version: '0.1.0',
  private: true,
  license: 'Apache-2.0',
  type: 'module',
  exports: { '.': { source: './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' } },
  ...rest,
})
const tsconfig = (references = []) => ({
  extends: '../../tsconfig.base.json',
  compilerOptions: { rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo' },
  include: ['src'],
  exclude: ['src/**/*.test.ts'],
  ...(references.length ? { references } : {}),
})
const tsconfigTest = {
  extends: '../../tsconfig.base.json',
  compilerOptions: { composite: false, declaration: false, noEmit: true, rootDir: '../..' },
  include: ['src', 'test'],
  references: [{ path: '../../contracts' }, { path: '../../sdk' }],
}
const save = (path, value) => {
  mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true })
  write(path, `${JSON.stringify(value, null, 2)}\n`)
}
save(
  'packages/attribution/package.json',
  packageOf('attribution', {
    dependencies: take('dependencies', ['@noble/curves', 'cborg', 'hash-wasm', 'viem']),
    devDependencies: take('devDependencies', ['@types/node', 'fast-check', 'ox']),
  }),
)
save('packages/attribution/tsconfig.json', tsconfig())
save('packages/attribution/tsconfig.test.json', {
  ...tsconfigTest,
  references: [...tsconfigTest.references, { path: '../embedded-postgres' }],
})
save(
  'packages/embedded-postgres/package.json',
  packageOf('embedded-postgres', {
    optionalDependencies:
      service.optionalDependencies &&
      Object.fromEntries(
        Object.entries(service.optionalDependencies).filter(([name]) => name.startsWith('@embedded-postgres/')),
      ),
    devDependencies: take('devDependencies', ['@types/node']),
  }),
)
save('packages/embedded-postgres/tsconfig.json', tsconfig())
save('packages/embedded-postgres/tsconfig.test.json', {
  ...tsconfigTest,
  include: ['src'],
  references: [...tsconfigTest.references, { path: '../attribution' }],
})

json('package.json', (value) => {
  value.workspaces = ['packages/*', ...value.workspaces.filter((each) => each !== 'packages/*')]
  value.scripts.build = value.scripts.build.replace(
    'tsc -b contracts sdk service',
    'tsc -b packages/attribution packages/embedded-postgres contracts sdk service',
  )
  value.scripts.typecheck = value.scripts.typecheck.replace(
    'tsc -p contracts/tsconfig.test.json',
    'tsc -p packages/attribution/tsconfig.test.json && tsc -p packages/embedded-postgres/tsconfig.test.json && tsc -p contracts/tsconfig.test.json',
  )
})
json('service/package.json', (value) => {
  value.dependencies = Object.fromEntries(
    Object.entries({
      ...value.dependencies,
      '@openearn/attribution': '0.1.0',
      '@openearn/embedded-postgres': '0.1.0',
    }).sort(([a], [b]) => (a < b ? -1 : 1)),
  )
  for (const name of Object.keys(value.optionalDependencies ?? {}))
    if (name.startsWith('@embedded-postgres/')) delete value.optionalDependencies[name]
})
const referenced = [{ path: '../packages/attribution' }, { path: '../packages/embedded-postgres' }]
const addReferences = (path) => {
  // These files keep their own line form.
  patch(
    path,
    '"references": [',
    '"references": [{ "path": "../packages/attribution" }, { "path": "../packages/embedded-postgres" }, ',
  )
}
addReferences('service/tsconfig.json')
addReferences('service/tsconfig.test.json')
void referenced

// What the package needs of a clock, a log and a way to connect is little, and written here again.
write(
  'packages/embedded-postgres/src/platform.ts',
  `/** What starting a server needs of a clock, a log and a way to connect. The service's own fit these. */

export type Log = Record<'info' | 'warn' | 'error', { (message: string): void; (fields: object, message: string): void }>

export type DatabaseTarget = { host: string; port: number; database: string; username: string; password?: string }

export const systemClock = {
  /** Resolves after \`ms\` milliseconds, at once when \`signal\` aborts. */
  sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}
`,
)
for (const file of ['embedded.ts', 'embeddedFolder.ts']) {
  const path = `packages/embedded-postgres/src/${file}`
  patch(path, /from '[^']*service\/src\/(kernel\/(clock|log)|postgres\/pool)\.js'/g, "from './platform.js'")
}
const test = 'packages/embedded-postgres/src/embedded.test.ts'
patch(test, "'embedded.js', 'embeddedFolder.js', 'clock.js'", "'embedded.js', 'embeddedFolder.js', 'platform.js'")
patch(test, /new URL\('[^']*dist\/kernel'/, "new URL('../dist'")
patch(
  test,
  "pathToFileURL(join(compiled, 'database.js')).href",
  "new URL('../../../service/dist/postgres/pool.js', import.meta.url).href",
)

// A thread reads the packages from source as well.
patch(
  'service/test/typescriptLoader.mjs',
  "return nextResolve(fromSource ? specifier.replace(/\\.js$/, '.ts') : specifier, context)",
  "return nextResolve(fromSource ? specifier.replace(/\\.js$/, '.ts') : specifier, {\n    ...context,\n    conditions: ['source', ...context.conditions],\n  })",
)

// Documents.
patch(
  'README.md',
  /\| `service\/src\/kernel` \|[^\n]*\n\| `service\/src\/chain` \|[^\n]*\n/,
  `| \`service/src/kernel\`, \`postgres\` | what every part needs and nothing about earn; the pool and the migrations |
| \`service/src/rpc\`, \`sync\`, \`wallets\` | talking to nodes; following a chain through reorganisations; who signed |
| \`packages/attribution\`, \`packages/embedded-postgres\` | the codec of what a distributor leaves in calldata; a real PostgreSQL from npm |
`,
)

for (const name of ['attribution', 'embedded-postgres']) {
  const link = `node_modules/@openearn/${name}`
  if (existsSync('node_modules/@openearn') && !existsSync(link)) symlinkSync(`../../packages/${name}`, link)
}
// Workspaces that are new: no registry is asked, no address is written.
console.log(
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim(),
)
console.log(`${missed} patches without effect`)
