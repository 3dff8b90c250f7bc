// Copies the exports of dist/codec.js, of a package that is not published, to dist/codec, so that an installation of the sdk
// needs only what package.json names. Runs in every build and before `npm pack`; a second run changes nothing.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

const source = '@openearn/attribution/codec'
const entry = new URL(import.meta.resolve(source))
const dist = new URL('../dist/', import.meta.url)
const { dependencies, peerDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const needed = { ...dependencies, ...peerDependencies }

/** Every file the entry names, in its code or its types, with its text. */
function collect(name, files = new Map()) {
  if (files.has(name)) return files
  const text = readFileSync(new URL(name, entry), 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, '')
  files.set(name, text)
  for (const [, next] of text.matchAll(/\bfrom '([^']+)'/g)) {
    if (next.startsWith('./')) {
      collect(name.endsWith('.d.ts') ? next.replace(/\.js$/, '.d.ts') : next, files)
      continue
    }
    if (!Object.hasOwn(needed, next)) throw new Error(`${name} needs ${next}, which package.json does not name`)
  }
  return files
}

const files = collect('./codec.d.ts', collect('./codec.js'))
/** A program that runs the sdk meanwhile finds every file: only changed files are written, and only unused ones are removed. */
function write(file, text) {
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
}

const folder = new URL('codec/', dist)
mkdirSync(folder, { recursive: true })
for (const [name, text] of files) write(new URL(name, folder), text)
for (const name of readdirSync(folder))
  if (!name.endsWith('.d.cts') && !files.has(`./${name}`)) rmSync(new URL(name, folder))

for (const name of ['codec.js', 'codec.d.ts']) {
  const file = new URL(name, dist)
  const text = readFileSync(file, 'utf8')
  const local = text.replace(`'${source}'`, "'./codec/codec.js'")
  if (!local.includes("'./codec/codec.js'")) throw new Error(`dist/${name} does not export ${source}`)
  write(file, local)
}
