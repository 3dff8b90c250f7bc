import { homedir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { type Config, ConfigError, isPrivateKey, isRpcUrl, parseConfig } from './config.js'

const key = `0x${'1f'.repeat(32)}` as const
const address = `0x${'aB'.repeat(20)}`

/** Whole numbers: where one is read, what it is unless set, and its bounds. */
const numbers: [name: string, member: keyof Config, fallback: number | undefined, min: number, max: number][] = [
  ['DATABASE_POOL_SIZE', 'databasePoolSize', 10, 1, 200],
  ['PORT', 'port', 4020, 0, 65_535],
  ['OPS_PORT', 'opsPort', 4021, 0, 65_535],
  ['ANVIL_PORT', 'anvilPort', 8545, 0, 65_535],
  ['IP_LIMIT_PER_MINUTE', 'ipLimitPerMinute', undefined, 0, 1e6],
  ['EVENTS_KEPT_DAYS', 'eventsKeptDays', 30, 7, 3_650],
  ['STREAMS_PER_ADDRESS', 'streamsPerAddress', undefined, 1, 1e6],
  ['CONNECTIONS_PER_ADDRESS', 'connectionsPerAddress', undefined, 0, 1e6],
  ['EVENT_LOOP_DELAY_MAX_MS', 'eventLoopDelayMaxMs', 1_000, 0, 60_000],
  ['HEAVY_REQUESTS_PER_KEY', 'heavyPerKey', 4, 0, 1_000],
  ['STREAM_SIGNATURE_SECONDS', 'streamSignatureSeconds', 3_600, 60, 86_400],
  ['STREAM_SNAPSHOT_SECONDS', 'streamSnapshotSeconds', 43_200, 60, 86_400],
  ['VETO_SECONDS', 'vetoSeconds', undefined, 0, 604_800],
  ['GAS_PRICE_MAX_GWEI', 'gasPriceMaxGwei', 100, 1, 1e6],
  ['SPENDING_MAX_GWEI', 'spendingMaxGwei', 1e9, 0, 1e15],
  ['SETTLEMENT_MAX_GWEI', 'settlementMaxGwei', 2e7, 1, 1e15],
  ['COMMIT_MAX_GWEI', 'commitMaxGwei', 2e7, 1, 1e15],
  ['PATIENCE', 'patience', 1, 1, 100],
  ['STREAM_USED_UP_SECONDS', 'streamUsedUpSeconds', 604_800, 3_600, 31_536_000],
  ['SETTLEMENT_WORTH_FACTOR', 'settlementWorthFactor', 1, 0, 1e6],
  ['SETTLEMENTS_PER_HOUR', 'settlementsPerHour', 12, 1, 1e6],
  ['SETTLEMENT_RISK_PERCENT', 'settlementRiskPercent', 10, 0, 100],
  ['SETTLEMENT_LOSS_PERCENT', 'settlementLossPercent', 25, 0, 100],
  ['READ_GAS_CAP', 'readGasCap', 50_000_000, 1_000_000, 1e9],
]

describe('a setting that is a whole number', () => {
  it.each(numbers)(
    '%s has a default, and takes its bounds and nothing beyond them',
    (name, member, fallback, min, max) => {
      const read = (value?: string) => parseConfig(value === undefined ? {} : { [name]: value }, '/')[member]
      expect([read(), read('')]).toEqual([fallback, fallback])
      expect([read(String(min)), read(String(max))]).toEqual([min, max])
      for (const value of [String(min - 1), String(max + 1), `${min}.5`, 'many'])
        expect(() => read(value)).toThrow(`bad configuration: ${name} must be a whole number from ${min} to ${max}`)
    },
  )
})

describe('a setting that is true or false', () => {
  it.each<[string, keyof Config, boolean]>([
    ['PUBLIC_REFERENCE', 'publicReference', false],
    ['EMBED_ENABLED', 'embedEnabled', true],
    ['LOG_REQUESTS', 'logRequests', false],
    ['BEARER_ENABLED', 'bearerEnabled', true],
    ['ATTRIBUTION_UNSIGNED_FALLBACK', 'unsignedFallback', false],
    ['TON_TESTNET', 'tonTestnet', false],
    ['TON_PROOF_ENABLED', 'tonProofEnabled', false],
  ])('%s has a default, and takes no other word', (name, member, fallback) => {
    const read = (value?: string) => parseConfig(value === undefined ? {} : { [name]: value }, '/')[member]
    expect([read(), read(''), read('true'), read('false')]).toEqual([fallback, fallback, true, false])
    for (const value of ['yes', '1', 'TRUE']) expect(() => read(value)).toThrow(`${name} must be true or false`)
  })
})

describe('a setting that is a text', () => {
  it.each<[string, keyof Config, string | undefined]>([
    ['DATABASE_URL', 'databaseUrl', undefined],
    ['DEV_DATABASE_URL', 'devDatabaseUrl', undefined],
    ['HOST', 'host', '127.0.0.1'],
    ['OPS_HOST', 'opsHost', '127.0.0.1'],
    ['ATTRIBUTION_KEY_FILE', 'attributionKeyFile', undefined],
    ['PRICE_PROVIDER', 'priceProvider', undefined],
    ['PRICE_URL', 'priceUrl', undefined],
    ['PRICE_KEY', 'priceKey', undefined],
  ])('%s is taken as it stands, and is absent where it is empty', (name, member, fallback) => {
    expect(parseConfig({}, '/')[member]).toBe(fallback)
    expect(parseConfig({ [name]: '' }, '/')[member]).toBe(fallback)
    expect(parseConfig({ [name]: 'some text' }, '/')[member]).toBe('some text')
  })

  it('is one of a few for the level of the log', () => {
    expect(parseConfig({}, '/').logLevel).toBe('info')
    for (const level of ['debug', 'info', 'warn', 'error', 'silent'])
      expect(parseConfig({ LOG_LEVEL: level }, '/').logLevel).toBe(level)
    expect(() => parseConfig({ LOG_LEVEL: 'loud' }, '/')).toThrow(
      'LOG_LEVEL must be one of debug, info, warn, error, silent',
    )
  })

  it('is one of three for the tokens that are settled', () => {
    expect(parseConfig({}, '/').settlementTokens).toBeUndefined()
    for (const tokens of ['listed', 'priced', 'any'])
      expect(parseConfig({ SETTLEMENT_TOKENS: tokens }, '/').settlementTokens).toBe(tokens)
    expect(() => parseConfig({ SETTLEMENT_TOKENS: 'all' }, '/')).toThrow(
      'SETTLEMENT_TOKENS must be one of listed, priced, any',
    )
  })

  it('has at least 32 characters where it seals the secrets of webhooks', () => {
    expect(parseConfig({}, '/').secretsKey).toBeUndefined()
    expect(parseConfig({ SECRETS_KEY: 's'.repeat(32) }, '/').secretsKey).toBe('s'.repeat(32))
    expect(() => parseConfig({ SECRETS_KEY: 's'.repeat(31) }, '/')).toThrow(
      'SECRETS_KEY must have at least 32 characters',
    )
  })

  it('is long enough to guess no token of the operator, which may end at an instant', () => {
    expect(parseConfig({}, '/')).toMatchObject({ operatorToken: undefined, operatorTokenUntil: undefined })
    const env = { OPERATOR_TOKEN: 't'.repeat(32), OPERATOR_TOKEN_UNTIL: '2030-01-31T00:00:00Z' }
    const until = new Date('2030-01-31T00:00:00Z')
    expect(parseConfig(env, '/')).toMatchObject({ operatorToken: 't'.repeat(32), operatorTokenUntil: until })
    for (const wrong of ['t'.repeat(31), `${'t'.repeat(32)} t`, 'ü'.repeat(32)])
      expect(() => parseConfig({ OPERATOR_TOKEN: wrong }, '/')).toThrow(
        'OPERATOR_TOKEN must have at least 32 visible characters of ASCII',
      )
    for (const wrong of ['tomorrow', '2030', '2030-13-31T00:00:00Z'])
      expect(() => parseConfig({ OPERATOR_TOKEN_UNTIL: wrong }, '/')).toThrow('OPERATOR_TOKEN_UNTIL must be an instant')
  })

  it('opens what watches the service on this machine only, unless it is said', () => {
    for (const [host, open] of Object.entries({
      ...{ '127.0.0.1': true, '::1': true, localhost: true },
      ...{ '0.0.0.0': false, '127.a.b': false, '127.0.0.1.1': false },
    }))
      expect([host, parseConfig({ OPS_HOST: host }, '/').opsProbesOpen]).toEqual([host, open])
    expect(parseConfig({ OPS_HOST: '0.0.0.0', OPS_PROBES_OPEN: 'true' }, '/').opsProbesOpen).toBe(true)
  })

  it('is a publishable key for the portal, as its visitors read it', () => {
    expect(parseConfig({}, '/').portalKey).toBeUndefined()
    const text = `pk_live_${'a'.repeat(38)}`
    expect(parseConfig({ PORTAL_KEY: text }, '/').portalKey).toBe(text)
    for (const wrong of [text.replace('pk', 'sk'), 'x'])
      expect(() => parseConfig({ PORTAL_KEY: wrong }, '/')).toThrow('PORTAL_KEY must be a publishable key (pk_live_…)')
  })

  it('lists the places of webhooks that may be private, and none by default', () => {
    expect(parseConfig({}, '/').webhooksAllowed).toEqual([])
    expect(parseConfig({ WEBHOOKS_ALLOWED: 'hooks.local, 10.0.0.1:8080' }, '/').webhooksAllowed).toEqual([
      'hooks.local',
      '10.0.0.1:8080',
    ])
  })

  it('is the url of a service with a key, of each that swaps', () => {
    expect(parseConfig({}, '/').swapApis).toEqual({
      enso: { url: 'https://api.enso.build', key: undefined },
      lifi: { url: 'https://li.quest', key: undefined },
    })
    const env = { ENSO_URL: 'http://a', ENSO_KEY: 'b', LIFI_URL: 'http://c', LIFI_KEY: 'd' }
    expect(parseConfig(env, '/').swapApis).toEqual({
      enso: { url: 'http://a', key: 'b' },
      lifi: { url: 'http://c', key: 'd' },
    })
  })

  it('is an http or https url for TON', () => {
    for (const url of ['http://ton', 'https://ton']) expect(parseConfig({ TON_URL: url }, '/').tonUrl).toBe(url)
    for (const url of ['ton', 'ws://ton', 'xhttp://ton'])
      expect(() => parseConfig({ TON_URL: url }, '/')).toThrow('TON_URL must be an http or https url')
    expect(parseConfig({}, '/').tonUrl).toBeUndefined()
  })

  it('lists proxies between commas, without blanks and empties', () => {
    expect(parseConfig({ TRUSTED_PROXIES: ' 10.0.0.1, ,10.1.0.0/16,' }, '/').trustedProxies).toEqual([
      '10.0.0.1',
      '10.1.0.0/16',
    ])
    expect(parseConfig({}, '/').trustedProxies).toEqual([])
  })
})

describe('the folder of local state', () => {
  it('is under the folder of the call, in the home of the user after ~/, or where it says', () => {
    const read = (value?: string) =>
      parseConfig(value === undefined ? {} : { OPENEARN_DATA_DIR: value }, '/srv/earn').dataDir
    expect([read(), read('state'), read('/var/state'), read('~/state')]).toEqual([
      '/srv/earn/.openearn',
      '/srv/earn/state',
      '/var/state',
      `${homedir()}/state`,
    ])
  })
})

describe('the keys of streams and settlements', () => {
  it.each<[string, 'streamsKey' | 'withdrawalsKey' | 'committerKey' | 'solverKey']>([
    ['STREAMS', 'streamsKey'],
    ['WITHDRAWALS', 'withdrawalsKey'],
    ['COMMITTER', 'committerKey'],
    ['SOLVER', 'solverKey'],
  ])('%s has a name, and is a key, a file or a signer elsewhere', (name, member) => {
    const absent = { name, key: undefined, keyFile: undefined, remote: undefined }
    const read = (env: Record<string, string>) => parseConfig(env, '/')[member]
    expect(read({})).toEqual(absent)
    expect(read({ [`${name}_KEY`]: key })).toEqual({ ...absent, key })
    expect(read({ [`${name}_KEY_FILE`]: 'file' })).toEqual({ ...absent, keyFile: 'file' })
    const remote = { [`${name}_SIGNER_URL`]: 'http://signer', [`${name}_SIGNER_ADDRESS`]: address }
    expect(read(remote)).toEqual({ ...absent, remote: { url: 'http://signer', address, token: undefined } })
    expect(() => read({ [`${name}_KEY`]: key, [`${name}_KEY_FILE`]: 'file' })).toThrow(
      `set one of ${name}_KEY, ${name}_KEY_FILE and ${name}_SIGNER_URL`,
    )
    expect(() => read({ [`${name}_KEY`]: '0x12' })).toThrow(`${name}_KEY must be 0x and 64 hex digits`)
  })

  it('are 0x and 64 hex digits', () => {
    expect(parseConfig({ ATTRIBUTION_KEY: key }, '/').attributionKey).toBe(key)
    expect([isPrivateKey(key), isPrivateKey(key.toUpperCase().replace('X', 'x'))]).toEqual([true, true])
    for (const value of [`${key}0`, key.slice(0, -1), ` ${key}`, key.slice(2), `${key.slice(0, -1)}g`])
      expect(isPrivateKey(value)).toBe(false)
  })

  it('are signed with by an http or https signer without a password, whose address is known', () => {
    const read = (url: string, of: string = address) =>
      parseConfig({ ATTRIBUTION_SIGNER_URL: url, ATTRIBUTION_SIGNER_ADDRESS: of }, '/')
    for (const url of [
      'ftp://signer',
      'xhttp://signer',
      'signer',
      'http://',
      'http://signer:99999',
      'https://user@signer',
    ])
      expect(() => read(url)).toThrow('ATTRIBUTION_SIGNER_URL must be an http or https url without a password')
    for (const of of [`${address}0`, address.slice(0, -1), `x${address}`, address.slice(2)])
      expect(() => read('http://signer', of)).toThrow('ATTRIBUTION_SIGNER_ADDRESS must be the address of its key')
  })
})

describe('a url', () => {
  it('of a node is http, https, ws or wss', () => {
    for (const scheme of ['http', 'https', 'ws', 'wss']) expect(isRpcUrl(`${scheme}://node`)).toBe(true)
    for (const url of ['ftp://node', 'node', '']) expect(isRpcUrl(url)).toBe(false)
  })

  it('of the nodes is read of a chain id that is a number, and of nothing like it', () => {
    const urls = (name: string) => parseConfig({ [name]: 'http://node' }, '/').rpcUrls
    expect([...urls('RPC_URL_8453')]).toEqual([[8453, ['http://node']]])
    for (const name of ['RPC_URL_0', 'RPC_URL_01', 'RPC_URL_1X', 'MY_RPC_URL_1', 'RPC_URL_'])
      expect(urls(name).size).toBe(0)
  })

  it.each(['https://user@earn.example', 'https://:secret@earn.example', 'https://earn.example/#part'])(
    'where callers reach us has no user, query or fragment: %s',
    (url) => {
      expect(() => parseConfig({ PUBLIC_URL: url }, '/')).toThrow(
        'PUBLIC_URL must be an http or https url without user, query and fragment',
      )
    },
  )
})

describe('a configuration that is wrong', () => {
  it('names all that is wrong with it at once', () => {
    const read = () => parseConfig({ PORT: '-1', LOG_LEVEL: 'loud', BEARER_ENABLED: 'maybe' }, '/')
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(expect.objectContaining({ name: 'ConfigError' }))
    expect(read).toThrow(
      'bad configuration: PORT must be a whole number from 0 to 65535; LOG_LEVEL must be one of debug, info, warn, error, silent; BEARER_ENABLED must be true or false',
    )
  })
})
