// The licences of the packages that a bundle holds.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

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

/** The text of a file that says the licence of each foreign package in the output of a bundler, and of those in the folders `more`. */
export function tellLicences(output, more = []) {
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  const used = [...new Set([...modules.map(packageOf), ...more])].filter(
    (each) => each !== undefined && !each.includes('@openearn'),
  )
  return used
    .sort()
    .map(tellLicence)
    .join(`\n${'-'.repeat(80)}\n\n`)
}
