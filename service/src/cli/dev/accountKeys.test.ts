import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../kernel/config.js'
import { withDevKeys } from './accountKeys.js'
import { devAccount } from './anvil.js'
import { attributionIndex } from './deploy.js'

const own = `0x${'11'.repeat(32)}`

describe('the keys of a devnet', () => {
  it('are those of its public accounts where none is set', () => {
    const { attributionKey, solverKey } = withDevKeys(parseConfig({}))
    expect(attributionKey).toBe(devAccount(attributionIndex).privateKey)
    expect(withDevKeys(parseConfig({})).secretsKey).toBeDefined()
    expect(solverKey.key).toMatch(/^0x[0-9a-f]{64}$/)
  })

  it('are left as they are set, by value, by file or by a signer', () => {
    expect(withDevKeys(parseConfig({ ATTRIBUTION_KEY: own })).attributionKey).toBe(own)
    const secretsKey = 'k'.repeat(32)
    expect(withDevKeys(parseConfig({ SECRETS_KEY: secretsKey })).secretsKey).toBe(secretsKey)
    expect(withDevKeys(parseConfig({ WEBHOOKS_ALLOWED: 'a:1, b' })).webhooksAllowed).toEqual(['a:1', 'b'])
    expect(withDevKeys(parseConfig({ ATTRIBUTION_KEY_FILE: '/key' })).attributionKey).toBeUndefined()
    const address = devAccount(5).address
    const signer = { ATTRIBUTION_SIGNER_URL: 'https://signer.example', ATTRIBUTION_SIGNER_ADDRESS: address }
    expect(withDevKeys(parseConfig(signer)).attributionKey).toBeUndefined()
  })
})
