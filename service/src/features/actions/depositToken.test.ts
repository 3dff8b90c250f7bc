import { describe, expect, it } from 'vitest'
import type { CatalogueSnapshot, OpportunityRecord } from '../catalogue/index.js'
import { getDepositToken } from './depositToken.js'

const token = (chainId: number, address: string, symbol: string) => ({
  chainId,
  address,
  symbol,
  unsupportedReason: '',
})
const asset = `0x${'a5'.repeat(20)}`
const second = `0x${'b6'.repeat(20)}`
const snapshot = { chains: new Map([[1, { chainId: 1, wrappedNative: null }]]) } as unknown as CatalogueSnapshot
const opportunity = (...depositTokens: ReturnType<typeof token>[]) =>
  ({ chainId: 1, vault: { asset }, depositTokens }) as unknown as OpportunityRecord

describe('the token of a deposit', () => {
  it.each([true, false])(
    'is not one of the same address on another chain, where the vault takes several: %s',
    (several) => {
      const elsewhere = opportunity(token(10, asset, 'THERE'))
      expect(() => getDepositToken(snapshot, elsewhere, asset, several)).toThrow('does not take that token')
      const both = opportunity(token(10, asset, 'THERE'), token(1, asset, 'HERE'))
      expect(getDepositToken(snapshot, both, asset, several).entering.symbol).toBe('HERE')
    },
  )

  it('is another than the vault’s asset only where the vault takes several', () => {
    const two = opportunity(token(1, asset, 'FIRST'), token(1, second, 'SECOND'))
    expect(getDepositToken(snapshot, two, second, true).entering.symbol).toBe('SECOND')
    expect(() => getDepositToken(snapshot, two, second, false)).toThrow('does not take that token')
  })
})
