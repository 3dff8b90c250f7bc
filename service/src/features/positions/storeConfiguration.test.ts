import { describe, expect, it } from 'vitest'
import type { DeriveConfig, DeriveVault } from '../../derive/config.js'
import { findDivergence } from '../../sync/configuration.js'
import { listLines } from './storeConfiguration.js'

const vault: DeriveVault = {
  id: 1,
  address: `0x${'cc'.repeat(20)}`,
  kind: 'erc4626',
  receiptToken: `0x${'cc'.repeat(20)}`,
  asset: `0x${'aa'.repeat(20)}`,
  assetDecimals: 6,
  escrow: null,
  startBlock: 10,
  activeFrom: 500,
}
const config: DeriveConfig = {
  chainId: 1,
  vaults: [vault],
  distributors: new Map([['alpha', 100]]),
  signedOnly: new Map([['alpha', [{ from: 300, signedOnly: true }]]]),
  signers: new Set(),
  entryPoints: [],
}
const divergence = (more: Partial<DeriveConfig>) => findDivergence(listLines(config), listLines({ ...config, ...more }))

describe('the instant from which two configurations may differ', () => {
  it('is none when they agree, in whatever order', () => {
    expect(divergence({})).toBeUndefined()
    expect(findDivergence(listLines(config), listLines(config).reverse())).toBeUndefined()
  })

  it('is that of the earliest date that came, went or moved', () => {
    expect(divergence({ distributors: new Map([...config.distributors, ['beta', 400]]) })).toBe(400)
    expect(divergence({ distributors: new Map([['alpha', 90]]) })).toBe(90)
    expect(divergence({ signedOnly: new Map() })).toBe(300)
    expect(divergence({ vaults: [{ ...vault, activeFrom: 450 }] })).toBe(450)
    expect(divergence({ vaults: [vault, { ...vault, id: 2, address: `0x${'dd'.repeat(20)}`, activeFrom: 700 }] })).toBe(
      700,
    )
  })

  it('is the beginning when a vault becomes another kind or gets an escrow: its requests are older than its date', () => {
    expect(divergence({ vaults: [{ ...vault, kind: 'erc7540' }] })).toBe(0)
    expect(divergence({ vaults: [{ ...vault, escrow: `0x${'ee'.repeat(20)}` }] })).toBe(0)
  })

  it('is where the rule about what is around a bundle begins, after an update that brings it or at another date of it', () => {
    const dated = { ...config, operationsApartFrom: 800 }
    const older = listLines(dated).filter(({ line }) => !line.startsWith('operations-apart'))
    expect(findDivergence(older, listLines(dated))).toBe(800)
    expect(findDivergence(listLines({ ...config, operationsApartFrom: 600 }), listLines(dated))).toBe(600)
  })

  it('is not the beginning only because an older release wrote no lines of that sort', () => {
    const older = listLines(config).filter(({ line }) => !line.startsWith('shape '))
    expect(findDivergence(older, listLines(config))).toBeUndefined()
  })
})
