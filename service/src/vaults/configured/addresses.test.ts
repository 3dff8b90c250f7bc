import { describe, expect, it } from 'vitest'
import { keepsNothing, listNonHolders, listOwnAddresses } from './addresses.js'

const [address, beside, escrow, wallet] = ['a1', 'b2', 'c3', 'd4'].map((byte) => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string,
  string,
]
const [zero, burn] = [`0x${'00'.repeat(20)}`, `0x${'00'.repeat(18)}dead`]
const vault = { address, contracts: { silo: beside }, escrow }

describe('who keeps nothing of a vault', () => {
  it.each([
    ['the zero address', zero, true],
    ['the burn address', burn, true],
    ['the vault', address, true],
    ['a contract beside it', beside, true],
    ['its escrow', escrow, true],
    ['a wallet', wallet, false],
  ])('is told of %s', (_name, holder, keeps) => {
    expect(keepsNothing(vault, holder)).toBe(keeps)
    expect(listNonHolders(listOwnAddresses(vault)).has(holder)).toBe(keeps)
  })

  it('is nobody else where a vault has no escrow and no contract beside it', () => {
    expect([...listNonHolders(listOwnAddresses({ address, escrow: null }))]).toEqual([zero, burn, address])
    expect(keepsNothing({ address, escrow: null }, escrow)).toBe(false)
  })
})
