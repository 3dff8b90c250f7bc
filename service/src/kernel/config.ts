import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

type Env = Readonly<Record<string, string | undefined>>

/** The process environment; the only place that reads it. */
export function readEnv(): Env {
  return process.env
}

/** Whether a script of npm started this process. */
export const isStartedByNpm = (): boolean => readEnv()['npm_lifecycle_event'] !== undefined

/** The working folder given by npm (where the user called it), else the current one. */
export function repositoryRoot(): string {
  return process.cwd()
}

/** Everything the service reads from its environment, parsed once at the start. */
export type Config = ReturnType<typeof parseConfig>

/** Parses the environment. Every violation is reported at once in one ConfigError. */
export function parseConfig(env: Env, root: string = repositoryRoot()) {
  const problems: string[] = []
  const text = (name: string) => (env[name] === undefined || env[name] === '' ? undefined : env[name])
  const integer = (name: string, fallback: number, min: number, max: number) => {
    const number = Number(text(name) ?? fallback)
    if (Number.isInteger(number) && number >= min && number <= max) return number
    problems.push(`${name} must be a whole number from ${min} to ${max}`)
    return fallback
  }
  const port = (name: string, fallback: number) => integer(name, fallback, 0, 65_535)
  const oneOf = <T extends string>(name: string, values: readonly T[]): T | undefined => {
    const known = values.find((each) => each === text(name))
    const said = values.length > 2 ? `one of ${values.join(', ')}` : values.join(' or ')
    if (known === undefined && text(name) !== undefined) problems.push(`${name} must be ${said}`)
    return known
  }
  const flag = (name: string, fallback: boolean) => (oneOf(name, ['true', 'false']) ?? String(fallback)) === 'true'
  const dataDir = text('OPENEARN_DATA_DIR') ?? '.openearn'
  const config = {
    /** Folder of the embedded database and other local state. */
    dataDir: dataDir.startsWith('~/')
      ? join(homedir(), dataDir.slice(2))
      : isAbsolute(dataDir)
        ? dataDir
        : resolve(root, dataDir),
    /** External PostgreSQL; absent means the embedded one. Its replicas. */
    ...{ databaseUrl: text('DATABASE_URL'), databaseReadUrls: list(text('DATABASE_READ_URLS') ?? '') },
    /** External PostgreSQL of the devnet, which it may empty. */
    devDatabaseUrl: text('DEV_DATABASE_URL'),
    databasePoolSize: integer('DATABASE_POOL_SIZE', 10, 1, 200),
    ...{ host: text('HOST') ?? '127.0.0.1', port: port('PORT', 4020) },
    ...{ opsHost: text('OPS_HOST') ?? '127.0.0.1', opsPort: port('OPS_PORT', 4021) },
    ...parseOperator(text, flag, problems),
    /** Where callers reach the public listener; absent means the address it listens at. Without a slash at its end. */
    publicUrl: parseOwnUrl('PUBLIC_URL', text, problems),
    /** Serve the OpenAPI document and its reference, the widget for frames, and with a key the portal, on the public listener too. */
    publicReference: flag('PUBLIC_REFERENCE', false),
    ...{ embedEnabled: flag('EMBED_ENABLED', true), portalKey: text('PORTAL_KEY') },
    logLevel: oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent']) ?? 'info',
    /** Lines for a person instead of JSON; absent: when standard output is a terminal. */
    logPretty: text('LOG_FORMAT') === undefined ? undefined : text('LOG_FORMAT') === 'pretty',
    ...{ logRequests: flag('LOG_REQUESTS', false), tracesUrl: parseOwnUrl('TRACES_URL', text, problems) },
    tracesPercent: integer('TRACES_PERCENT', 1, 0, 100),
    /** Accept `Authorization: Bearer` as an alias of `X-API-Key`. */
    bearerEnabled: flag('BEARER_ENABLED', true),
    /** Calls a minute without a key, and 401s, an IP may make; absent means 60, and no limit for loopback. 0: no limit. */
    ipLimitPerMinute:
      text('IP_LIMIT_PER_MINUTE') === undefined ? undefined : integer('IP_LIMIT_PER_MINUTE', 60, 0, 1e6),
    /** Connections an address may have open; absent means 500, and no cap for loopback. 0: no cap. */
    connectionsPerAddress:
      text('CONNECTIONS_PER_ADDRESS') === undefined ? undefined : integer('CONNECTIONS_PER_ADDRESS', 500, 0, 1e6),
    /** Live streams an address may have open; absent means 5, and no limit for loopback. */
    streamsPerAddress:
      text('STREAMS_PER_ADDRESS') === undefined ? undefined : integer('STREAMS_PER_ADDRESS', 5, 1, 1e6),
    /** Most milliseconds the event loop may be late before requests are refused, and heavy requests of a key at once. 0: no limit. */
    eventLoopDelayMaxMs: integer('EVENT_LOOP_DELAY_MAX_MS', 1_000, 0, 60_000),
    ...{ patience: integer('PATIENCE', 1, 1, 100), heavyPerKey: integer('HEAVY_REQUESTS_PER_KEY', 4, 0, 1_000) },
    /** Proxies (addresses or CIDR ranges) whose X-Forwarded-For is believed. */
    trustedProxies: list(text('TRUSTED_PROXIES') ?? ''),
    /** Private key that signs attributions; absent means plans cannot be built. */
    attributionKey: parsePrivateKey('ATTRIBUTION', text, problems),
    /** A file that holds it instead, and a signer elsewhere that has it: of the three at most one. */
    attributionKeyFile: text('ATTRIBUTION_KEY_FILE'),
    attributionSigner: parseSigner('ATTRIBUTION', text, problems),
    /** Keys of streams: of creations and increases, of withdrawals (absent: the same), of what is committed; of settlements. */
    streamsKey: parseKey('STREAMS', text, problems),
    withdrawalsKey: parseKey('WITHDRAWALS', text, problems),
    committerKey: parseKey('COMMITTER', text, problems),
    solverKey: parseKey('SOLVER', text, problems),
    /** Seconds a signed creation may be sent, between snapshots, and from a used-up budget to the end of a stream without one. */
    streamSignatureSeconds: integer('STREAM_SIGNATURE_SECONDS', 3_600, 60, 86_400),
    streamSnapshotSeconds: integer('STREAM_SNAPSHOT_SECONDS', 43_200, 60, 86_400),
    streamUsedUpSeconds: integer('STREAM_USED_UP_SECONDS', 604_800, 3_600, 31_536_000),
    /** Seconds during which a root can be vetoed; absent: an hour; 0 on the devnet. `rootWatch`: roots are counted again. */
    vetoSeconds: text('VETO_SECONDS') === undefined ? undefined : integer('VETO_SECONDS', 3_600, 0, 604_800),
    /** In gwei, for each chain and key: the most a unit of gas may cost that is paid, all of 24 hours, a settlement, a commit. */
    gasPriceMaxGwei: integer('GAS_PRICE_MAX_GWEI', 100, 1, 1e6),
    spendingMaxGwei: integer('SPENDING_MAX_GWEI', 1e9, 0, 1e15),
    settlementMaxGwei: integer('SETTLEMENT_MAX_GWEI', 2e7, 1, 1e15),
    /** Limits of the cost that strangers can cause: `docs/orders.md`. */
    settlementWorthFactor: integer('SETTLEMENT_WORTH_FACTOR', 1, 0, 1e6),
    settlementTokens: oneOf('SETTLEMENT_TOKENS', ['listed', 'priced', 'any']),
    settlementsPerHour: integer('SETTLEMENTS_PER_HOUR', 12, 1, 1e6),
    settlementRiskPercent: integer('SETTLEMENT_RISK_PERCENT', 10, 0, 100),
    settlementLossPercent: integer('SETTLEMENT_LOSS_PERCENT', 25, 0, 100),
    trustedWallets: list(text('TRUSTED_WALLETS') ?? ''),
    ...{ commitMaxGwei: integer('COMMIT_MAX_GWEI', 2e7, 1, 1e15), rootWatch: oneOf('ROOT_WATCH', ['alarm', 'veto']) },
    /** Build plans without a signature while the signer fails, instead of refusing. */
    unsignedFallback: flag('ATTRIBUTION_UNSIGNED_FALLBACK', false),
    /** Seals the secrets of webhooks; absent: there are no webhooks. */
    secretsKey: text('SECRETS_KEY'),
    /** Places of webhooks (`host` or `host:port`) that may be private, have any port and speak http. */
    webhooksAllowed: list(text('WEBHOOKS_ALLOWED') ?? ''),
    /** `stagedBps`: hundredths of a percent by which a share price fell that is told of. `auditLimits`: `docs/audit.md`. */
    ...{ eventsKeptDays: integer('EVENTS_KEPT_DAYS', 30, 7, 3_650), stagedBps: integer('STAGED_BPS', 50, 1, 10_000) },
    /** RPC urls by chain id; they replace those in the database. */
    ...{ rpcUrls: parseRpcUrls(env, problems), auditLimits: text('AUDIT_LIMITS') },
    readGasCap: integer('READ_GAS_CAP', 50_000_000, 1_000_000, 1e9),
    /** TON Center HTTP API v2, for wallets that do not send their initial state; absent means they are refused. */
    tonUrl: text('TON_URL'),
    /** Accept TON addresses marked as test-only. */
    tonTestnet: flag('TON_TESTNET', false),
    /** Accept `ton_proof` for membership, which covers the nonce but not the text of the agreement. */
    tonProofEnabled: flag('TON_PROOF_ENABLED', false),
    /** Who tells prices over HTTP; absent: nobody is asked. Its url is that of the public service unless set. */
    priceProvider: text('PRICE_PROVIDER'),
    priceUrl: text('PRICE_URL'),
    priceKey: text('PRICE_KEY'),
    /** Services asked for swaps over HTTP on chains that name their routers. */
    swapApis: {
      enso: { url: text('ENSO_URL') ?? 'https://api.enso.build', key: text('ENSO_KEY') },
      lifi: { url: text('LIFI_URL') ?? 'https://li.quest', key: text('LIFI_KEY') },
    },
    /** Ports of the devnet. */
    anvilPort: port('ANVIL_PORT', 8545),
  }
  problems.push(...findProblems(config, text))
  if (problems.length > 0) throw new ConfigError(`bad configuration: ${problems.join('; ')}`)
  return config
}

