// Installs the packages that only tests and tools need, where one is missing: compilers, another chain's libraries,
// foreign contracts, a browser's driver. `npm ci` leaves them out, as .npmrc says.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)

const read = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'))

/** The version that is installed at a place of the lock; none where nothing is. */
function findVersion(place) {
  try {
    return read(`${place}/package.json`).version
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

// A package of another platform is marked as optional, and not installed.
const missing = Object.entries(read('package-lock.json').packages).filter(
  ([place, { version, link, optional }]) =>
    place.includes('node_modules/') && !link && !optional && findVersion(place) !== version,
)

if (missing.length > 0) {
  console.error(`installing ${missing.length} packages that only tests and tools need: \`npm ci\` leaves them out …`)
  const npm = process.env.npm_execpath
  const words = ['install', '--include=dev', '--no-save', '--prefer-offline']
  const [program, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const { status, error } = spawnSync(program, [...first, ...words], { cwd: root, stdio: ['ignore', 2, 2] })
  if (error) throw error
  process.exitCode = status ?? 1
}
