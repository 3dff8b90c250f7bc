import { type ParseArgsConfig, parseArgs } from 'node:util'

/** The words and the output of commands. Loads nothing of the service, so that help and mistakes are told at once. */

/** A command of `openearn`: how it is called, and the function that runs it with the words after its name. */
export type Command = {
  usage: string
  run(words: string[]): Promise<void>
}

/** A mistake in how a command was called, or something it cannot do: printed as one sentence, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type Options = NonNullable<ParseArgsConfig['options']>
type Flags<O extends Options> = ReturnType<typeof parseArgs<{ options: O; allowPositionals: true; strict: true }>>

/** Parses flags and at most `wordsMax` other words; an unknown or ill-formed flag, or a word too many, is a UsageError. */
export function parseFlags<O extends Options>(words: string[], options: O, wordsMax = 0): Flags<O> {
  try {
    const parsed = parseArgs({ args: words, options, allowPositionals: true, strict: true })
    const surplus = parsed.positionals[wordsMax]
    if (surplus !== undefined) throw new UsageError(`"${surplus}" is a word too many`)
    return parsed
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** A whole number in plain digits, or undefined, as for `1e2`, blanks and an empty word. */
export function parseWhole(text: string | undefined, least: number): number | undefined {
  if (text === undefined || !/^[0-9]{1,15}$/.test(text)) return undefined
  return Number(text) < least ? undefined : Number(text)
}

/** A flag that has to be there. */
export function requireFlag(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing`)
  return value
}

/** How this process speaks: `--json` is said once, before any command runs. */
const speech = { json: false }

/** From here on standard output holds one JSON document and nothing else. */
export function speakJson(): void {
  speech.json = true
}

/**
 * Prints a line for the person at the terminal; with `--json` it goes where errors go. On a terminal it is broken at its
 * width; a file or another program gets it whole.
 */
export function print(line: string): void {
  const stream = speech.json ? process.stderr : process.stdout
  for (const each of line.split('\n')) stream.write(`${breakLine(each, widthOf(stream)).join('\n')}\n`)
}

/** How many characters fit in a line of a terminal; infinity for a file or a pipe. */
function widthOf(stream: { isTTY?: boolean; columns?: number }): number {
  return stream.isTTY && stream.columns ? stream.columns : Number.POSITIVE_INFINITY
}

/**
 * A line as lines of a width, broken between words: the second and further ones stand under the text of the first, behind
 * its blanks and what is set off by two blanks. A word that is longer than a line stays whole.
 */
export function breakLine(line: string, width: number): string[] {
  if (line.length <= width) return [line]
  const [lead = ''] = /^ *(\S+(?: \S+)*? {2,})?/.exec(line) ?? []
  const indent = ' '.repeat(lead.length <= width / 2 ? lead.length : line.search(/\S|$/))
  const lines = [lead.length <= width / 2 ? lead : indent]
  for (const word of line.slice(lines[0]?.length).split(' ')) {
    const last = lines.at(-1) ?? ''
    const joined = last.trim() === '' || last.endsWith(' ') ? last + word : `${last} ${word}`
    if (joined.length <= width || last.trim() === '') lines[lines.length - 1] = joined
    else lines.push(indent + word)
  }
  return lines.map((each) => each.trimEnd())
}

/** Prints the output of a command: a value with `--json`, else lines. */
export function answer(value: unknown, lines: readonly string[]): void {
  if (speech.json) process.stdout.write(`${formatJson(value)}\n`)
  else for (const line of lines) print(line)
}

/** Why a command did not do what was asked, on standard error. */
export function complain(sentence: string): void {
  process.stderr.write(speech.json ? `${formatJson({ error: sentence })}\n` : `openearn: ${sentence}\n`)
}

function formatJson(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each))
}

/** Prints rows as a table; with `--json` the values they were made of. */
export function printTable(header: string[], rows: string[][], values: readonly unknown[]): void {
  answer(values, formatTable(header, rows))
}

/**
 * Rows as lines, in columns wide enough for their longest cell. On a terminal that is too narrow for them each cell gets a
 * line of its own, with the name of its column.
 */
export function formatTable(header: string[], rows: string[][], width = widthOf(process.stdout)): string[] {
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)))
  const format = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const lines = [header, ...rows].map(format)
  return lines.every(({ length }) => length <= width) ? lines : formatRecords(header, rows)
}

/** A line for each cell that is not empty, and an empty line between two rows. */
function formatRecords(header: string[], rows: string[][]): string[] {
  const width = Math.max(...header.map(({ length }) => length))
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...row.flatMap((cell, column) => (cell === '' ? [] : `${(header[column] ?? '').padEnd(width)}  ${cell}`)),
  ])
}

/** The origin of a page, exactly as browsers send it. */
export function parseOrigin(text: string): string {
  if (!URL.canParse(text) || new URL(text).origin !== text || !/^https?:/.test(text))
    throw new UsageError(`--origin: "${text}" is no origin, such as https://app.example or http://localhost:6274`)
  return text
}
