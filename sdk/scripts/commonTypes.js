// Writes each .d.ts of a package's dist a second time as .d.cts, for programs that `require` the package: TypeScript takes a
// .d.ts of it for a module that can only be imported, while Node requires the code as it is. Runs in every build and before
// `npm pack`; a second run changes nothing.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Writes those of the package in a folder of this checkout. */
export function writeCommonTypes(folder) {
  const dist = new URL(`../../${folder}/dist/`, import.meta.url)
  const files = readdirSync(dist, { recursive: true }).map((name) => name.replaceAll('\\', '/'))
  for (const name of files.filter((each) => each.endsWith('.d.ts'))) {
    const text = readFileSync(new URL(name, dist), 'utf8')
      .replace(/(\bfrom |\bimport\()'(\.[^']+)\.js'/g, "$1'$2.cjs'")
      // viem types its CommonJS build by the declarations of its modules: they are asked for as what they are.
      .replace(/^import (?:type )?\{([^}]+)\} from 'viem'/gm, (_, names) => {
        return `import type {${names.replace(/\btype /g, '')}} from 'viem' with { 'resolution-mode': 'import' }`
      })
      .replace(/^\/\/# sourceMappingURL=.*\n?/m, '')
    const copy = new URL(name.replace(/\.d\.ts$/, '.d.cts'), dist)
    if (!existsSync(copy) || readFileSync(copy, 'utf8') !== text) writeFileSync(copy, text)
  }
  for (const name of files.filter((each) => each.endsWith('.d.cts')))
    if (!existsSync(new URL(name.replace(/\.d\.cts$/, '.d.ts'), dist))) rmSync(new URL(name, dist))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeCommonTypes(process.argv[2])