/** Problems of single members and of pairs. */
function findProblems(
  config: {
    trustedWallets: readonly string[]
    tonUrl: string | undefined
    secretsKey: string | undefined
    portalKey: string | undefined
    operatorToken: string | undefined
  },
  text: Text,
): string[] {
  const found: string[] = []
  if (!['json', 'pretty', undefined].includes(text('LOG_FORMAT'))) found.push('LOG_FORMAT must be json or pretty')
  if (!config.trustedWallets.every((pair) => /^0x[\da-f]{40}:0x[\da-f]{40}$/i.test(pair)))
    found.push('TRUSTED_WALLETS must be pairs of addresses, singleton:handler, separated by commas')
  if (!/^https?:/.test(config.tonUrl ?? 'http:')) found.push('TON_URL must be an http or https url')
  if (!/^pk_live_/.test(config.portalKey ?? 'pk_live_'))
    found.push('PORTAL_KEY must be a publishable key (pk_live_…): every visitor of the portal reads it')
  if ((config.secretsKey?.length ?? 32) < 32) found.push('SECRETS_KEY must have at least 32 characters')
  // Visible characters only: others cannot stand in a header.
  if (!/^[!-~]{32,}$/.test(config.operatorToken ?? 'x'.repeat(32)))
    found.push('OPERATOR_TOKEN must have at least 32 visible characters of ASCII')
  return found
}

