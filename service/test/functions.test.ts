import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { root } from './documents.js'
import { readTree, type Source } from './tables.js'

/** Most lines of a function, what stands in it included; in `sync/` fewer, as its steps are to be read as one. */
const linesMax = 120
const syncLinesMax = 90

/** The functions of a file that are longer than they may be, as `file: name has so many lines`. */
function listLong({ path, text }: Source): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const most = path.split(sep).includes('sync') ? syncLinesMax : linesMax
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line
  const long: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const lines = lineOf(node.end) - lineOf(node.getStart(file)) + 1
      if (lines > most) long.push(`${path}: ${nameOf(node, file)} has ${lines} lines`)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return long
}

function nameOf(node: ts.SignatureDeclaration, file: ts.SourceFile): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined)
  return named?.getText(file) ?? 'a function without a name'
}

/** The folders of what is shipped. */
async function listSources(): Promise<Source[]> {
  const packages = (await readdir(join(root, 'packages'))).map((name) => join('packages', name, 'src'))
  const trees = await Promise.all(
    [
      join('service', 'src'),
      join('sdk', 'src'),
      join('react', 'src'),
      join('widget', 'src'),
      join('portal', 'src'),
      ...packages,
    ].map(async (folder) =>
      [...(await readTree(join(root, folder), '.ts')), ...(await readTree(join(root, folder), '.tsx'))].map(
        ({ path, text }) => ({ path: join(folder, path), text }),
      ),
    ),
  )
  return trees.flat().filter(({ path }) => !path.split(sep).includes('generated'))
}

const lines = (count: number) => '  a()\n'.repeat(count)

describe('functions', () => {
  it('have at most 120 lines, and at most 90 where a chain is followed', { timeout: 60_000 }, async () => {
    const sources = await listSources()
    expect(sources.length).toBeGreaterThan(500)
    expect(sources.flatMap(listLong)).toEqual([])
  })

  it.each([
    ['a declaration', `function one() {\n${lines(119)}}`, 'x.ts: one has 121 lines'],
    ['an arrow', `const two = () => {\n${lines(119)}}`, 'x.ts: two has 121 lines'],
    ['a method', `const x = {\n  three() {\n${lines(119)}}}`, 'x.ts: three has 121 lines'],
    ['what another returns', `const f = () => async () => {\n${lines(119)}}`, 'x.ts: f has 121 lines'],
  ])('are seen too long as %s', (_name, text, fault) => {
    expect(listLong({ path: 'x.ts', text })).toContain(fault)
  })

  it('are held to fewer lines in sync, and no line is counted too many', () => {
    const text = `function one() {\n${lines(89)}}`
    expect(listLong({ path: join('service', 'src', 'sync', 'x.ts'), text })).toEqual([
      `${join('service', 'src', 'sync', 'x.ts')}: one has 91 lines`,
    ])
    expect(listLong({ path: 'x.ts', text: `function one() {\n${lines(118)}}` })).toEqual([])
  })
})
