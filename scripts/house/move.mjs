// node move.mjs <checkout> : moves every file of the table with git mv and rewrites what names it.
// Works on whatever the checkout holds; prints what it placed by default, and what a person has to look at.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { barrels, newDoors, place } from './table.mjs'

const root = process.argv[2]
if (!root) throw new Error('which checkout?')
process.chdir(root)
const ts = createRequire(join(process.cwd(), 'package.json'))('typescript')
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' })
const said = { defaulted: [], attention: [] }
const all = git('ls-files', '-z').split('\0').filter(Boolean)
const isCode = (path) =>
  /\.(ts|mts|mjs|js)$/.test(path) && !path.includes('/generated/') && !path.startsWith('bench/peers')
const code = all.filter(isCode)
const texts = new Map(code.map((path) => [path, readFileSync(path, 'utf8')]))
const placed = new Map(
  all.map((path) => [path, isCode(path) ? place(path, texts.get(path), (line) => said.defaulted.push(line)) : path]),
)
const now = (path) => placed.get(path) ?? path
{
  const seen = new Map()
  for (const [old, fresh] of placed) {
    if (seen.has(fresh)) throw new Error(`two files at ${fresh}: ${seen.get(fresh)} and ${old}`)
    seen.set(fresh, old)
  }
}

