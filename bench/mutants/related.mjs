// Which test files may notice a change of one file, the nearest first: a test that stands beside it, then those that import
// it by the fewest steps.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'

const packages = {
  '@openearn/attribution': 'packages/attribution/src/index.ts',
  '@openearn/attribution/codec': 'packages/attribution/src/codec.ts',
  '@openearn/embedded-postgres': 'packages/embedded-postgres/src/index.ts',
  '@openearn/sdk/verify': 'sdk/src/verify/index.ts',
}
const places = ['packages/attribution', 'packages/embedded-postgres', 'sdk', 'service']

const listFiles = (root) =>
  places.flatMap((place) =>
    ['src', 'test'].flatMap((folder) => {
      const under = join(root, place, folder)
      if (!existsSync(under)) return []
      return readdirSync(under, { recursive: true })
        .filter((name) => /\.(ts|mjs)$/.test(name))
        .map((name) => join(place, folder, name))
    }),
  )

function importsOf(root, file) {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true)
  return importedFiles.flatMap(({ fileName }) => {
    if (packages[fileName]) return [packages[fileName]]
    if (!fileName.startsWith('.')) return []
    return [relative(root, join(root, dirname(file), fileName)).replace(/\.js$/, '.ts')]
  })
}

/** How many folders two files share from the root. */
function shared(one, other) {
  const [a, b] = [dirname(one).split('/'), dirname(other).split('/')]
  const differs = a.findIndex((name, index) => name !== b[index])
  return differs === -1 ? a.length : differs
}

/** Gives for a file the test files that reach it, nearest first: { test, steps }. */
export function createRelated(root) {
  const importers = new Map()
  for (const file of listFiles(root))
    for (const imported of importsOf(root, file)) importers.set(imported, [...(importers.get(imported) ?? []), file])
  return (file) => {
    const steps = new Map([[file, 0]])
    for (const [at, far] of steps)
      for (const importer of importers.get(at) ?? []) if (!steps.has(importer)) steps.set(importer, far + 1)
    return [...steps]
      .filter(([name]) => name.endsWith('.test.ts') && !name.endsWith('.long.test.ts'))
      .map(([test, far]) => ({ test, steps: far, isBeside: dirname(test) === dirname(file) }))
      .sort(
        (a, b) =>
          Number(b.isBeside) - Number(a.isBeside) ||
          shared(b.test, file) - shared(a.test, file) ||
          a.steps - b.steps ||
          a.test.localeCompare(b.test),
      )
  }
}
