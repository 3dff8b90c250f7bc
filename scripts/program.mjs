// Bundles `openearn` with all that it uses into service/dist/program: Node then opens a few files for a command in place of some
// thousand, which is most of the time a short command takes. The licences of what is in it stand in a file of its folder.
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { lastCompiled } from './lastCompiled.mjs'
import { tellLicences } from './licenceTexts.mjs'

const service = fileURLToPath(new URL('../service/', import.meta.url))
const dist = join(service, 'dist')
const folder = join(dist, 'program')
const licences = join(folder, 'LICENCES.txt')

/** Files whose neighbours are in the bundle, too; what others name are files of the package, from where they stood. */
const bundledNeighbours = ['cli/load.js', 'cli/serve.js', 'features/attribution/judgeThread.js']

/** Native code, packages that are asked for only where they are installed, our own that finds files near it, and one whose parts ask for each other at run time. */
const external = [/^secp256k1/, 'pg-native', '@openearn/embedded-postgres', 'jsonc-parser']

/** Stands for the way from a file of the bundle to `dist`. */
const toDist = '__TO_DIST__/'

/** Makes `import.meta.url` of a module the url it had before it was bundled. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(dist + sep) || !code.includes('import.meta.url')) return undefined
    const file = relative(dist, id).split(sep).join('/')
    const place = bundledNeighbours.includes(file) ? `program/${basename(file)}` : file
    return { code: code.replaceAll('import.meta.url', `new URL('${toDist}${place}', import.meta.url).href`), map: null }
  },
}

async function listEntries() {
  const { commands } = await import(new URL('../service/dist/cli/commands.js', import.meta.url).href)
  const files = new Set(Object.values(commands).map(({ file }) => file.slice(2, -'.js'.length)))
  const entries = [...files].map((name) => [name, join(dist, 'cli', `${name}.js`)])
  return Object.fromEntries([
    ...entries,
    ['main', join(dist, 'cli/main.js')],
    ['judgeWorker', join(dist, 'features/attribution/judgeWorker.js')],
  ])
}

/** Packages that are in the program. */
const bundledPackages = ['packages/attribution', 'contracts', 'sdk', 'service']

/** The file of licences is written last: a program that was not written to its end has none, or an older one. */
function isCurrent() {
  const written = statSync(licences, { throwIfNoEntry: false })?.mtimeMs
  return written !== undefined && written >= lastCompiled(bundledPackages)
}

/** Writes the program where it is missing, or older than a package that is in it. */
export async function writeProgram() {
  if (isCurrent()) return
  const bundle = await rolldown({
    input: await listEntries(),
    platform: 'node',
    external,
    plugins: [keepPlaces],
    logLevel: 'silent',
  })
  // Names without a hash: a service that runs finds the parts it has not loaded yet after another build, too.
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name].js',
  })
  await bundle.close()
  rmSync(licences, { force: true })
  for (const { fileName, code } of output) {
    mkdirSync(dirname(join(folder, fileName)), { recursive: true })
    writeFileSync(join(folder, fileName), code.replaceAll(toDist, '../'.repeat(fileName.split('/').length)))
  }
  const written = new Set(output.map(({ fileName }) => fileName))
  for (const file of readdirSync(folder, { recursive: true }).map((each) => each.split(sep).join('/')))
    if (file.endsWith('.js') && !written.has(file)) rmSync(join(folder, file))
  writeFileSync(licences, tellLicences(output))
}
