import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { commands } from '../src/cli/commands.js'
import { CatalogueFileSchema } from '../src/features/catalogue/import/catalogueFile.js'
import { parseConfig } from '../src/kernel/config.js'
import { errorTable, reasons } from '../src/kernel/errors.js'
import {
  commandOf,
  heldElsewhere,
  listDocuments,
  nameOf,
  notRun,
  programs,
  readAllSnippets,
  readDocument,
} from './documents.js'

/** Names of the members of all objects in a schema, the lists of a file itself left out. */
function listMembers(schema: object): string[] {
  const { properties = {}, items, anyOf = [] } = schema as { properties?: object; items?: object; anyOf?: object[] }
  const inner = [...Object.values(properties), ...(items ? [items] : []), ...anyOf].flatMap(listMembers)
  return [...(schema === CatalogueFileSchema ? [] : Object.keys(properties)), ...inner]
}

const run = promisify(execFile)
const root = new URL('../../', import.meta.url)
const read = (path: string) => readFile(new URL(path, root), 'utf8')

const guides = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md']
const manuals = [
  'docs/configuration.md',
  'docs/runbook.md',
  'docs/catalogue.md',
  'docs/integrating.md',
  'sdk/README.md',
  'react/README.md',
  'widget/README.md',
]

/** The settings of keys: each has a name, and what is said of it. */
function listKeys(config: string): string[] {
  const names = new Set([...config.matchAll(/parse(?:Key|PrivateKey|Signer)\('([A-Z]+)'/g)].map(([, name]) => name))
  const said = ['KEY', 'KEY_FILE', 'SIGNER_URL', 'SIGNER_ADDRESS', 'SIGNER_TOKEN']
  return [...names].flatMap((name) => said.map((each) => `${name}_${each}`))
}

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
    const names = [
      ...[...config.matchAll(/(?:text|port|flag|integer)\('([A-Z_]+)'/g)].map(([, name]) => name),
      ...listKeys(config),
    ]
    expect(names.length).toBeGreaterThan(8)
    for (const name of names) expect(text).toContain(`\`${name}\``)
  })

  it('docs/configuration.md names no setting the program does not read', async () => {
    const config = await read('service/src/kernel/config.ts')
    const cells = [...(await read('docs/configuration.md')).matchAll(/^\| (`[A-Z].*?) \|/gm)].map(
      ([, cell]) => cell ?? '',
    )
    const names = cells.flatMap((cell) => [...cell.matchAll(/`([A-Z_]+)/g)].map(([, name]) => name ?? ''))
    expect(names.length).toBeGreaterThan(25)
    const keys = listKeys(config)
    expect(names.filter((name) => !config.includes(name) && !keys.includes(name))).toEqual([])
  })

  it('.env.example has settings of docs/configuration.md alone, and the program takes them as they stand there', async () => {
    const lines = (await read('.env.example')).split('\n').filter((line) => /^#?[A-Z_0-9]+=/.test(line))
    const settings = Object.fromEntries(lines.map((line) => line.replace(/^#/, '').split(/=(.*)/).slice(0, 2)))
    expect(Object.keys(settings).length).toBeGreaterThan(12)
    const text = await read('docs/configuration.md')
    for (const name of Object.keys(settings)) expect(text).toContain(name.replace(/_1$/, '_<chain id>'))
    const { ATTRIBUTION_KEY_FILE, COMMITTER_KEY_FILE, SOLVER_KEY_FILE, ...others } = settings
    expect(
      [ATTRIBUTION_KEY_FILE, COMMITTER_KEY_FILE, SOLVER_KEY_FILE].every((file) => /^[a-z]+\.key$/.test(file ?? '')),
    ).toBe(true)
    expect(parseConfig(others)).toMatchObject({ port: 4020, opsPort: 4021, publicUrl: 'https://earn.example' })
  })

  it('the documents name only commands that there are', async () => {
    const known = new Set(Object.keys(commands))
    const all: string[] = []
    for (const document of [...guides, ...manuals]) {
      const text = await read(document)
      const named = [...text.matchAll(/(?:^|`|\.\/|npx )openearn ([a-z][a-z-]*)/gm)].map(([, name = '']) => name)
      expect(
        named.filter((name) => !known.has(name) && name !== 'help'),
        document,
      ).toEqual([])
      all.push(...named)
    }
    expect(new Set(all).size).toBeGreaterThan(8)
  })

  it('docs/catalogue.md names every member of a catalogue file', async () => {
    const text = await read('docs/catalogue.md')
    const named = new Set([...text.matchAll(/`([a-zA-Z0-9]+)\??`/g)].map(([, name]) => name))
    const members = listMembers(CatalogueFileSchema)
    expect(members.length).toBeGreaterThan(80)
    expect(members.filter((name) => !named.has(name))).toEqual([])
  })

  it('docs/integrating.md and README.md name operations and reasons that there are', async () => {
    const { paths } = JSON.parse(await read('service/openapi.json')) as { paths: Record<string, object> }
    const [integrating, readme] = [await read('docs/integrating.md'), await read('README.md')]
    const shape = (path: string) => path.replace(/\?.*$/, '').replace(/\{[^}]*\}|0x…/g, '{}')
    const known = new Set(
      Object.entries(paths).flatMap(([path, item]) => Object.keys(item).map((m) => `${m} ${shape(path)}`)),
    )
    const named = [...integrating.matchAll(/`(GET|POST) (\/v2\/[^`\s]*)`/g)].map(
      ([, m = '', path = '']) => `${m.toLowerCase()} ${shape(path)}`,
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((one) => !known.has(one))).toEqual([])
    const called = [...readme.matchAll(/127\.0\.0\.1:4020(\/v2\/[^\s'"]+)/g)].map(([, path = '']) => shape(path))
    expect(called.length).toBeGreaterThan(3)
    expect(called.filter((path) => !known.has(`get ${path}`) && !known.has(`post ${path}`))).toEqual([])
    const words = new Set([...integrating.matchAll(/`([A-Z]+_[A-Z_]+)`/g)].map(([, word]) => word))
    expect([...words].filter((word) => !(reasons as readonly string[]).includes(word ?? ''))).toEqual([])
    expect(words.size).toBeGreaterThan(8)
  })

  it('README.md, ARCHITECTURE.md, CONTRIBUTING.md and SECURITY.md name only files that are there', async () => {
    let count = 0
    for (const document of guides) {
      const links = [...(await read(document)).matchAll(/\]\(([a-zA-Z][^)#:]*)(?:#[^)]*)?\)/g)].map(
        ([, path]) => path ?? '',
      )
      for (const path of links) await expect(read(path), `${document} -> ${path}`).resolves.toBeDefined()
      count += links.length
    }
    expect(count).toBeGreaterThan(8)
  })
})

type Command = { usage: string }

/** The commands of the program, by name. */
async function loadCommands(): Promise<Map<string, Command>> {
  const loaded = Object.entries(commands).map(async ([name, { file, member }]) => {
    const { [member]: command } = await import(`../src/cli/${file}`)
    return [name, command] as const
  })
  return new Map(await Promise.all(loaded))
}

/** What is wrong with `openearn …` as a document calls it: a word, a verb or a flag its usage does not have. */
function findMistakes(commands: Map<string, Command>, call: string): string[] {
  const words = call
    .replace(/\s[>|].*$/, '')
    .split(/\s+/)
    .slice(1)
  return (words[0] ?? '').split('|').flatMap((name) => {
    if (name === '…' || name === 'help') return []
    const command = commands.get(name)
    if (!command) return [`${call}: no command ${name}`]
    const verbs = new Set(
      [...command.usage.matchAll(/^openearn \S+ ([a-z|-]+)/gm)].flatMap(([, verb = '']) => verb.split('|')),
    )
    const said = verbs.size > 0 && /^[a-z][a-z|-]*$/.test(words[1] ?? '') ? (words[1] ?? '').split('|') : []
    const wrong = said.filter((verb) => !verbs.has(verb)).map((verb) => `${call}: no ${name} ${verb}`)
    const flags = words.filter((word) => word.startsWith('--') && word !== '--json' && word !== '--help')
    const unknown = flags.filter((flag) => !new RegExp(`${flag}(?![a-z-])`).test(command.usage))
    return [...wrong, ...unknown.map((flag) => `${call}: no ${flag}`)]
  })
}

describe('commands and snippets of the documents', () => {
  it('are each run by a test, or stand in one list with what holds them instead', async () => {
    const snippets = await readAllSnippets()
    const others = snippets.filter(({ language }) => language !== 'sh').map(nameOf)
    expect(new Set(others)).toEqual(new Set([...Object.keys(heldElsewhere), ...programs]))
    const lines = new Set(
      snippets.flatMap(({ document, language, lines }) =>
        language === 'sh' ? lines.map((line) => `${document}: ${commandOf(line)}`) : [],
      ),
    )
    expect(lines.size).toBeGreaterThan(40)
    const listed = Object.entries(notRun).flatMap(([document, list]) =>
      Object.keys(list).map((line) => `${document}: ${line}`),
    )
    expect(listed.filter((line) => !lines.has(line))).toEqual([])
  })

  it('name what holds them by files that are there', async () => {
    const names = (await readdir(new URL('.', root), { recursive: true })).filter(
      (name) => !/node_modules|\/dist\//.test(name),
    )
    const reasons = [...Object.values(heldElsewhere), ...Object.values(notRun).flatMap((list) => Object.values(list))]
    const files = reasons.flatMap((reason) => [...reason.matchAll(/[\w.]+\.ts/g)].map(([file]) => file))
    expect(files.length).toBeGreaterThan(10)
    expect(files.filter((file) => !names.some((name) => name.endsWith(file)))).toEqual([])
  })

  it('call openearn as its usage says, within a sentence too', async () => {
    const called = await loadCommands()
    expect(called.size).toBeGreaterThan(20)
    const calls: string[] = []
    for (const document of await listDocuments()) {
      if (document === 'CHANGELOG.md') continue
      for (const line of (await readDocument(document)).split('\n'))
        for (const [, call = ''] of commandOf(line).matchAll(/(?:^ *|`|[a-z]=\S+ |\/|npx )(openearn [^`]+)/g))
          calls.push(call.trim())
    }
    expect(calls.length).toBeGreaterThan(60)
    expect(calls.flatMap((call) => findMistakes(called, call))).toEqual([])
    const wrong = ['openearn chain list', 'openearn keys make', 'openearn export ledger --all', 'openearn dev --reset']
    expect(wrong.flatMap((call) => findMistakes(called, call))).toEqual([
      'openearn chain list: no command chain',
      'openearn keys make: no keys make',
      'openearn export ledger --all: no --all',
    ])
  })

  it('show a refusal as the table of errors has it', async () => {
    const [example] = (await readAllSnippets()).filter(({ document }) => document === 'docs/errors.md')
    const { code, status, reason } = JSON.parse(example?.lines.join('\n') ?? '')
    expect(Object.values(errorTable)).toContainEqual([code, status])
    expect(reasons).toContain(reason)
  })
})

it('llms.txt lists the operations, commands and documents of today; `npm run openapi` writes it anew', async () => {
  await expect(run(process.execPath, ['scripts/llms.mjs', '--check'], { cwd: root })).resolves.toBeDefined()
  const text = await read('llms.txt')
  for (const name of Object.keys(commands)) expect(text).toContain(`\`openearn ${name}\`: `)
})
