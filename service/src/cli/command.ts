import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type Change, type Recorder, recordChanges } from '../features/audit/index.js'
import { formatHint } from '../features/auth/index.js'
import { systemClock } from '../kernel/clock.js'
import { type Config, parseConfig, readEnv } from '../kernel/config.js'
import { openLog, redactUrls } from '../kernel/log.js'
import { createShutdown } from '../kernel/shutdown.js'
import type { Context } from '../postgres/context.js'
import { isDatabaseUnavailable } from '../postgres/pool.js'
import { openCommandDatabase } from '../server/database.js'
import { findOsUser } from '../server/osUser.js'

/** A command of `openearn`: what it is for, and what it does with the words after its name. */
export type Command = {
  summary: string
  usage: string
  run(words: string[]): Promise<void>
}

/** A mistake in how a command was called, or something it cannot do: printed as one sentence, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type Options = NonNullable<ParseArgsConfig['options']>
type Flags<O extends Options> = ReturnType<typeof parseArgs<{ options: O; allowPositionals: true; strict: true }>>

/** Parses flags and at most so many other words; an unknown or ill-formed flag, or a word too many, is a UsageError. */
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

/** A whole number in plain digits, or undefined: `1e2`, blanks and an empty word are none. */
export function parseWhole(text: string | undefined, least: number): number | undefined {
  if (text === undefined || !/^[0-9]{1,15}$/.test(text)) return undefined
  return Number(text) < least ? undefined : Number(text)
}

/** A flag that has to be there. */
export function requireFlag(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing`)
  return value
}

export function readConfig(): Config {
  return parseConfig(readEnv())
}

/** A key's text among words. */
const keyPattern = /\b[ps]k_live_[0-9A-Za-z]{38}\b/g

/**
 * The context of a command that changes something: what its transactions change is recorded in them, with who ran it.
 * `look` reads what the change is about.
 */
export function changing(
  ctx: Context,
  words: readonly string[],
  look: Change['look'],
  options: { always?: boolean } = {},
): Context & Pick<Recorder, 'conclude'> {
  const command = words
    .map((word) => redactUrls(word).replace(keyPattern, formatHint))
    .map((word) => (/\s/.test(word) ? JSON.stringify(word) : word))
    .join(' ')
  return { ...ctx, ...recordChanges(ctx, { osUser: findOsUser(), command, look, ...options }) }
}

/** Prints a line for the person (or script) at the terminal. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Prints rows as columns wide enough for their longest cell. */
export function printTable(header: string[], rows: string[][]): void {
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)))
  const format = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  for (const row of [header, ...rows]) print(format(row))
}

/**
 * Opens the database, brings it up to this program unless told to leave it, runs the work, closes everything again,
 * whatever happens.
 */
export async function withContext(
  work: (ctx: Context) => Promise<void>,
  options: { asItIs?: boolean; mayMake?: boolean } = {},
): Promise<void> {
  const config = readConfig()
  const log = openLog({ level: 'warn', pretty: true })
  const shutdown = createShutdown(log, isDatabaseUnavailable)
  try {
    const db = await openCommandDatabase(config, log, shutdown, options)
    await work({ db, config, log, clock: systemClock })
  } finally {
    await shutdown.stop()
  }
}
