import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseConfig } from './config.js'
import { openLog } from './log.js'

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