// ---- what a specifier names ----------------------------------------------------------------------------------------
const resolveOld = (from, specifier) => {
  if (specifier === '@openearn/attribution') return 'service/src/chain/attribution/index.ts'
  if (!specifier.startsWith('.')) return undefined
  const target = posix.normalize(posix.join(posix.dirname(from), specifier))
  const inSource = target.replace(/^(service|sdk)\/dist\//, '$1/src/').replace(/^contracts\/dist\//, 'contracts/abi/')
  for (const each of [target, inSource, inSource.replace(/\.js$/, '.ts'), `${inSource}.ts`])
    if (placed.has(each)) return each
  return undefined
}
const isDist = (specifier) => /(^|\/)dist\//.test(specifier)
const rel = (from, to) => {
  const path = posix.relative(posix.dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}
/** Path of a module from a file, both at their new places. */
const specifierOf = (importer, target, dist) => {
  let to = target
  if (dist) to = to.replace(/^((?:packages\/)?[^/]+)\/src\//, '$1/dist/')
  return rel(importer, to).replace(/\.ts$/, '.js')
}

// ---- rooms and doors -----------------------------------------------------------------------------------------------
const roomOf = (path) => {
  let match = /^packages\/([^/]+)\/src\//.exec(path)
  if (match)
    return {
      name: `packages/${match[1]}`,
      door: `packages/${match[1]}/src/index.ts`,
      alias: `@openearn/${match[1]}`,
      strict: true,
    }
  match = /^service\/src\/features\/([^/]+)\//.exec(path)
  if (match) return { name: `features/${match[1]}`, door: `service/src/features/${match[1]}/index.ts`, strict: true }
  match = /^service\/src\/(derive|vaults|prices|pipeline)\//.exec(path)
  if (match) return { name: match[1], door: `service/src/${match[1]}/index.ts`, strict: false }
  match = /^service\/src\/([^/]+)\//.exec(path)
  return { name: match ? match[1] : path.split('/').slice(0, 2).join('/'), strict: false }
}
const isTest = (path) => /\.test\.ts$/.test(path) || !/^(service|packages\/[^/]+|sdk)\/src\//.test(path)

const parsed = new Map()
const parse = (path) => {
  if (!parsed.has(path)) parsed.set(path, ts.createSourceFile(path, texts.get(path), ts.ScriptTarget.Latest, true))
  return parsed.get(path)
}
/** The file that defines what a file exports under a name, by old places, and the name there. */
const definition = (path, name, depth = 0) => {
  if (depth > 5) return { file: path, name }
  for (const statement of parse(path).statements) {
    if (!ts.isExportDeclaration(statement) || !statement.moduleSpecifier) continue
    const target = resolveOld(path, statement.moduleSpecifier.text)
    if (!target) continue
    if (!statement.exportClause) {
      const found = definition(target, name, depth + 1)
      if (declares(found.file, found.name)) return found
      continue
    }
    if (!ts.isNamedExports(statement.exportClause)) continue
    for (const element of statement.exportClause.elements)
      if (element.name.text === name) return definition(target, (element.propertyName ?? element.name).text, depth + 1)
  }
  // A name imported and exported again by the same file counts as its own.
  return { file: path, name }
}
const declares = (path, name) =>
  parse(path).statements.some(
    (s) =>
      (s.name && s.name.text === name) ||
      (ts.isVariableStatement(s) && s.declarationList.declarations.some((d) => bindingNames(d.name).includes(name))),
  )
const bindingNames = (node) =>
  ts.isIdentifier(node) ? [node.text] : node.elements.flatMap((e) => (e.name ? bindingNames(e.name) : []))
const isType = (path, name) =>
  parse(path).statements.some(
    (s) => (ts.isTypeAliasDeclaration(s) || ts.isInterfaceDeclaration(s)) && s.name.text === name,
  )

/** door -> Map(source file new -> Map(exported name -> { name, type })) to be exported if it is not yet. */
const wanted = new Map()
const wantExport = (door, file, name, exported, type) => {
  if (!wanted.has(door)) wanted.set(door, new Map())
  const files = wanted.get(door)
  if (!files.has(file)) files.set(file, new Map())
  files.get(file).set(exported, { name, type })
}
/** What a door exports already, by the old text of the same file, and under which name. */
const exportedBy = (doorNew, def) => {
  const old = [...placed].find(([, fresh]) => fresh === doorNew)?.[0]
  if (!old || !texts.has(old)) return undefined
  for (const s of parse(old).statements) {
    if (!ts.isExportDeclaration(s) || !s.moduleSpecifier || !s.exportClause || !ts.isNamedExports(s.exportClause))
      continue
    for (const e of s.exportClause.elements) {
      const found = definition(old, e.name.text)
      if (found.file === def.file && found.name === def.name) return e.name.text
    }
  }
  return undefined
}

// ---- the new text of each file -------------------------------------------------------------------------------------
const edits = new Map()
const edit = (path, start, end, text) => {
  if (!edits.has(path)) edits.set(path, [])
  edits.get(path).push({ start, end, text })
}
const oldDoors = new Set([
  ...barrels,
  ...code.filter((path) => /^service\/src\/features\/[^/]+\/index\.ts$/.test(path)),
])

for (const path of code) {
  const source = parse(path)
  const here = now(path)
  const isDoor = oldDoors.has(path)
  const path2 = (literal, target, dist) => {
    const quote = texts.get(path)[literal.getStart(source)]
    edit(path, literal.getStart(source), literal.getEnd(), `${quote}${specifierOf(here, now(target), dist)}${quote}`)
  }
  /** Where to take a name from: the specifier, and the name it has there. */
  const origin = (target, name, dist) => {
    if (/\.mjs$/.test(target)) return { specifier: specifierOf(here, now(target), dist), name }
    const viaDoor = oldDoors.has(target)
    const def = viaDoor ? definition(target, name) : { file: target, name }
    const at = now(def.file)
    const room = roomOf(at)
    const same = roomOf(here).name === room.name
    const doorAt = now(target)
    // A door that stays the door of what is asked for.
    if (viaDoor && room.door === doorAt && !room.alias) return { specifier: specifierOf(here, doorAt, dist), name }
    if (same && !viaDoor) return { specifier: specifierOf(here, at, dist), name: def.name }
    if (same) return { specifier: specifierOf(here, at, dist), name: def.name }
    const throughDoor =
      room.door && (room.alias ? !isTest(here) || viaDoor : room.strict ? !isTest(here) || viaDoor : viaDoor)
    if (!throughDoor || (dist && !viaDoor)) return { specifier: specifierOf(here, at, dist), name: def.name }
    const known = exportedBy(room.door, def)
    const exported = known ?? (viaDoor ? name : def.name)
    if (known === undefined) wantExport(room.door, at, def.name, exported, isType(def.file, def.name))
    return { specifier: room.alias && !dist ? room.alias : specifierOf(here, room.door, dist), name: exported }
  }
  const visit = (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const target = resolveOld(path, node.moduleSpecifier.text)
      if (target === undefined) return
      const dist = isDist(node.moduleSpecifier.text)
      const bindings = node.importClause?.namedBindings
      if (!bindings || !ts.isNamedImports(bindings) || node.importClause.name || !isCode(target))
        return path2(node.moduleSpecifier, target, dist)
      const whole = node.importClause.isTypeOnly
      const groups = new Map()
      for (const element of bindings.elements) {
        const from = origin(target, (element.propertyName ?? element.name).text, dist)
        const local = element.name.text
        const words = `${element.isTypeOnly ? 'type ' : ''}${from.name === local ? local : `${from.name} as ${local}`}`
        if (!groups.has(from.specifier)) groups.set(from.specifier, [])
        groups.get(from.specifier).push(words)
      }
      if (groups.size === 1) {
        const [[specifier, words]] = [...groups]
        const plain = bindings.elements.map((e) => e.getText(source)).join() === words.join()
        if (plain) {
          if (specifier !== node.moduleSpecifier.text)
            edit(path, node.moduleSpecifier.getStart(source), node.moduleSpecifier.getEnd(), `'${specifier}'`)
          return
        }
      }
      edit(
        path,
        node.getStart(source),
        node.getEnd(),
        [...groups]
          .map(([specifier, words]) => `import ${whole ? 'type ' : ''}{ ${words.join(', ')} } from '${specifier}'`)
          .join('\n'),
      )
      return
    }
    if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      const target = resolveOld(path, node.moduleSpecifier.text)
      if (target === undefined) return
      if (!isDoor || !node.exportClause || !ts.isNamedExports(node.exportClause))
        return path2(node.moduleSpecifier, target, false)
      // The door of one room lets go of what has moved to another.
      const stays = []
      for (const element of node.exportClause.elements) {
        const asked = (element.propertyName ?? element.name).text
        const def = definition(target, asked)
        const room = roomOf(now(def.file))
        if (room.door === here) stays.push(element.getText(source))
        else if (room.door)
          wantExport(
            room.door,
            now(def.file),
            def.name,
            element.name.text,
            element.isTypeOnly || node.isTypeOnly || isType(def.file, def.name),
          )
        else said.attention.push(`${path}: ${element.name.text} left the door and has no other`)
      }
      const text =
        stays.length === 0
          ? ''
          : `export ${node.isTypeOnly ? 'type ' : ''}{ ${stays.join(', ')} } from '${specifierOf(here, now(target), false)}'`
      if (text === '') edit(path, node.getStart(source), node.getEnd(), '')
      else if (stays.length < node.exportClause.elements.length) edit(path, node.getStart(source), node.getEnd(), text)
      else if (rel(here, now(target)).replace(/\.ts$/, '.js') !== node.moduleSpecifier.text)
        path2(node.moduleSpecifier, target, false)
      return
    }
    if (ts.isCallExpression(node) && node.arguments.length > 0) {
      const [first] = node.arguments
      const isDynamic = node.expression.kind === ts.SyntaxKind.ImportKeyword
      const isMock = /^vi\.(mock|doMock|importActual)$/.test(node.expression.getText(source))
      if ((isDynamic || isMock) && ts.isStringLiteral(first)) {
        const target = resolveOld(path, first.text)
        if (target) path2(first, target, isDist(first.text))
      }
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const target = resolveOld(path, node.argument.literal.text)
      if (target) path2(node.argument.literal, target, false)
    }
    if (
      ts.isNewExpression(node) &&
      node.expression.getText(source) === 'URL' &&
      node.arguments?.[1]?.getText(source) === 'import.meta.url'
    ) {
      const [first] = node.arguments
      const relocate = (text) => {
        const target = posix.normalize(posix.join(posix.dirname(path), text))
        if (target.startsWith('..')) return text
        const file = placed.has(target) ? now(target) : target
        if (here === path && file === target) return text
        const slash = text.endsWith('/') ? '/' : ''
        const fresh = posix.relative(posix.dirname(here), file) + slash
        return text.startsWith('./') && !fresh.startsWith('.') ? `./${fresh}` : fresh
      }
      if (ts.isStringLiteral(first) || ts.isNoSubstitutionTemplateLiteral(first)) {
        const fresh = relocate(first.text)
        if (fresh !== first.text) edit(path, first.getStart(source) + 1, first.getEnd() - 1, fresh)
      } else if (ts.isTemplateExpression(first) && first.head.text.startsWith('.')) {
        const head = first.head.text
        const fresh = relocate(head.slice(0, head.lastIndexOf('/') + 1))
        edit(path, first.head.getStart(source) + 1, first.head.getStart(source) + 1 + head.lastIndexOf('/') + 1, fresh)
      } else if (here !== path) said.attention.push(`${path}: a computed URL: ${node.getText(source)}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  if (here !== path && /import\.meta\.(dirname|filename)/.test(texts.get(path)))
    said.attention.push(`${path}: import.meta.dirname of a file that moved`)
}

const apply = (path) => {
  let text = texts.get(path)
  for (const { start, end, text: fresh } of (edits.get(path) ?? []).sort((a, b) => b.start - a.start)) {
    const gone = fresh === '' && text[end] === '\n' ? 1 : 0
    text = text.slice(0, start) + fresh + text.slice(end + gone)
  }
  return text
}
const results = new Map(code.filter((path) => edits.has(path)).map((path) => [now(path), apply(path)]))

// ---- moves, texts, doors -------------------------------------------------------------------------------------------
let moved = 0
for (const [old, fresh] of placed)
  if (old !== fresh) {
    mkdirSync(dirname(fresh), { recursive: true })
    git('mv', old, fresh)
    moved += 1
  }
for (const [path, text] of results) writeFileSync(path, text)
for (const [door, files] of wanted) {
  let text = existsSync(door) ? readFileSync(door, 'utf8') : (newDoors[door] ?? '')
  if (!existsSync(door) && !newDoors[door]) said.attention.push(`${door}: a new door without a paragraph`)
  for (const [file, names] of [...files].sort()) {
    const words = [...names].map(
      ([exported, { name, type }]) => `${type ? 'type ' : ''}${name === exported ? name : `${name} as ${exported}`}`,
    )
    text = `${text.trimEnd()}\nexport { ${words.join(', ')} } from '${specifierOf(door, file, false)}'\n`
  }
  mkdirSync(dirname(door), { recursive: true })
  writeFileSync(door, text)
}

// ---- words in documents and scripts --------------------------------------------------------------------------------
const names = [...placed].filter(([old, fresh]) => old !== fresh).sort(([a], [b]) => b.length - a.length)
const escapeText = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const mention = (text) => {
  let out = text
  for (const [old, fresh] of names) {
    out = out.replace(new RegExp(`(?<![\\w/.-])${escapeText(old)}(?![\\w/])`, 'g'), fresh)
    if (old.startsWith('service/src/'))
      out = out.replace(
        new RegExp(`(?<![\\w/.-])${escapeText(old.slice(12))}(?![\\w/])`, 'g'),
        fresh.replace(/^service\/src\//, ''),
      )
  }
  return out
}
for (const path of all.filter(
  (path) =>
    /\.(md|json|sh|yml)$/.test(path) && !/openapi\.json|package-lock|vectors\/|abi\/|CHANGELOG|decisions/.test(path),
)) {
  const text = readFileSync(path, 'utf8')
  const fresh = mention(text)
  if (fresh !== text) writeFileSync(path, fresh)
  for (const match of fresh.matchAll(/service\/src\/(chain|kernel\/embedded)\b[^\s`)]*/g))
    said.attention.push(`${path}: names ${match[0]}`)
}
// Bare mentions in code: comments, and modules named in a text that another process runs.
for (const [old, path] of placed) {
  if (!isCode(old)) continue
  const text = readFileSync(path, 'utf8')
  let fresh = mention(text)
  for (const [from, to] of names)
    if (from.startsWith('service/src/')) {
      const asked = new RegExp(`(?<![\\w/.-])${escapeText(from.slice(12).replace(/\.ts$/, '.js'))}(?![\\w/])`, 'g')
      if (!to.startsWith('service/src/')) {
        if (asked.test(fresh)) said.attention.push(`${path}: names ${from}, which is in a package now`)
      } else fresh = fresh.replace(asked, to.slice(12).replace(/\.ts$/, '.js'))
    }
  if (fresh !== text) writeFileSync(path, fresh)
}
git('add', '-A')
console.log(`${moved} files moved, ${results.size} rewritten, ${wanted.size} doors touched`)
if (said.defaulted.length) console.log(`placed by default, look at them:\n  ${said.defaulted.join('\n  ')}`)
if (said.attention.length) console.log(`look at:\n  ${said.attention.join('\n  ')}`)
