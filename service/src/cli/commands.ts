import type { Command } from './terminal.js'

/** Each command with what it is for. A command is loaded only when it is called: most of them take a second to load. */
export const commands: Record<string, { summary: string; load: () => Promise<Command> }> = {
  dev: {
    summary: 'run everything on this machine: database, local chain, demo catalogue, API, watcher',
    load: async () => (await import('./dev/dev.js')).dev,
  },
  demo: {
    summary: 'play a deposit and a withdrawal, a reward stream or swap orders against the running devnet, step by step',
    load: async () => (await import('./demo.js')).demo,
  },
  start: {
    summary: 'serve the API, and watch the chains in a second process',
    load: async () => (await import('./serve.js')).start,
  },
  serve: {
    summary: 'serve the API',
    load: async () => (await import('./serve.js')).serve,
  },
  watch: {
    summary: 'watch the chains',
    load: async () => (await import('./serve.js')).watch,
  },
  migrate: {
    summary: 'bring the database up to this program',
    load: async () => (await import('./migrate.js')).migrateCommand,
  },
  keys: {
    summary: 'create, change, list, revoke and replace API keys',
    load: async () => (await import('./keys.js')).keys,
  },
  orgs: {
    summary: 'create and list organizations',
    load: async () => (await import('./orgs.js')).orgs,
  },
  distributors: {
    summary: 'create and list distributors (builder codes), and set signed only',
    load: async () => (await import('./distributors.js')).distributors,
  },
  members: {
    summary: 'list, show, link and unlink the wallets of users',
    load: async () => (await import('./members.js')).members,
  },
  chains: {
    summary: 'add, list, remove, rewind and refetch chains',
    load: async () => (await import('./chains.js')).chains,
  },
  vaults: {
    summary: 'set what the growth of a vault is measured by, pause and resume its series',
    load: async () => (await import('./vaults.js')).vaults,
  },
  prices: {
    summary: 'list prices that jumped, and accept them',
    load: async () => (await import('./prices.js')).prices,
  },
  recompute: {
    summary: 'count a served number again from its inputs',
    load: async () => (await import('./recompute.js')).recompute,
  },
  streams: {
    summary: 'look after reward streams: pause, veto, end, count again',
    load: async () => (await import('./streams.js')).streams,
  },
  orders: {
    summary: 'list swap orders, show the state of one, and stop one',
    load: async () => (await import('./orders.js')).orders,
  },
  portfolio: {
    summary: 'tell what a wallet holds, as a sum with its terms',
    load: async () => (await import('./portfolio.js')).portfolio,
  },
  sender: {
    summary: 'list and cancel the transactions this installation sends, and let a stopped key go on',
    load: async () => (await import('./sender.js')).sender,
  },
  trust: {
    summary: 'write the contracts and signers that a program compares plans with to a file',
    load: async () => (await import('./trust.js')).trust,
  },
  rebuild: {
    summary: 'derive everything again from the raw store',
    load: async () => (await import('./rebuild.js')).rebuild,
  },
  report: {
    summary: 'report the deposits a distributor brought',
    load: async () => (await import('./report.js')).report,
  },
  export: {
    summary: 'write the ledger, lots with their changes, flows, snapshots or prices to a file',
    load: async () => (await import('./export.js')).exportCommand,
  },
  recount: {
    summary: 'count USD-days again from exported files alone',
    load: async () => (await import('./recount.js')).recount,
  },
  audit: {
    summary: 'show who changed what by a command',
    load: async () => (await import('./audit.js')).audit,
  },
  doctor: {
    summary: 'check nodes, lag, gaps, drift, indexes and the clock, and say what to do',
    load: async () => (await import('./doctor.js')).doctor,
  },
  catalogue: {
    summary: 'import a catalogue file, or draft an entry from a vault',
    load: async () => (await import('./catalogue.js')).catalogue,
  },
  attribution: {
    summary: 'explain why a transaction was, or was not, credited to a distributor',
    load: async () => (await import('./attribution.js')).attribution,
  },
  'verify-plan': {
    summary: 'decide offline whether a plan does exactly what was asked',
    load: async () => (await import('./verifyPlan.js')).verifyPlanCommand,
  },
  openapi: {
    summary: 'print the OpenAPI 3.1 document',
    load: async () => (await import('./openapi.js')).openapi,
  },
}
