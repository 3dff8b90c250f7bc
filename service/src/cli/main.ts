#!/usr/bin/env node
import { commands } from './commands.js'
import { load } from './load.js'
import { answer, type Command, complain, speakJson, UsageError } from './terminal.js'
import { readVersion } from './version.js'

const helps: readonly string[] = ['help', '--help', '-h']

/** Takes `--json` out of the words, wherever it stands. */
function hearJson(words: readonly string[]): string[] {
  const others = words.filter((word) => word !== '--json')
  if (others.length < words.length) speakJson()
  return others
}

async function main(words: string[]): Promise<void> {
  const [name, ...rest] = words
  if (name === undefined) return printHelp()
  if (['version', '--version', '-V'].includes(name)) return sayVersion()
  if (helps.includes(name)) {
    const [about] = rest.filter((word) => !helps.includes(word))
    return about === undefined ? printHelp() : main([about, '--help'])
  }
  const known = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!known) throw new UsageError(`there is no command ${name}; \`openearn help\` lists them`)
  const { [known.member]: command } = await load<Record<string, Command>>(known.file)
  if (!command) throw new Error(`${known.file} has no ${known.member}`)
  if (rest.some((word) => word !== 'help' && helps.includes(word)))
    return answer({ usage: command.usage }, [command.usage])
  await command.run(rest)
}

function printHelp(): void {
  const list = Object.entries(commands).map(([name, { summary }]) => ({ name, summary }))
  answer({ commands: list }, [
    'openearn <command>\n',
    ...list.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`),
    '\n`openearn <command> --help` says more, `openearn --version` which program this is. With `--json` any command',
    'prints one JSON document.',
  ])
}

async function sayVersion(): Promise<void> {
  const version = await readVersion()
  answer({ version }, [version])
}

// The reader of our output may stop reading, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

main(hearJson(process.argv.slice(2))).catch(async (error: unknown) => {
  if (error instanceof UsageError) return fail(error.message, 2)
  const { isAbandoned, sentenceOf } = await import('./failures.js')
  // A signal while starting: its handler ends the process.
  if (isAbandoned(error)) return
  const { text, code } = sentenceOf(error)
  fail(text, code)
})

/** Ends the process: one that stayed for a connection or a timer nobody closed would never be started again. */
function fail(text: string, code: number): never {
  complain(text)
  process.exit(code)
}
