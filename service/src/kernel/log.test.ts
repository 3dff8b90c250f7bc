import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseConfig } from './config.js'
import { openLog, redactUrls, silentLog } from './log.js'

afterEach(() => vi.restoreAllMocks())

describe('the log', () => {
  it('names its levels, for a person and in JSON', () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const pretty = openLog({ level: 'debug', pretty: true })
    pretty.info({ chainId: 1 }, 'well')
    pretty.warn({ err: new Error('why https://node.example/v3/secret') }, 'not well')
    const [first, second] = write.mock.calls.map(([text]) => String(text))
    expect(first).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info well \{"chainId":1\}\n$/)
    expect(second).toMatch(/^\S+ WARN not well Error: why https:\/\/node\.example\/…\n$/)
  })

  it('says in each line of JSON which service, version and process wrote it', () => {
    const lines: string[] = []
    const log = openLog({ level: 'info', version: '1.2.3' }, { write: (line: string) => lines.push(line) })
    log.info({ requestId: 'a', traceId: 'b' }, 'served')
    expect(JSON.parse(`${lines[0]}`)).toEqual({
      ...{ level: 'info', time: expect.any(Number), service: 'openearn', version: '1.2.3', pid: process.pid },
      ...{ requestId: 'a', traceId: 'b', msg: 'served' },
    })
  })

  it('hides the fields that are named like secrets, at the top and one below', () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const names = ['apiKey', 'key', 'privateKey', 'secret', 'authorization', 'password', 'databaseUrl', 'rpcUrl']
    const fields = Object.fromEntries(names.map((name) => [name, 'a secret']))
    openLog({ level: 'info', pretty: true }).info({ ...fields, request: fields, chainId: 1 }, 'called')
    const hidden = Object.fromEntries(names.map((name) => [name, '[hidden]']))
    const told = String(write.mock.calls[0]?.[0])
    expect(JSON.parse(told.slice(told.indexOf('{')))).toEqual({ ...hidden, request: hidden, chainId: 1 })
  })

  it('says who writes, and shouts an error', () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    openLog({ level: 'info', pretty: true, name: 'sync' }).error('broken')
    expect(String(write.mock.calls[0]?.[0])).toMatch(/^\S+ ERROR \[sync\] broken\n$/)
  })

  it('that is silent takes everything, of a child too', () => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const)
      expect(silentLog.child({ part: 1 })[level]('said')).toBeUndefined()
  })

  it.each([
    ['see https://node.example/v3/secret now', 'see https://node.example/… now'],
    ['WSS://Node.example:8545/?key=secret', 'WSS://Node.example:8545/…'],
    ['postgres://me:secret@db.example:5432/earn', 'postgres://db.example:5432/…'],
    [
      '(https://a.example/x) "http://b.example?y" ftp://c.example#z',
      '(https://a.example/…) "http://b.example/…" ftp://c.example/…',
    ],
  ])('keeps of a url its scheme and host: %s', (text, kept) => {
    expect(redactUrls(text)).toBe(kept)
  })

  it('is JSON or for a person by LOG_FORMAT, and has a line for each request by LOG_REQUESTS', () => {
    expect(parseConfig({}, '/')).toMatchObject({ logPretty: undefined, logRequests: false })
    expect(parseConfig({ LOG_FORMAT: 'json', LOG_REQUESTS: 'true' }, '/')).toMatchObject({
      logPretty: false,
      logRequests: true,
    })
    expect(parseConfig({ LOG_FORMAT: 'pretty' }, '/')).toMatchObject({ logPretty: true })
    expect(() => parseConfig({ LOG_FORMAT: 'xml' }, '/')).toThrow('LOG_FORMAT must be json or pretty')
  })
})
