// Compiles each package that changed since it was last compiled, and says which. What the sdk takes from others is copied
// into it before hooks and service are compiled against it.
import { spawnSync } from 'node:child_process'
import { lastCompiled } from './lastCompiled.mjs'

const root = new URL('../', import.meta.url)
const packages = [
  'packages/attribution',
  'packages/embedded-postgres',
  'contracts',
  'sdk',
  'react',
  'widget',
  'portal',
  'service',
]

/** When each package was last compiled. */
const compiledAt = () => packages.map((folder) => lastCompiled([folder]))

const { default: findCompiler } = await import(
  new URL('lib/getExePath.js', import.meta.resolve('typescript-native/package.json')).href
)
const compiler = findCompiler()

function compile(folders) {
  const { status, error } = spawnSync(compiler, ['-b', ...folders], { cwd: root, stdio: ['ignore', 2, 2] })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

const start = performance.now()
const before = compiledAt()
if (before.includes(0)) console.error('compiling everything, as it was never compiled here …')
const { writeCommonTypes } = await import('../sdk/scripts/commonTypes.js')
compile(packages.slice(0, 4))
await import('../sdk/scripts/copyCodec.js')
writeCommonTypes('sdk')
compile(packages.slice(4))
writeCommonTypes('react')
writeCommonTypes('widget')
const after = compiledAt()
const changed = packages.filter((_, index) => after[index] !== before[index])
const { writePages } = await import('./pages.mjs')
await writePages()
const { writeProgram } = await import('./program.mjs')
await writeProgram()
const seconds = ((performance.now() - start) / 1000).toFixed(1)
console.error(
  changed.length === 0 ? 'nothing to compile: no source changed' : `compiled ${changed.join(', ')} in ${seconds} s`,
)
