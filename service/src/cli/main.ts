#!/usr/bin/env node
import { CatalogueImportError } from '../features/catalogue/index.js'
import { ConfigError } from '../kernel/config.js'
import { EarnError } from '../kernel/errors.js'
import { redactUrls } from '../kernel/log.js'
import { Stopping } from '../kernel/shutdown.js'
import { MigrationError } from '../postgres/migrate.js'
import { explainRefusal } from '../postgres/pool.js'
import { answer, type Command, complain, speakJson, UsageError } from './command.js'
import { readVersion } from './version.js'

const commands: Record<string, () => Promise<Command>> = {
  dev: async () => (await import('./dev/dev.js')).dev,
  demo: async () => (await import('./demo.js')).demo,
  start: async () => (await import('./serve.js')).start,
  serve: async () => (await import('./serve.js')).serve,
  watch: async () => (await import('./serve.js')).watch,
  migrate: async () => (await import('./migrate.js')).migrateCommand,
  keys: async () => (await import('./keys.js')).keys,
  orgs: async () => (await import('./orgs.js')).orgs,
  distributors: async () => (await import('./distributors.js')).distributors,
  members: async () => (await import('./members.js')).members,
  chains: async () => (await import('./chains.js')).chains,
  vaults: async () => (await import('./vaults.js')).vaults,
  prices: async () => (await import('./prices.js')).prices,
  recompute: async () => (await import('./recompute.js')).recompute,
  streams: async () => (await import('./streams.js')).streams,
  orders: async () => (await import('./orders.js')).orders,
  portfolio: async () => (await import('./portfolio.js')).portfolio,
  sender: async () => (await import('./sender.js')).sender,
  rebuild: async () => (await import('./rebuild.js')).rebuild,
  report: async () => (await import('./report.js')).report,
  export: async () => (await import('./export.js')).exportCommand,
  recount: async () => (await import('./recount.js')).recount,
  audit: async () => (await import('./audit.js')).audit,
  doctor: async () => (await import('./doctor.js')).doctor,
  catalogue: async () => (await import('./catalogue.js')).catalogue,
  attribution: async () => (await import('./attribution.js')).attribution,
  'verify-plan': async () => (await import('./verifyPlan.js')).verifyPlanCommand,
  openapi: async () => (await import('./openapi.js')).openapi,
}

const helps: readonly string[] = ['help', '--help', '-h']

/** Failures whose message was written for the person at the terminal. */
const sayable = [UsageError, ConfigError, EarnError, CatalogueImportError, MigrationError]

/** Takes `--json` out of the words, wherever it stands. */
function hearJson(words: readonly string[]): string[] {
  const others = words.filter((word) => word !== '--json')
  if (others.length < words.length) speakJson()
  return others
}

async function main(words: string[]): Promise<void> {
  const [name, ...rest] = words
  if (name === undefined) return printHelp()
  if (name === '--version' || name === '-V') return sayVersion()
  if (helps.includes(name)) {
    const [about] = rest.filter((word) => !helps.includes(word))
    return about === undefined ? printHelp() : main([about, '--help'])
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!load) throw new UsageError(`there is no command ${name}; \`openearn help\` lists them`)
  const command = await load()
  if (rest.some((word) => word !== 'help' && helps.includes(word)))
    return answer({ usage: command.usage }, [command.usage])
  await command.run(rest)
}

async function printHelp(): Promise<void> {
  const list = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => ({ name, summary: (await load()).summary })),
  )
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

main(hearJson(process.argv.slice(2))).catch((error: unknown) => {
  // A signal while starting: its handler ends the process.
  if (error instanceof Stopping) return
  const refusal = explainRefusal(error)
  const said = refusal !== undefined || sayable.some((kind) => error instanceof kind)
  const text =
    refusal ?? (error instanceof Error ? (said ? error.message : `${error.name}: ${error.message}`) : String(error))
  complain(redactUrls(text))
  process.exitCode = said ? 2 : 1
})