const list = (value: string): string[] => value.split(',').flatMap((item) => item.trim() || [])

type Text = (name: string) => string | undefined

/** A key by its name: itself, a file that holds it, or a signer elsewhere. */
function parseKey(name: string, text: Text, problems: string[]) {
  const [key, remote] = [parsePrivateKey(name, text, problems), parseSigner(name, text, problems)]
  return { name, key, keyFile: text(`${name}_KEY_FILE`), remote }
}

function parseSigner(name: string, text: Text, problems: string[]) {
  const url = text(`${name}_SIGNER_URL`)
  if ([url, text(`${name}_KEY`), text(`${name}_KEY_FILE`)].filter(Boolean).length > 1)
    problems.push(`set one of ${name}_KEY, ${name}_KEY_FILE and ${name}_SIGNER_URL`)
  if (url === undefined) return undefined
  const address = text(`${name}_SIGNER_ADDRESS`) ?? ''
  if (!/^https?:\/\/[^@]+$/.test(url) || !URL.canParse(url))
    problems.push(`${name}_SIGNER_URL must be an http or https url without a password`)
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) problems.push(`${name}_SIGNER_ADDRESS must be the address of its key`)
  return { url, address: `0x${address.slice(2)}` as const, token: text(`${name}_SIGNER_TOKEN`) }
}

