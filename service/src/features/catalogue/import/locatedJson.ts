import jsonc from 'jsonc-parser'

/** JSON together with the line every value stands on. */
export type LocatedJson = {
  value: unknown
  /** Line (from 1) of the value at a JSON pointer; if it does not exist, that of the nearest enclosing value. */
  lineOf(pointer: string): number
}

export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message)
  }
}

const depthMax = 64
/** Items of a list of the outermost object, and values of every kind: what a service keeps in memory and a person can check. */
const entriesMax = 50_000
const valuesMax = 2_000_000

const count = (number: number) => number.toLocaleString('en')
const split = 'import the file in parts, each entry once: an import keeps what it does not name'

/** The expected token where the parser stopped, by the parser's name for it. */
const expected: Readonly<Record<string, string>> = {
  PropertyNameExpected: 'a member name',
  ColonExpected: '":"',
  EndOfFileExpected: 'the end',
  InvalidCommentToken: 'no comment',
}
const broken: Readonly<Record<string, string>> = {
  UnexpectedEndOfString: 'a string does not end on its line',
  UnexpectedEndOfNumber: 'a number is not complete',
  InvalidUnicode: 'a string has an escape that is not valid JSON',
  InvalidEscapeCharacter: 'a string has an escape that is not valid JSON',
  InvalidCharacter: 'a string has a control character in it',
}

/** Parses JSON (RFC 8259) and remembers lines. A member named twice is an error. Throws a JsonSyntaxError. */
export function parseLocatedJson(text: string): LocatedJson {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text
  const lines = findLines(plain)
  const lineOf = (pointer: string): number =>
    lines.get(pointer) ?? (pointer === '' ? 1 : lineOf(pointer.slice(0, pointer.lastIndexOf('/'))))
  return { value: parseStrictly(plain), lineOf }
}

/** The line of every value by its JSON pointer. Throws for what is no JSON, given twice, or nested too deep. */
function findLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>()
  /** The members seen of each open object; of an open array, nothing. */
  const open: (Set<string> | undefined)[] = []
  let separator = ''
  const note = (line: number, path: () => readonly (string | number)[]) => {
    const names = path()
    if (names.length > depthMax) throw new JsonSyntaxError(line + 1, `nested deeper than ${depthMax}`)
    const [list, index] = names
    if (names.length === 2 && typeof index === 'number' && index >= entriesMax)
      throw new JsonSyntaxError(line + 1, `${list} has more than ${count(entriesMax)} entries; ${split}`)
    if (lines.size >= valuesMax) throw new JsonSyntaxError(line + 1, `more than ${count(valuesMax)} values; ${split}`)
    lines.set(names.map((name) => `/${escapePointer(String(name))}`).join(''), line + 1)
  }
  const begin = (members: Set<string> | undefined) => {
    open.push(members)
    separator = ''
  }
  const expectedAt = (name: string) => {
    const inObject = open.at(-1) !== undefined
    if (/^(Comma|Close)/.test(name)) return `"," or "${inObject ? '}' : ']'}"`
    return expected[name] ?? (inObject && separator !== ':' ? 'a member name' : 'a value')
  }
  const visitor: jsonc.JSONVisitor = {
    onObjectBegin: (_offset, _length, line, _column, path) => {
      note(line, path)
      begin(new Set())
    },
    onObjectProperty: (name, _offset, _length, line) => {
      const members = open.at(-1)
      if (members?.has(name)) throw new JsonSyntaxError(line + 1, `the member ${JSON.stringify(name)} is given twice`)
      members?.add(name)
    },
    onArrayBegin: (_offset, _length, line, _column, path) => {
      note(line, path)
      begin(undefined)
    },
    onObjectEnd: () => void open.pop(),
    onArrayEnd: () => void open.pop(),
    onSeparator: (character) => {
      separator = character
    },
    onLiteralValue: (value, offset, length, line, _column, path) => {
      if (typeof value === 'number' && !Number.isFinite(value))
        throw new JsonSyntaxError(line + 1, `the number ${text.slice(offset, offset + length)} is too large`)
      note(line, path)
    },
    onError: (code, offset, _length, line) => {
      const name = jsonc.printParseErrorCode(code)
      const found = offset < text.length ? JSON.stringify(text[offset]) : 'the end'
      throw new JsonSyntaxError(line + 1, broken[name] ?? `expected ${expectedAt(name)}, found ${found}`)
    },
  }
  jsonc.visit(text, visitor, { disallowComments: true, allowTrailingComma: false })
  return lines
}

/** The language's own parser has the last word on what is JSON. */
function parseStrictly(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new JsonSyntaxError(1, error instanceof Error ? error.message : String(error))
  }
}

/** A member name as a part of a JSON pointer (RFC 6901). */
function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
