import { describe, expect, it } from 'vitest'
import { parseConfig } from './config.js'

describe('PUBLIC_URL', () => {
  it.each([
    ['https://earn.example', 'https://earn.example'],
    ['https://earn.example/', 'https://earn.example'],
    ['http://EARN.example:8080/api/', 'http://earn.example:8080/api'],
  ])('is taken without a slash at its end: %s', (given, url) => {
    expect(parseConfig({ PUBLIC_URL: given }).publicUrl).toBe(url)
  })

  it.each(['earn.example', 'ftp://earn.example', 'https://a:b@earn.example', 'https://earn.example/?a=1', 'https:///'])(
    'is refused as %s',
    (given) => {
      expect(() => parseConfig({ PUBLIC_URL: given })).toThrow(/PUBLIC_URL must be an http or https url/)
    },
  )

  it('is not known unless it is set, and the reference is not public', () => {
    expect(parseConfig({})).toMatchObject({ publicUrl: undefined, publicReference: false })
  })
})
