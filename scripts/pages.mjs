// Bundles the programs of /embed/{key}, of /portal/ and of /operator/, each with all that it uses, into the service's dist: its
// package carries them, with the fonts of their sheets. The licences of all that is in a folder stand in a file of it.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { lastCompiled } from './lastCompiled.mjs'
import { tellLicences } from './licenceTexts.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The pages that the service serves: the first file of each, and its styles and icon where it has some. */
const pages = {
  embed: { input: 'widget/dist/frame/main.js', uses: ['sdk', 'react', 'widget'] },
  operator: { input: 'portal/dist/operator/main.js', folder: 'portal/src', uses: ['sdk', 'react', 'widget', 'portal'] },
  portal: { input: 'portal/dist/main.js', folder: 'portal/src', uses: ['sdk', 'react', 'widget', 'portal'] },
}

/** The fonts that a sheet names, each by the file that its package calls so. */
const fonts = {
  'public-sans-latin-wght-normal.woff2': 'node_modules/@fontsource-variable/public-sans',
  'ibm-plex-mono-latin-400-normal.woff2': 'node_modules/@fontsource/ibm-plex-mono',
}

const folderOf = (name) => join(root, 'service/dist', name)
const assetsOf = (name) =>
  pages[name].folder ? ['style.css', 'icon.svg'].map((file) => join(root, pages[name].folder, file)) : []
const toHash = (text) => createHash('sha256').update(text).digest('base64url').slice(0, 8)

/** Comments and indents of a sheet of ours: neither stands within a string there. */
const thin = (sheet) =>
  sheet
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\n\s*/g, '\n')
    .trim()

/** Writes a file and its compressed form, which is served where a browser takes it. */
function writeBoth(folder, name, text) {
  writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text))
}

/** Chromium compiles a file with it beside the page's own thread while the file arrives, instead of each function at its first call. */
const compileAtOnce = '//# allFunctionsCalledOnLoad'

/** The files of a program: the first holds all that is needed from the start, others what is loaded later. */
export async function bundleProgram(name, input, plugins = []) {
  const bundle = await rolldown({
    ...{ input: { [name]: input }, platform: 'browser', plugins, logLevel: 'silent', preserveEntrySignatures: false },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    // Files of workers are named by their addresses.
    experimental: { resolveNewUrlToAsset: true },
  })
  // The only such file is that of a worker, which the page's policy finds by its name.
  const parts = { chunkFileNames: 'part-[hash].js', assetFileNames: '[name]-[hash][extname]' }
  const names = { entryFileNames: `${name}-[hash].js`, ...parts }
  const codeSplitting = { groups: [{ name, tags: ['$initial'] }] }
  const postBanner = ({ isDynamicEntry }) => (isDynamicEntry ? '' : compileAtOnce)
  const { output } = await bundle.generate({ format: 'esm', minify: true, ...names, codeSplitting, postBanner })
  await bundle.close()
  return output
}

/** Writes the fonts that a sheet names into its folder, and returns the sheet with the names that they have there, and their packages. */
function writeFonts(folder, sheet) {
  const used = Object.entries(fonts).filter(([name]) => sheet.includes(name))
  let text = sheet
  for (const [name, from] of used) {
    const bytes = readFileSync(join(root, from, 'files', name))
    const own = `font-${toHash(bytes)}.woff2`
    writeBoth(folder, own, bytes)
    text = text.replaceAll(name, own)
  }
  return { text, packages: used.map(([, from]) => join(root, from)) }
}

/** Writes the files of a page anew. */
async function writePage(name) {
  const { input } = pages[name]
  const folder = folderOf(name)
  const output = await bundleProgram(name, join(root, input))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of output) writeBoth(folder, file.fileName, file.type === 'chunk' ? file.code : file.source)
  const packages = []
  for (const file of assetsOf(name)) {
    const { text, packages: of } = writeFonts(folder, thin(readFileSync(file, 'utf8')))
    packages.push(...of)
    writeBoth(folder, `${name}-${toHash(text)}${extname(file)}`, text)
  }
  writeFileSync(join(folder, 'LICENCES.txt'), tellLicences(output, packages))
}

/** The file of licences is written last: a page that was not written to its end has none, or an older one. */
function isCurrent(name) {
  const written = statSync(join(folderOf(name), 'LICENCES.txt'), { throwIfNoEntry: false })?.mtimeMs
  if (written === undefined) return false
  return written >= lastCompiled(pages[name].uses) && assetsOf(name).every((file) => statSync(file).mtimeMs <= written)
}

/** Writes the pages that are not there, and those that are older than a package or an asset of theirs. */
export async function writePages() {
  for (const name of Object.keys(pages)) if (!isCurrent(name)) await writePage(name)
}
