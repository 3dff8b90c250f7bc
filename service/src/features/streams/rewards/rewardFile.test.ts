import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { histories } from '../../../../test/recount/randomStream.js'
import { computeSnapshot } from '../amounts.js'
import type { StreamTerms } from '../types.js'
import {
  decodeRewardFile,
  encodeRewardFile,
  type FileOrigin,
  formatCanonical,
  hashFile,
  hashTerms,
  listChangedFacts,
  RewardFileError,
  recomputeRewards,
} from './rewardFile.js'

const origin: FileOrigin = {
  target: { chainId: 1, address: '0xaa', token: '0xaa', asset: '0xbb', assetDecimals: 6, own: ['0xaa'] },
  reward: { chainId: 1, address: '0xcc', factory: '0xee', contract: '0xff' },
  block: { number: 7, hash: '0xdd' },
  previous: null,
  observations: [3, 5],
}

const termsOfDay: StreamTerms = {
  ...{ streamId: '00000000-0000-4000-8000-000000000001', strategy: { type: 3, tokensPerDay: 86_400n }, adapters: [] },
  ...{ startAt: 0, endAt: 86_400, budget: 86_400n, increases: [], rewardDecimals: 18 },
}

describe('the facts of two counts', () => {
  it('are the same in any order of the rows of an instant, and each other change is named', () => {
    fc.assert(
      fc.property(histories, fc.nat(1_000), ({ terms, facts, to }, seed) => {
        const inputs = { terms, facts, to, from: undefined, origin }
        // The steps of a wallet keep their order among themselves.
        const wallets = [...new Set([...facts.balances, ...facts.lots].map(({ wallet }) => wallet))]
        const placeOf = (wallet: string) => (wallets.indexOf(wallet) * 7_919 + seed) % (wallets.length + 1)
        const turned = <Row extends { wallet: string }>(rows: readonly Row[]): Row[] =>
          rows.toSorted((a, b) => placeOf(b.wallet) - placeOf(a.wallet))
        const other = (changed: object) => ({ ...inputs, facts: { ...facts, ...changed } })
        expect(listChangedFacts(inputs, other({ balances: turned(facts.balances), lots: turned(facts.lots) }))).toEqual(
          [],
        )
        const more = { at: to, wallet: '0x99', shares: 1n, distributorId: 'alpha' }
        expect(listChangedFacts(inputs, other({ balances: [...facts.balances, more] }))).toEqual(['balances'])
        expect(listChangedFacts(inputs, other({ lots: [...facts.lots, more] }))).toEqual(['lots'])
        const price = { at: to, usd: { numerator: 7n, denominator: 3n } }
        expect(listChangedFacts(inputs, other({ rewardPrices: [...facts.rewardPrices, price] }))).toEqual([
          'reward prices',
        ])
        const later = { ...terms, increases: [...terms.increases, { at: to + 1, total: 9n }] }
        expect(listChangedFacts(inputs, { ...inputs, terms: later })).toEqual([])
        const now = { ...terms, increases: [...terms.increases, { at: to, total: 9n }] }
        expect(listChangedFacts(inputs, { ...inputs, terms: now })).toEqual(['terms'])
      }),
    )
  })
})