/** True for 0x and 64 hex digits. */
export function isPrivateKey(value: string): value is `0x${string}` {
  return /^0x[0-9a-fA-F]{64}$/.test(value)
}

function parseOwnUrl(name: string, text: Text, problems: string[]): string | undefined {
  const value = text(name)
  if (value === undefined) return undefined
  const url = URL.canParse(value) ? new URL(value) : undefined
  const plain = url && ['http:', 'https:'].includes(url.protocol) && url.search === '' && url.hash === ''
  if (plain && url.username === '' && url.password === '') return url.href.replace(/\/+$/, '')
  problems.push(`${name} must be an http or https url without user, query and fragment`)
  return undefined
}

/** The settings of who operates this installation. */
function parseOperator(text: Text, flag: (name: string, fallback: boolean) => boolean, problems: string[]) {
  return {
    /** Where the operator reaches the operator listener, besides by the names of this machine. */
    operatorUrl: parseOwnUrl('OPERATOR_URL', text, problems),
    /** The secret that the operator's lists ask for; absent: they are read by nobody. */
    operatorToken: text('OPERATOR_TOKEN'),
    /** When it ends; absent: never. */
    operatorTokenUntil: parseInstant('OPERATOR_TOKEN_UNTIL', text, problems),
    /** Whether `/metrics` and `/readyz` are read without the token. */
    opsProbesOpen: flag('OPS_PROBES_OPEN', /^(127(\.\d+){3}|::1|localhost)$/.test(text('OPS_HOST') ?? '127.0.0.1')),
  }
}

function parseInstant(name: string, text: Text, problems: string[]): Date | undefined {
  const value = text(name)
  if (value === undefined) return undefined
  const at = new Date(value)
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) && !Number.isNaN(at.getTime())) return at
  problems.push(`${name} must be an instant such as 2030-01-31T00:00:00Z`)
  return undefined
}

function parsePrivateKey(name: string, text: Text, problems: string[]): `0x${string}` | undefined {
  const value = text(`${name}_KEY`)
  if (value === undefined || isPrivateKey(value)) return value
  problems.push(`${name}_KEY must be 0x and 64 hex digits`)
  return undefined
}

function parseRpcUrls(env: Env, problems: string[]): Map<number, string[]> {
  const urls = new Map<number, string[]>()
  for (const [name, value] of Object.entries(env)) {
    const match = /^RPC_URL_([1-9][0-9]*)$/.exec(name)
    if (!match || !value) continue
    const found = list(value)
    if (!found.every(isRpcUrl)) problems.push(`${name} must be http, https, ws or wss urls separated by commas`)
    urls.set(Number(match[1]), found)
  }
  return urls
}

/** True for an http, https, ws or wss url. */
export function isRpcUrl(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:', 'ws:', 'wss:'].includes(new URL(url).protocol)
}
