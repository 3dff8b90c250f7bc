import { readdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** A source file by its path below `src`. */
export type Source = { path: string; text: string }

/** Which room owns a table, by the header of the migration that makes it, or of a later one that says it takes it over. */
export function listOwners(migrations: readonly Source[]): { owners: Map<string, string>; unowned: string[] } {
  const owners = new Map<string, string>()
  const unowned: string[] = []
  for (const { text } of migrations.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const owner = /^-- Owner: ([a-z]+)\./.exec(text)?.[1]
    const taken = /^-- Owner: [a-z]+\. Takes over: ([a-z_, ]+)\./.exec(text)?.[1]?.split(', ') ?? []
    for (const table of taken) if (owner !== undefined && owners.has(table)) owners.set(table, owner)
    for (const [, table] of text.matchAll(/\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?([a-z_]+)/gi)) {
      if (table === undefined) continue
      if (owner === undefined) unowned.push(table)
      else owners.set(table, owner)
    }
  }
  return { owners, unowned }
}

/** The room of a file: a slice of `features`, or a folder of `src`. */
export function roomOf(path: string): string {
  const [room = '', slice = ''] = path.split(sep)
  return room === 'features' ? slice : room
}

/** Where a statement names tables: what it does to them, and the list that follows. */
const mention =
  /\b(insert\s+into|merge\s+into|delete\s+from|truncate(?:\s+table)?|copy|update|from|join|using|like)\s+(?:only\s+)?((?:[a-z_]+(?:\s+(?:as\s+)?[a-z]+)?\s*,\s*)*[a-z_]+)/gi

/** Tables that code names in its statements, and whether it writes them. */
export function listUses(code: string, tables: ReadonlySet<string>): { table: string; writes: boolean }[] {
  const uses = new Map<string, boolean>()
  for (const [, verb = '', list = ''] of templatesOf(code).matchAll(mention)) {
    const writes = /^(insert|merge|delete|truncate|copy|update)/i.test(verb)
    // Of what is written only the first is, but for `truncate`.
    for (const [index, item] of list.split(',').entries()) {
      const [table = ''] = item.trim().toLowerCase().split(/\s+/)
      if (!tables.has(table)) continue
      uses.set(table, (uses.get(table) ?? false) || (writes && (index === 0 || /^truncate/i.test(verb))))
    }
  }
  // What a description is given of, its statements write.
  for (const [, table = ''] of code.matchAll(/\bdescribe(?:Table|Imported)(?:<[^(]*>)?\(\s*'([a-z_]+)'/g))
    if (tables.has(table)) uses.set(table, true)
  return [...uses].map(([table, writes]) => ({ table, writes }))
}

/** The text of all template strings, what is put into them aside. */
function templatesOf(code: string): string {
  const open: number[] = []
  let text = ''
  let inside = false
  let depth = 0
  for (let index = 0; index < code.length; index++) {
    const char = code[index]
    if (char === '\\') index++
    else if (char === '`') {
      inside = !inside
      if (inside) open.push(depth)
      else open.pop()
      text += '\n'
    } else if (inside && char === '$' && code[index + 1] === '{') {
      inside = false
      depth++
      index++
      text += ' ? '
    } else if (!inside && char === '{') depth++
    else if (!inside && char === '}') {
      depth--
      if (open.at(-1) === depth) inside = true
    } else if (inside) text += char
  }
  return text
}

/** What goes against the owners, and grants that nothing needs. */
export function findForeignUses(
  sources: readonly Source[],
  owners: ReadonlyMap<string, string>,
  grants: Readonly<Record<string, string>>,
): string[] {
  const tables = new Set(owners.keys())
  const found: string[] = []
  const used = new Set<string>()
  for (const { path, text } of sources) {
    const room = roomOf(path)
    for (const { table, writes } of listUses(withoutComments(text), tables)) {
      const owner = owners.get(table)
      if (owner === room) continue
      const does = writes ? 'writes' : 'reads'
      // Who may write may read what it writes.
      const grant = [`${room} ${does} ${table}`, `${room} writes ${table}`].find((each) => grants[each] !== undefined)
      if (grant === undefined) found.push(`${path} ${does} ${table} of ${owner}`)
      else used.add(grant)
    }
  }
  for (const grant of Object.keys(grants)) if (!used.has(grant)) found.push(`nothing needs the grant: ${grant}`)
  return found
}

/** Text without comments, so that prose may name what code may not use. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

/** Files below a folder whose names end in a certain way. */
export async function readTree(root: string, ending: string): Promise<Source[]> {
  const names = (await readdir(root, { recursive: true })).filter(
    (name) => name.endsWith(ending) && !name.endsWith('.test.ts'),
  )
  return Promise.all(names.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })))
}
