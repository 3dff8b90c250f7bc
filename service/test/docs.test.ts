import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { errorTable, reasons } from '../src/kernel/errors.js'

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

  it('README.md, ARCHITECTURE.md and CONTRIBUTING.md name only files that are there', async () => {
    for (const document of ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']) {
      const links = [...(await read(document)).matchAll(/\]\(([a-zA-Z][^)#:]*)\)/g)].map(([, path]) => path ?? '')
      for (const path of links) await expect(read(path), `${document} -> ${path}`).resolves.toBeDefined()
    }
  })
})
