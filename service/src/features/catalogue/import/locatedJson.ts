/** JSON together with the line every value stands on. */
export type LocatedJson = {
  value: unknown
  /** Line (from 1) of the value at a JSON pointer; that of the nearest enclosing value when there is none. */
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

/** Parses JSON (RFC 8259) and remembers lines. A member named twice is an error. Throws a JsonSyntaxError. */
export function parseLocatedJson(text: string): LocatedJson {
  const lines = new Map<string, number>()
  let at = text.startsWith('\ufeff') ? 1 : 0
  let line = 1

  const fail = (message: string): never => {
    throw new JsonSyntaxError(line, message)
  }
  const skipBlank = () => {
    for (; at < text.length; at++) {
      const character = text[at]
      if (character === '\n') line++
      else if (character !== ' ' && character !== '\t' && character !== '\r') return
    }
  }
  const expected = (what: string): never =>
    fail(at < text.length ? `expected ${what}, found ${JSON.stringify(text[at])}` : `expected ${what}, found the end`)

  const parseString = (): string => {
    const match = /"(?:[^"\\\n]|\\[^\n])*"/y
    match.lastIndex = at
    const found = match.exec(text)?.[0]
    if (found === undefined) return fail('a string does not end on its line')
    try {
      const value: unknown = JSON.parse(found)
      at += found.length
      return String(value)
    } catch (error) {
      throw new JsonSyntaxError(line, `a string is not valid JSON (${error instanceof Error ? error.message : error})`)
    }
  }
  const parseLiteral = (): unknown => {
    const match = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
    match.lastIndex = at
    const found = match.exec(text)?.[0]
    if (found === undefined) return expected('a value')
    at += found.length
    const value: unknown = JSON.parse(found)
    return typeof value === 'number' && !Number.isFinite(value) ? fail(`the number ${found} is too large`) : value
  }
  const parseMembers = (pointer: string, depth: number): Record<string, unknown> => {
    const members = new Map<string, unknown>()
    const member = () => {
      skipBlank()
      if (text[at] !== '"') expected('a member name')
      const name = parseString()
      if (members.has(name)) fail(`the member ${JSON.stringify(name)} is given twice`)
      skipBlank()
      if (text[at] !== ':') expected('":"')
      at++
      members.set(name, parseValue(`${pointer}/${escapePointer(name)}`, depth))
    }
    parseSequence('}', member)
    return Object.fromEntries(members)
  }
  const parseItems = (pointer: string, depth: number): unknown[] => {
    const items: unknown[] = []
    parseSequence(']', () => items.push(parseValue(`${pointer}/${items.length}`, depth)))
    return items
  }
  const parseSequence = (close: string, parseOne: () => void) => {
    at++
    skipBlank()
    if (text[at] === close) {
      at++
      return
    }
    for (;;) {
      parseOne()
      skipBlank()
      const next = text[at]
      if (next !== ',' && next !== close) expected(`"," or "${close}"`)
      at++
      if (next === close) return
    }
  }
  const parseValue = (pointer: string, depth: number): unknown => {
    skipBlank()
    if (depth > depthMax) fail(`nested deeper than ${depthMax}`)
    lines.set(pointer, line)
    if (text[at] === '{') return parseMembers(pointer, depth + 1)
    if (text[at] === '[') return parseItems(pointer, depth + 1)
    return text[at] === '"' ? parseString() : parseLiteral()
  }

  const value = parseValue('', 0)
  skipBlank()
  if (at < text.length) expected('the end')
  const lineOf = (pointer: string): number =>
    lines.get(pointer) ?? (pointer === '' ? 1 : lineOf(pointer.slice(0, pointer.lastIndexOf('/'))))
  return { value, lineOf }
}

/** A member name as a part of a JSON pointer (RFC 6901). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
