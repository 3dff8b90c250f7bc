type Described = {
  summary: string
  /** The file that holds the command, and its name there. It is loaded only when it is called. */
  file: string
  member: string
}

/** Each command with what it is for. */
export const commands: Record<string, Described> = {
  dev: {
    summary: 'run everything on this machine: database, local chain, demo catalogue, API, watcher',
    file: './dev/dev.js',
    member: 'dev',
  },
  demo: {
    summary: 'play a deposit and a withdrawal, a reward stream or swap orders against the running devnet, step by step',
    file: './demo.js',
    member: 'demo',
  },
  start: {
    summary: 'serve the API, and watch the chains in a second process',
    file: './serve.js',
    member: 'start',
  },
  serve: {
    summary: 'serve the API',
    file: './serve.js',
    member: 'serve',
  },
  watch: {
    summary: 'watch the chains, and do all else that is not serving; with --chains only that',
    file: './serve.js',
    member: 'watch',
  },
  jobs: {
    summary: 'run the timers and deliver to webhooks',
    file: './serve.js',
    member: 'jobs',
  },
  commit: {
    summary: 'commit the roots of reward streams',
    file: './serve.js',
    member: 'commit',
  },
  solve: {
    summary: 'look at swap orders, and settle them',
    file: './serve.js',
    member: 'solve',
  },
  migrate: {
    summary: 'bring the database up to this program',
    file: './migrate.js',
    member: 'migrateCommand',
  },
  keys: {
    summary: 'create, change, list, revoke and replace API keys',
    file: './keys.js',
    member: 'keys',
  },
  orgs: {
    summary: 'create and list organizations',
    file: './orgs.js',
    member: 'orgs',
  },
  distributors: {
    summary: 'create and list distributors (builder codes), and set signed only',
    file: './distributors.js',
    member: 'distributors',
  },
  members: {
    summary: 'list, show, link and unlink the wallets of users',
    file: './members.js',
    member: 'members',
  },
  chains: {
    summary: 'add, list, remove, rewind and refetch chains',
    file: './chains.js',
    member: 'chains',
  },
  vaults: {
    summary: 'set what the growth of a vault is measured by, pause and resume its series',
    file: './vaults.js',
    member: 'vaults',
  },
  prices: {
    summary: 'list prices that jumped, and accept them',
    file: './prices.js',
    member: 'prices',
  },
  recompute: {
    summary: 'count a served number again from its inputs',
    file: './recompute.js',
    member: 'recompute',
  },
  streams: {
    summary: 'look after reward streams: pause, veto, end, count again, watch roots',
    file: './streams.js',
    member: 'streams',
  },
  orders: {
    summary: 'list swap orders, show the state of one, and stop one',
    file: './orders.js',
    member: 'orders',
  },
  portfolio: {
    summary: 'tell what a wallet holds, as a sum with its terms',
    file: './portfolio.js',
    member: 'portfolio',
  },
  sender: {
    summary: 'list and cancel the transactions this installation sends, and let a stopped key go on',
    file: './sender.js',
    member: 'sender',
  },
  events: {
    summary: 'copy the feed of events into NATS JetStream',
    file: './events.js',
    member: 'events',
  },
  webhooks: {
    summary: 'add, list, test, replay and remove the webhooks of an organization',
    file: './webhooks.js',
    member: 'webhooks',
  },
  trust: {
    summary: 'write the contracts and signers that a program compares plans with to a file',
    file: './trust.js',
    member: 'trust',
  },
  rebuild: {
    summary: 'derive everything again from the raw store',
    file: './rebuild.js',
    member: 'rebuild',
  },
  report: {
    summary: 'report the USD-days a distributor brought, and how much of each vault is known',
    file: './report.js',
    member: 'report',
  },
  statement: {
    summary: 'write what a month of a distributor came to, and keep it',
    file: './statement.js',
    member: 'statement',
  },
  export: {
    summary: 'write the ledger, lots with their changes, USD-days by wallet, flows, snapshots or prices to a file',
    file: './export.js',
    member: 'exportCommand',
  },
  recount: {
    summary: 'count USD-days again from exported files alone',
    file: './recount.js',
    member: 'recount',
  },
  audit: {
    summary: 'show who changed what by a command, and audit a month of a distributor',
    file: './audit.js',
    member: 'audit',
  },
  doctor: {
    summary: 'check nodes, lag, gaps, drift, indexes and the clock, and say what to do',
    file: './doctor.js',
    member: 'doctor',
  },
  catalogue: {
    summary: 'import a catalogue file, or draft an entry from a vault',
    file: './catalogue.js',
    member: 'catalogue',
  },
  attribution: {
    summary: 'explain why a transaction was, or was not, credited to a distributor',
    file: './attribution.js',
    member: 'attribution',
  },
  'why-not': {
    summary: 'say of each event of a transaction which rule left it out of the ledger',
    file: './whyNot.js',
    member: 'whyNot',
  },
  prove: {
    summary: 'prove the entries of a transaction from the hash of its block',
    file: './prove.js',
    member: 'prove',
  },
  'verify-plan': {
    summary: 'decide offline whether a plan does exactly what was asked',
    file: './verifyPlan.js',
    member: 'verifyPlanCommand',
  },
  openapi: {
    summary: 'print the OpenAPI 3.1 document',
    file: './openapi.js',
    member: 'openapi',
  },
  mcp: {
    summary: 'give language models tools that read, plan and check, and never sign',
    file: './mcp.js',
    member: 'mcp',
  },
}