describe('a reward file', () => {
  it('holds all that its root follows from: whoever has it alone comes to the same root, and its hash names it', () => {
    fc.assert(
      fc.property(histories, fc.nat(40), ({ terms, facts, to }, cut) => {
        const from = to > terms.startAt + cut ? computeSnapshot(terms, facts, terms.startAt + cut).states : undefined
        const inputs = { terms, facts, to, from, origin }
        const { text, hash } = encodeRewardFile(inputs, recomputeRewards(inputs))
        const decoded = decodeRewardFile(text)
        expect(recomputeRewards(decoded.inputs)).toEqual(decoded.result)
        expect(encodeRewardFile(decoded.inputs, decoded.result)).toEqual({ text, hash })
        expect(hashFile(text)).toBe(hash)
      }),
    )
  })

  it.each([
    ['nothing', ''],
    ['JSON of another kind', '[]'],
    ['a later version', '{"version":3}'],
    ['of no version', '{"version":"2"}'],
    ['spaces', '{"version": 2}'],
    ['missing members', '{"version":2}'],
  ])('is refused where it is %s', (_what, text) => {
    expect(() => decodeRewardFile(text)).toThrow(RewardFileError)
  })

  it('of an earlier version is refused with a sentence that says why', () => {
    expect(() => decodeRewardFile('{"version":1}')).toThrow(
      'a reward file of version 1 is not read any more: it names no contract to be held against, and was written before files of version 2',
    )
  })

  const inputs = {
    ...{ terms: { ...termsOfDay }, facts: { balances: [], lots: [], sharePrices: [], rewardPrices: [] }, to: 10 },
    ...{ from: undefined, origin },
  }
  const told = JSON.parse(encodeRewardFile(inputs, recomputeRewards(inputs)).text)
  const change = (path: string, value: unknown) => {
    const file = structuredClone(told)
    const names = path.split('.')
    const holder = names.slice(0, -1).reduce((at, name) => at[name], file)
    holder[names.at(-1) ?? ''] = value
    return formatCanonical(file)
  }

  it.each([
    ['terms.startAt', '0'],
    ['terms.startAt', 0.5],
    ['terms.budget', 86_400],
    ['terms.strategy.type', 4],
    ['terms.streamId', null],
    ['to', 2 ** 53],
    ['from', {}],
    ['balances', [[1, 2, '3']]],
    ['balances', [[1, '0xaa', 3]]],
    ['lots', [[1, '0xaa', 'alpha']]],
    ['result.total', 0],
    ['result.wallets', [['0xaa', 1]]],
    ['origin.target.own', [7]],
    ['origin.target.chainId', '1'],
    ['origin.reward', {}],
    ['origin.reward.contract', null],
    ['origin.reward.factory', 1],
    ['origin.block.number', '7'],
    ['origin.block.hash', 7],
    ['origin.previous', undefined],
    ['origin.observations', ['3']],
    ['configuration', {}],
  ])('is refused where %s is %j', (path, value) => {
    expect(decodeRewardFile(formatCanonical(told)).inputs).toEqual(inputs)
    expect(() => decodeRewardFile(change(path, value))).toThrow(RewardFileError)
  })
})

describe('hashTerms', () => {
  it('changes with all that was agreed, and not with what a chain tells or with an increase of the budget', () => {
    const terms = { ...termsOfDay }
    const hash = hashTerms({ terms, origin })
    const others: Partial<FileOrigin>[] = [
      { target: { ...origin.target, own: [] } },
      { block: { number: 8, hash: '0xdd' } },
      { previous: '0x00' },
      { observations: [] },
    ]
    for (const other of others) expect(hashTerms({ terms, origin: { ...origin, ...other } })).toBe(hash)
    expect(hashTerms({ terms: { ...terms, increases: [{ at: 1, total: 2n }] }, origin })).toBe(hash)
    const changed: [Partial<StreamTerms>, Partial<FileOrigin>][] = [
      ...[{ startAt: 1 }, { endAt: null }, { budget: 1n }, { rewardDecimals: 6 }, { streamId: 'x' }].map(
        (each): [Partial<StreamTerms>, Partial<FileOrigin>] => [each, {}],
      ),
      [{ strategy: { type: 3, tokensPerDay: 1n } }, {}],
      [{ adapters: [{ type: 'blocklist', wallets: ['0xaa'] }] }, {}],
      [{}, { target: { ...origin.target, token: '0xab' } }],
      [{}, { reward: { chainId: 1, address: '0xcc', factory: '0xee', contract: '0xfe' } }],
      [{}, { reward: { chainId: 1, address: '0xcc', factory: '0xed', contract: '0xff' } }],
    ]
    for (const [of, from] of changed)
      expect(hashTerms({ terms: { ...terms, ...of }, origin: { ...origin, ...from } })).not.toBe(hash)
  })
})
