import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listDocuments, readDocument, root } from './documents.js'
import { readTree } from './tables.js'

/** A habit that makes a sentence hard to read, with a sentence that has it and the plain one. */
type Habit = { name: string; pattern: RegExp; bad: string; good: string }

const habits: readonly Habit[] = [
  {
    name: 'a sentence that begins with "What of"',
    pattern: /(^|[.:;|] )what of\b/i,
    bad: 'What of the configuration differs is derived again.',
    good: 'If the configuration changed, rows are derived again.',
  },
  {
    name: '"beside"',
    pattern: /\bbeside\b/i,
    bad: 'The tables beside, in which a rebuild writes.',
    good: 'The twin tables in which a rebuild writes.',
  },
  {
    name: '"so many" and "so long" as a number',
    pattern: /\bso (many|long)\b/i,
    bad: 'So long a root can be vetoed.',
    good: 'Seconds during which a root can be vetoed.',
  },
  {
    name: '"whoever"',
    pattern: /\bwho(so|m)?ever\b/i,
    bad: 'Called by whoever changes it.',
    good: 'Called by code that changes it.',
  },
  {
    name: '"none" as a noun',
    pattern: /(?<!\bthere )\b(is|are|was|were) none\b(?! of\b)|\bof none\b|\bnone of (ours|theirs)\b/i,
    bad: 'Undefined where the text is none.',
    good: 'Undefined if malformed. There are none of these.',
  },
  {
    name: '"answers" for returns',
    pattern: /(^|[.;] )answers? (whether|how|the|its|a|an|what|true|false|undefined|nothing)\b/i,
    bad: 'Keeps a record of it; answers its id.',
    good: 'Records it; returns its id. The answers of a node are checked.',
  },
]

/** In comments of the product, the most common riddle of all: a sentence without a subject. */
const comment: Habit = {
  name: 'a comment that begins with "What"',
  pattern: /^What\b/,
  bad: 'What a step is written on.',
  good: 'The state that a step writes on.',
}

/** Folders of the product. Solidity is left out: its comments are part of the hash in deployed code. */
const sources = [
  'service/src',
  'sdk/src',
  'react/src',
  'widget/src',
  'portal/src',
  'packages/attribution/src',
  'packages/embedded-postgres/src',
  'examples',
]
const isWritten = (path: string) => !/\.test\.ts$|\/generated\//.test(path)

type Line = { place: string; text: string }

const withoutCode = (text: string) => text.replace(/`[^`]*`/g, '')

/** The lines of comments, without code. A line that goes on with the sentence of the one before has a small letter. */
function listComments(path: string, text: string): Line[] {
  return text.split('\n').flatMap((line, index) => {
    const [, said] = /^\s*(?:\/\/|\/\*\*?|\*(?!\/))\s*(.*?)\s*(?:\*\/)?$/.exec(line) ?? /\s\/\/ (.*)$/.exec(line) ?? []
    if (said === undefined || said.startsWith('biome-ignore')) return []
    return [{ place: `${path}:${index + 1}`, text: withoutCode(said) }]
  })
}

/** The lines of a document, without code and without the marks of lists, tables and titles. */
function listProse(document: string, text: string): Line[] {
  let isCode = false
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*```/.test(line)) isCode = !isCode
    const said = withoutCode(line).replace(/^[\s>#*|-]+/, '')
    return isCode || said === '' ? [] : [{ place: `${document}:${index + 1}`, text: said }]
  })
}

const find = (lines: readonly Line[], among: readonly Habit[]): string[] =>
  lines.flatMap(({ place, text }) =>
    among.filter(({ pattern }) => pattern.test(text)).map(({ name }) => `${place} has ${name}: ${text.trim()}`),
  )

async function readComments(): Promise<Line[]> {
  const trees = await Promise.all(
    sources.flatMap((folder) =>
      ['.ts', '.tsx'].map(async (ending) =>
        (await readTree(join(root, folder), ending)).map(({ path, text }) => ({ path: `${folder}/${path}`, text })),
      ),
    ),
  )
  return trees.flat().flatMap(({ path, text }) => (isWritten(path) ? listComments(path, text) : []))
}

async function readProse(): Promise<Line[]> {
  const kinds = (await readdir(join(root, 'docs/vault-kinds'))).map((name) => `docs/vault-kinds/${name}`)
  const documents = [...(await listDocuments()), ...kinds].filter((document) => !document.startsWith('contracts/'))
  const texts = await Promise.all(documents.map(async (document) => listProse(document, await readDocument(document))))
  return texts.flat()
}

describe('comments and documents are plain English', () => {
  it('finds each habit in a sentence that has it, and not in the plain one', () => {
    for (const habit of [...habits, comment]) {
      expect(find([{ place: 'bad', text: habit.bad }], [...habits, comment]), habit.bad).toContain(
        `bad has ${habit.name}: ${habit.bad}`,
      )
      expect(find([{ place: 'good', text: habit.good }], [...habits, comment]), habit.good).toEqual([])
    }
  })

  it('reads comments of both forms, without code', () => {
    const text = ['/** What it is. */', ' * beside `beside`', 'run() // so long', "const url = 'https://none'"].join(
      '\n',
    )
    expect(listComments('a.ts', text).map((line) => line.text)).toEqual(['What it is.', 'beside ', 'so long'])
  })

  it('no comment of the product has one of the habits', async () => {
    const lines = await readComments()
    expect(lines.length).toBeGreaterThan(5_000)
    expect(find(lines, [...habits, comment])).toEqual([])
  })

  it('no document has one of the habits', async () => {
    const lines = await readProse()
    expect(lines.length).toBeGreaterThan(1_000)
    expect(find(lines, habits)).toEqual([])
  })

  it('README.md has at most 750 words, ARCHITECTURE.md two pages', async () => {
    const count = async (name: string) => (await readFile(join(root, name), 'utf8')).split(/\s+/).filter(Boolean).length
    expect(await count('README.md')).toBeLessThanOrEqual(750)
    expect(await count('ARCHITECTURE.md')).toBeLessThanOrEqual(1_550)
  })
})
