import { describe, expect, it } from 'vitest'
import { parseConfig } from './config.js'

describe('PUBLIC_URL', () => {
  it.each([
    ['https://earn.example', 'https://earn.example'],
    ['https://earn.example/', 'https://earn.example'],
    ['https://earn.example/api//', 'https://earn.example/api'],
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

describe('the key that signs attributions', () => {
  const url = 'https://kms.example/sign'
  const address = `0x${'ab'.repeat(20)}`
  it('is one of a key, a file and a signer elsewhere, which has an address', () => {
    const signer = { ATTRIBUTION_SIGNER_URL: url, ATTRIBUTION_SIGNER_ADDRESS: address, ATTRIBUTION_SIGNER_TOKEN: 't' }
    expect(parseConfig(signer, '/').attributionSigner).toEqual({ url, address, token: 't' })
    expect(() => parseConfig({ ...signer, ATTRIBUTION_KEY_FILE: 'x' }, '/')).toThrow('set one of ATTRIBUTION_KEY')
    expect(() => parseConfig({ ATTRIBUTION_SIGNER_URL: url }, '/')).toThrow('ATTRIBUTION_SIGNER_ADDRESS')
    expect(() => parseConfig({ ...signer, ATTRIBUTION_SIGNER_URL: 'https://a:b@kms.example' }, '/')).toThrow(
      'without a password',
    )
  })
})

describe('the nodes of a chain', () => {
  it('are urls separated by commas, of each chain that has any', () => {
    const env = { RPC_URL_1: 'https://one.example, wss://two.example/path', RPC_URL_10: '', RPC_URL_X: 'junk' }
    const { rpcUrls } = parseConfig(env, '/nonexistent')
    expect([...rpcUrls]).toEqual([[1, ['https://one.example', 'wss://two.example/path']]])
  })

  it.each(['one.example', 'ftp://one.example', 'https://one.example,two.example'])('may not be %s', (value) => {
    expect(() => parseConfig({ RPC_URL_1: value }, '/nonexistent')).toThrow(/RPC_URL_1 must be http/)
  })
})

describe('contract wallets that are vouched for', () => {
  const [a, b] = [`0x${'Ab'.repeat(20)}`, `0x${'cD'.repeat(20)}`]
  it('are pairs of addresses, and none by default', () => {
    expect(parseConfig({}).trustedWallets).toEqual([])
    expect(parseConfig({ TRUSTED_WALLETS: `${a}:${b}, ${b}:${a}` }).trustedWallets).toEqual([`${a}:${b}`, `${b}:${a}`])
  })

  it.each([
    a,
    `${a}:0x${'g'.repeat(40)}`,
    `0x${'g'.repeat(40)}:${b}`,
    `${a}:`,
    `${a}:${b}:${a}`,
    `${a}:0x12`,
    `${a} ${b}`,
  ])('may not be %s', (value) => {
    expect(() => parseConfig({ TRUSTED_WALLETS: value })).toThrow(/TRUSTED_WALLETS must be pairs of addresses/)
  })
})
