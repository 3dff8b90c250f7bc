import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runAtOnce } from '../../../kernel/async/inSlices.js'
import type { CatalogueRows, IncentiveRow, OpportunityRow } from '../records.js'
import { buildSnapshot, type CatalogueSnapshot, joinRows } from './snapshot.js'

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const address = (number: number) => `0x${String(number).padStart(40, '0')}`

/** What a catalogue of these rows differs in from another: small numbers, so that two often agree. */
const world = fc.record({
  symbols: fc.array(fc.constantFrom('USDC', 'DAI'), { minLength: 2, maxLength: 2 }),
  curators: fc.array(fc.constantFrom('Acme', 'Borg'), { minLength: 2, maxLength: 2 }),
  tags: fc.uniqueArray(fc.constantFrom('stable', 'ether'), { minLength: 1 }),
  chainActive: fc.boolean(),
  shows: fc.uniqueArray(fc.integer({ min: 0, max: 5 })),
  opportunities: fc.uniqueArray(
    fc.record({
      number: fc.integer({ min: 0, max: 5 }),
      name: fc.constantFrom('Prime', 'Core'),
      tokens: fc.uniqueArray(fc.integer({ min: 0, max: 1 })),
      curator: fc.integer({ min: 0, max: 1 }),
      tagged: fc.boolean(),
      inProduct: fc.boolean(),
      aprs: fc.array(fc.constantFrom('1', '2.5', null), { maxLength: 2 }),
      tvlUsd: fc.constantFrom('7', null),
      closed: fc.boolean(),
      active: fc.boolean(),
    }),
    { selector: ({ number }) => number, maxLength: 6 },
  ),
})
type World = typeof world extends fc.Arbitrary<infer W> ? W : never

/** Rows as a read makes them: every one a new object. */
function toRows(made: World, version: number): CatalogueRows {
  const at = () => new Date('2026-11-20T12:00:00Z')
  const opportunities = made.opportunities
    .toSorted((a, b) => a.number - b.number)
    .map((one) => ({
      ...{ id: id(one.number), slug: `s${one.number}`, name: one.name, description: '', type: 'vault' },
      ...{ chainId: 1, vaultAddress: address(one.number + 10), curatorId: id(100 + one.curator) },
      ...{ minDepositAmountUsd: '0', minWithdrawAmount: '0', featured: false, active: one.active },
      ...{ depositEnabled: true, withdrawEnabled: true, depositDisabledReason: '', withdrawDisabledReason: '' },
      ...{ directInteractionEnabled: true, routedSwapEnabled: false, isSecondaryMarket: false },
      ...{ tvlUsd: one.tvlUsd, deltas: { tvl: { current: 1, d1: null, d7: null, d30: null } }, indexedApr: null },
      ...{ streamAprs: {}, analyticsAt: at() },
      capability: {
        ...{ depositOpen: !one.closed, withdrawOpen: true, depositClosedReason: one.closed ? 'Full.' : '' },
        ...{ withdrawClosedReason: '', depositAtOnce: false, withdrawAtOnce: false, capabilityAt: at() },
      },
      tokenKeys: one.tokens.map((token) => `1:${address(token)}`).join(' '),
      tagIds: one.tagged ? made.tags.map((_, index) => id(200 + index)).join(' ') : '',
      productIds: one.inProduct ? id(300) : '',
      ...{ providerList: `${id(100)} ${id(101)}`, partnerList: '', lendingProtocolList: id(101) },
    }))
  const rows = {
    ...{ version, liveVersion: 1 },
    chains: [{ chainId: 1, name: 'One', slug: 'one', active: made.chainActive }],
    tokens: made.symbols.map((symbol, index) => ({ chainId: 1, address: address(index), symbol, active: true })),
    organizations: made.curators.map((name, index) => ({ id: id(100 + index), name })),
    distributors: [{ id: 'shop', organizationId: id(100), name: '', activeFrom: at(), signedOnly: false }],
    protocols: [],
    products: [{ id: id(300), name: 'Savings', organizationId: null }],
    tags: made.tags.map((code, index) => ({ id: id(200 + index), code })),
    vaults: Array.from({ length: 6 }, (_, number) => ({
      ...{ chainId: 1, address: address(number + 10), kind: 'erc4626', asset: address(0), assetDecimals: 6 },
      ...{ receiptToken: address(number + 20), receiptDecimals: 18, activeFrom: at(), contracts: {} },
    })),
    opportunities: opportunities as OpportunityRow[],
    incentives: made.opportunities.flatMap(({ number, aprs }) =>
      aprs.map((apr, position) => {
        const one = { id: id(1_000 + number * 10 + position), opportunityId: id(number), position, apr }
        return { ...one, rewardType: 'tokens', indexed: false, active: true } as IncentiveRow
      }),
    ),
    distributorOpportunities: made.shows.map((number) => ({ distributorId: 'shop', opportunityId: id(number) })),
    distributorProducts: [{ distributorId: 'shop', productId: id(300) }],
    signers: [{ address: address(900), from: at(), to: null }],
  }
  return rows as unknown as CatalogueRows
}

/** All that a snapshot says, without whose objects it is made of. */
const said = ({ content: _content, ...snapshot }: CatalogueSnapshot) => snapshot

describe('a snapshot joined beside the one before', () => {
  it('says what one joined alone says, whatever changed in between', () => {
    fc.assert(
      fc.property(world, world, (before, after) => {
        const next = runAtOnce(joinRows(toRows(after, 2), buildSnapshot(toRows(before, 1))))
        expect(said(next)).toEqual(said(buildSnapshot(toRows(after, 2))))
      }),
    )
  })

  it('is of the same objects where the rows say the same, and only there of the same content', () => {
    fc.assert(
      fc.property(world, world, (before, after) => {
        const previous = buildSnapshot(toRows(before, 1))
        const same = runAtOnce(joinRows(toRows(before, 2), previous))
        expect(same).toEqual({ ...previous, version: 2 })
        expect(same.content).toBe(previous.content)
        for (const [key, record] of same.opportunities) expect(record).toBe(previous.opportunities.get(key))
        const next = runAtOnce(joinRows(toRows(after, 2), previous))
        const { version: _before, ...old } = said(previous)
        const { version: _after, ...made } = said(next)
        let isAlike = true
        try {
          expect(made).toEqual(old)
        } catch {
          isAlike = false
        }
        expect(next.content === previous.content).toBe(isAlike)
      }),
    )
  })

  it('makes anew only the opportunity whose row changed', () => {
    const [first] = fc.sample(world, 1)
    const made = { ...first, opportunities: fc.sample(world, 50).flatMap((one) => one.opportunities) } as World
    const distinct = [...new Map(made.opportunities.map((one) => [one.number, one])).values()]
    const [one, ...others] = distinct
    if (!one || others.length === 0) throw new Error('nothing was drawn')
    const previous = buildSnapshot(toRows({ ...made, opportunities: distinct }, 1))
    const changed = [{ ...one, closed: !one.closed }, ...others]
    const next = runAtOnce(joinRows(toRows({ ...made, opportunities: changed }, 2), previous))
    for (const [key, record] of next.opportunities)
      expect(record === previous.opportunities.get(key)).toBe(key !== id(one.number))
    expect(next.content).not.toBe(previous.content)
    expect(next.opportunities.get(id(one.number))?.capability?.depositOpen).toBe(one.closed)
    expect(next.tokens).toBe(previous.tokens)
    expect(next.vaults).toBe(previous.vaults)
  })
})
