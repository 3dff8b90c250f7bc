// Bundles the program of /embed/{key}, with all that it uses, into the service's dist: its package carries it. The licences of what
// is in it stand in a file of the same folder.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('../', import.meta.url))
const folder = join(root, 'service/dist/embed')

/** The folder of the package that a module is of; undefined for a module of ours. */
function packageOf(module) {
  if (!module.includes('/node_modules/') || module.includes('\0')) return undefined
  let at = dirname(module)
  while (!existsSync(join(at, 'package.json')) || !JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')).name)
    at = dirname(at)
  return at
}

function tellLicence(at) {
  const { name, version, license } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'))
  const file = readdirSync(at).find((each) => /^licen[cs]e/i.test(each))
  return `${name} ${version} (${license})\n\n${file ? readFileSync(join(at, file), 'utf8').trim() : ''}\n`
}

/** Writes the files anew. */
export async function writeEmbed() {
  const bundle = await rolldown({
    input: { embed: join(root, 'widget/dist/frame/main.js') },
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    logLevel: 'silent',
  })
  const names = { entryFileNames: 'embed-[hash].js', chunkFileNames: 'part-[hash].js' }
  const { output } = await bundle.generate({ format: 'esm', minify: true, ...names })
  await bundle.close()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const chunk of output) if (chunk.type === 'chunk') writeFileSync(join(folder, chunk.fileName), chunk.code)
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  const used = [...new Set(modules.map(packageOf))].filter((each) => each !== undefined && !each.includes('@openearn'))
  writeFileSync(
    join(folder, 'LICENCES.txt'),
    used
      .sort()
      .map(tellLicence)
      .join(`\n${'-'.repeat(80)}\n\n`),
  )
}

export const hasEmbed = () => existsSync(join(folder, 'LICENCES.txt'))
