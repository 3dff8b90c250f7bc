import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** A file and everything it imports, types left out. */
function listImports(path: string, seen = new Map<string, string>()): Map<string, string> {
  if (seen.has(path)) return seen
  const text = readFileSync(new URL(path.replace(/\.js$/, '.ts'), import.meta.url), 'utf8')
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
  seen.set(path, code)
  const from = code.matchAll(/(?:^|\n)(?:import|export)(?! type )[^'"]*\bfrom ['"]([^'"]+)['"]/g)
  for (const [, next = ''] of from) {
    if (next.startsWith('.')) listImports(next, seen)
    else seen.set(next, '')
  }
  return seen
}

const files = listImports('./codec.js')
const packages = [...files.keys()].filter((name) => !name.startsWith('.'))

describe('what the sdk takes of the codec', () => {
  it('runs in a browser: it uses of other packages cborg and viem only, and nothing of Node', () => {
    expect(files.size).toBeGreaterThan(6)
    expect(packages.sort()).toEqual(['cborg', 'viem'])
    for (const [name, code] of files)
      expect(code, name).not.toMatch(/\b(Buffer|process|require|createRequire|__dirname)\b/)
  })

  it('starts at once: nothing waits', () => {
    // A line that is not indented stands outside of every function.
    for (const [name, code] of files) expect(code, name).not.toMatch(/^\S.*\bawait\b/m)
  })
})
