import type { Address } from 'viem'
import { describe, expect, it } from 'vitest'
import type { VaultRecord } from '../../catalogue/index.js'
import type { KeptShares } from '../../positions/index.js'
import { askKept, countKept } from './keptShares.js'

const known = { shares: 10n, ofAll: 30n, ofNobody: 5n }

it.each([
  ['what is derived, where the holder says the same', known, { said: 10n, has: 35n }, 10n],
  ['less, where shares left since', known, { said: 4n, has: 29n }, 4n],
  ['more, where as many came since', known, { said: 17n, has: 42n }, 17n],
  ['all, where the first came since', { shares: 0n, ofAll: 0n, ofNobody: 0n }, { said: 7n, has: 7n }, 7n],
  ['nothing of other accounts, whatever the holder says', known, { said: 1_000n, has: 35n }, 10n],
  ['nothing of what the holder has for nobody', { ...known, ofNobody: 500n }, { said: 1_000n, has: 530n }, 10n],
  ['no more than came since', known, { said: 1_000n, has: 38n }, 13n],
  ['no more than the holder has', known, { said: 10n, has: 3n }, 3n],
  ['what is derived, where the holder says nothing', known, { said: undefined, has: 35n }, 10n],
  ['what is derived, where nothing answers', known, { said: undefined, has: undefined }, 10n],
])('counts %s', (_, derived, told, counted) => {
  expect(countKept(derived, told)).toBe(counted)
})

describe('the shares that holders of a vault keep', () => {
  const [share, holder, ann] = ['f0', '57a4e', 'a1'].map((text) => `0x${text.padStart(40, '0')}`) as [
    Address,
    Address,
    Address,
  ]
  const vault = { receiptToken: share } as VaultRecord
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}` as const
  const keptBy = (kind: string, markets?: string[]): KeptShares => ({
    ...{ chainId: 1, vaultAddress: share, ...known },
    holder: { address: holder, kind, ...(markets ? { markets } : {}) } as KeptShares['holder'],
  })

  it.each(['staking', 'gauge'])('are what its balanceOf says of %s, whose receipt stands for them', (kind) => {
    const read = askKept(vault, ann, [keptBy(kind)])
    const balanceOf = (of: string) => `0x70a08231${of.slice(2).padStart(64, '0')}`
    expect(read.reads).toEqual([
      { target: holder, data: balanceOf(ann) },
      { target: share, data: balanceOf(holder) },
    ])
    expect(read.answer([word(4n), word(29n)]).kept).toEqual([
      { holder, shares: 4n, receipt: holder, problem: undefined },
    ])
  })

  it('are the third word of each declared market of collateral, which has no receipt', () => {
    const markets = ['4d', '4e'].map((byte) => `0x${byte.repeat(32)}`)
    const read = askKept(vault, ann, [keptBy('collateral', markets)])
    expect(read.reads.map(({ data }) => data.slice(0, 74))).toEqual([
      `0x93c52062${'4d'.repeat(32)}`,
      `0x93c52062${'4e'.repeat(32)}`,
      expect.stringMatching(/^0x70a08231/),
    ])
    const position = (collateral: bigint) => `${word(9n)}${word(9n).slice(2)}${word(collateral).slice(2)}` as const
    expect(read.answer([position(3n), position(4n), word(35n)]).kept).toMatchObject([
      { shares: 7n, receipt: undefined },
    ])
    expect(read.answer([position(3n), word(4n), word(35n)]).kept).toMatchObject([
      { shares: 10n, problem: expect.stringContaining(holder) },
    ])
  })

  it('leave to a holder itself only what it has for nobody', () => {
    const { kept, ownOf } = askKept(vault, holder, [keptBy('staking')]).answer([])
    expect(kept).toEqual([])
    expect([35n, 60n, 33n, 12n].map(ownOf)).toEqual([5n, 5n, 3n, 0n])
  })
})
