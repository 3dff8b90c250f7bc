// Writes what a production installation consists of, from package-lock.json: sbom.json (CycloneDX) and the table of
// docs/licences.md. With --check it writes nothing and ends with 1 where one of them is not up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
const read = (path) => readFileSync(new URL(path, root), 'utf8')
const { packages } = JSON.parse(read('package-lock.json'))
const own = ['packages/attribution', 'packages/embedded-postgres', 'contracts', 'sdk', 'service']

/**
 * Where the packages of a production installation stand in the lock: what our own packages ask for, and what these ask
 * for in turn. Whatever else the lock holds is for a checkout: its devnet, its tests, its tools.
 */
const installed = []
for (const path of own) {
  const reached = [path]
  for (const from of reached)
    for (const place of listNeeded(from)) {
      if (own.includes(place) || installed.includes(place)) continue
      installed.push(place)
      reached.push(place)
    }
}
const nameOf = (path) => packages[path].name ?? path.slice(path.lastIndexOf('node_modules/') + 13)
const refOf = (path) => `pkg:npm/${nameOf(path).replace('@', '%40')}@${packages[path].version}`

/** The places of what a package cannot do without, and of what it uses where it can be installed. */
function listNeeded(path) {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} } = packages[path]
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta[name]?.optional)
  const names = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
  return names.map((name) => resolve(path, name)).filter((place) => place !== undefined)
}

/** The place in the lock that `name` is taken from by the package at `path`: the nearest folder that has it. */
function resolve(path, name) {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (packages[place]) return packages[place].link ? packages[place].resolved : place
    if (folder === '') return undefined
  }
}

function describe(path) {
  const { license, integrity, version } = packages[path]
  const name = nameOf(path)
  const [group, short] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const id = license.includes(' ') ? { expression: license } : { license: { id: license } }
  const [algorithm, digest] = integrity?.split('-') ?? []
  return {
    type: 'library',
    'bom-ref': refOf(path),
    ...(group ? { group } : {}),
    name: short,
    version,
    ...(digest ? { hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: toHex(digest) }] } : {}),
    licenses: [id],
    purl: refOf(path),
    ...(packages[path].optional || packages[path].devOptional ? { scope: 'optional' } : {}),
  }
}

const toHex = (base64) => Buffer.from(base64, 'base64').toString('hex')
const byRef = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

function dependenciesOf(path) {
  const { dependencies, optionalDependencies, peerDependencies } = packages[path]
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
  const places = names
    .map((name) => resolve(path, name))
    .filter((place) => installed.includes(place) || own.includes(place))
  return { ref: refOf(path), dependsOn: [...new Set(places.map(refOf))].sort(byRef) }
}

/** One of each name and version: a package may stand in several folders. */
function unique(items, key) {
  return [...new Map(items.map((item) => [item[key], item])).values()].sort((a, b) => byRef(a[key], b[key]))
}

const paths = [...own.slice(0, -1), ...installed]
const sbom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: { ...describe('service'), type: 'application' } },
  components: unique(paths.map(describe), 'bom-ref'),
  dependencies: unique([...own, ...installed].map(dependenciesOf), 'ref'),
}

const rows = unique(
  installed.map((path) => ({ key: `${nameOf(path)} ${packages[path].version}`, path })),
  'key',
).map(({ path }) => `| \`${nameOf(path)}\` | ${packages[path].version} | ${packages[path].license} |`)
const start = '| package | version | licence |\n|---|---|---|\n'
const page = read('docs/licences.md')
const files = {
  'sbom.json': `${JSON.stringify(sbom, null, 2)}\n`,
  'docs/licences.md': `${page.slice(0, page.indexOf(start))}${start}${rows.join('\n')}\n`,
}

for (const [name, text] of Object.entries(files)) {
  if (existsSync(new URL(name, root)) && read(name) === text) continue
  if (process.argv.includes('--check')) {
    console.error(`${name} is not up to date: npm run licences`)
    process.exitCode = 1
  } else writeFileSync(new URL(name, root), text)
}
