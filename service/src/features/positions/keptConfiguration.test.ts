import { describe, expect, it } from 'vitest'
import type { DeriveConfig } from '../../derive/config.js'
import { keepConfiguration, openConfiguration, parseConfiguration } from './keptConfiguration.js'

const address = (digit: string) => `0x${digit.repeat(40)}`
const config: DeriveConfig = {
  chainId: 1,
  vaults: [
    {
      ...{ id: 7, address: address('a'), kind: 'erc7540', receiptToken: address('a'), asset: address('b') },
      ...{ assetDecimals: 6, escrow: address('e'), startBlock: 5, activeFrom: 100, contracts: { silo: address('c') } },
    },
    {
      ...{ id: 3, address: address('9'), kind: 'erc4626', receiptToken: address('9'), asset: address('b') },
      ...{ assetDecimals: 18, escrow: null, startBlock: 0, activeFrom: 300 },
    },
  ],
  distributors: new Map([['d', 50]]),
  signedOnly: new Map([['d', [{ from: 60, signedOnly: true }]]]),
  signers: new Set([address('1')]),
  entryPoints: [address('2')],
  trustTraces: true,
  forwarders: [{ address: address('f'), from: 10, startBlock: 4 }],
  settlements: [address('5')],
  operationsApartFrom: 70,
}
const kept = JSON.parse(JSON.stringify(keepConfiguration(config, { vault: address('a'), at: 200 })))

describe('a configuration kept in a file', () => {
  it('is opened as it was, without what came into force later', () => {
    const parsed = parseConfiguration(kept) ?? expect.fail()
    const [own] = config.vaults
    expect(openConfiguration(1, parsed)).toEqual({ ...config, vaults: [{ ...own, id: 1 }] })
  })

  it('names the vault it was kept for, whenever that came into force', () => {
    const { vaults } = keepConfiguration(config, { vault: address('9'), at: 200 })
    expect(vaults.map((vault) => vault.address)).toEqual([address('9'), address('a')])
  })

  it('keeps no rule that came later, and a file of before that rule is read without it', () => {
    const later = keepConfiguration({ ...config, operationsApartFrom: 201 }, { vault: address('a'), at: 200 })
    expect(later).not.toHaveProperty('operationsApartFrom')
    expect(openConfiguration(1, later).operationsApartFrom).toBe(Number.POSITIVE_INFINITY)
  })

  it('keeps the doubts about holders that decide by then, and no later one', () => {
    const [own = expect.fail(), other = expect.fail()] = config.vaults
    const doubts = [199, 200].map((at) => ({ holder: address('d'), at }))
    const told = { ...config, vaults: [{ ...own, doubts }, other] }
    const file = JSON.parse(JSON.stringify(keepConfiguration(told, { vault: own.address, at: 200 })))
    const [first] = openConfiguration(1, parseConfiguration(file) ?? expect.fail()).vaults
    expect(first?.doubts).toEqual([{ holder: address('d'), at: 199 }])
    expect(kept.vaults[0]).not.toHaveProperty('doubts')
  })

  it.each(Object.keys(kept).filter((name) => name !== 'operationsApartFrom'))('is none without %s', (name) => {
    const { [name]: _gone, ...rest } = kept
    expect(parseConfiguration(rest)).toBeUndefined()
  })

  it.each(['address', 'kind', 'receiptToken', 'asset', 'assetDecimals', 'escrow', 'startBlock', 'activeFrom'])(
    'is none where a vault lacks its %s',
    (name) => {
      const [{ [name]: _gone, ...vault }] = kept.vaults
      expect(parseConfiguration({ ...kept, vaults: [vault] })).toBeUndefined()
    },
  )
})
