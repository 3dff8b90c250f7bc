// Installs the packages that only tests and tools need, where one is missing: compilers, another chain's libraries,
// foreign contracts, a browser's driver. `npm ci` leaves them out, as .npmrc says.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)

/** The packages that a lock names, by their places; none where there is no such file. */
function readPackages(lock) {
  try {
    return JSON.parse(readFileSync(new URL(lock, root), 'utf8')).packages
  } catch (error) {
    if (error.code === 'ENOENT') return {}
    throw error
  }
}

/** npm keeps what it has installed; a package of another platform is not installed, and marked as optional. */
const installed = readPackages('node_modules/.package-lock.json')
const missing = Object.entries(readPackages('package-lock.json')).filter(
  ([path, { version, integrity, link, optional }]) =>
    path.includes('node_modules/') &&
    !link &&
    !optional &&
    (installed[path]?.version !== version || installed[path].integrity !== integrity),
)

if (missing.length > 0) {
  console.error(
    `installing what only tests and tools need: ${missing.length} packages, which \`npm ci\` leaves out (about 450 MB) …`,
  )
  const npm = process.env.npm_execpath
  const words = ['install', '--include=dev', '--no-save', '--prefer-offline']
  const [program, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const { status, error } = spawnSync(program, [...first, ...words], { cwd: root, stdio: ['ignore', 2, 2] })
  if (error) throw error
  process.exitCode = status ?? 1
}
