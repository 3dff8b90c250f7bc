import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { CatalogueFileSchema } from '../src/features/catalogue/import/catalogueFile.js'
import { errorTable, reasons } from '../src/kernel/errors.js'

/** Names of the members of all objects in a schema, the lists of a file itself left out. */
function listMembers(schema: object): string[] {
  const { properties = {}, items, anyOf = [] } = schema as { properties?: object; items?: object; anyOf?: object[] }
  const inner = [...Object.values(properties), ...(items ? [items] : []), ...anyOf].flatMap(listMembers)
  return [...(schema === CatalogueFileSchema ? [] : Object.keys(properties)), ...inner]
}

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFile(new URL(path, root), 'utf8')

describe('the documents', () => {
  it('docs/errors.md lists every row of the error table and every reason, and no other', async () => {
    const text = await read('docs/errors.md')
    const rows = [...text.matchAll(/^\| ([0-9]{3}) \| `([A-Z_]+)` \|/gm)].map(([, code, status]) => `${code} ${status}`)
    expect(rows.sort()).toEqual(
      Object.values(errorTable)
        .map(([code, status]) => `${code} ${status}`)
        .sort(),
    )
    const named = [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, reason]) => reason)
    expect(named).toEqual([...reasons])
  })

  it('docs/configuration.md names every setting the program reads', async () => {
    const config = await read('service/src/kernel/config.ts')
    const text = await read('docs/configuration.md')
    const names = [...config.matchAll(/(?:text|port|flag|integer)\('([A-Z_]+)'/g)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(8)
    for (const name of names) expect(text).toContain(`\`${name}\``)
  })

  it('docs/catalogue.md names every member of a catalogue file', async () => {
    const text = await read('docs/catalogue.md')
    const named = new Set([...text.matchAll(/`([a-zA-Z0-9]+)\??`/g)].map(([, name]) => name))
    const members = listMembers(CatalogueFileSchema)
    expect(members.length).toBeGreaterThan(80)
    expect(members.filter((name) => !named.has(name))).toEqual([])
  })

  it('README.md, ARCHITECTURE.md and CONTRIBUTING.md name only files that are there', async () => {
    for (const document of ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']) {
      const links = [...(await read(document)).matchAll(/\]\(([a-zA-Z][^)#:]*)\)/g)].map(([, path]) => path ?? '')
      for (const path of links) await expect(read(path), `${document} -> ${path}`).resolves.toBeDefined()
    }
  })
})
