import { describe, expect, it } from 'vitest'
import type { BalanceChange, LotChange } from '../../derive/rows.js'
import { findChanges, type MetricsVault } from './changes.js'

const block = { number: 9, timestamp: 1_700_000_000 }
const ann = 'ann'
const at = { blockNumber: 9, transactionIndex: 0, timestamp: block.timestamp }
const lot = (before: bigint, after: bigint, more: Partial<LotChange> = {}): LotChange => ({
  ...{ ...at, vaultId: 1, wallet: ann, distributorId: 'd', before, after },
  ...more,
})
const balance = (before: bigint, after: bigint, more: Partial<BalanceChange> = {}): BalanceChange => ({
  ...{ ...at, vaultId: 1, wallet: ann, before, after, attributedBefore: 0n, attributedAfter: 0n },
  ...more,
})
const vault = (levels: bigint[], excluded?: string): MetricsVault => ({
  levels,
  isExcluded: (name) => name === excluded,
})
const find = (
  rows: { lotChanges?: LotChange[]; balanceChanges?: BalanceChange[] },
  of: MetricsVault | undefined = vault([10n]),
) => findChanges(block, { lotChanges: [], balanceChanges: [], ...rows }, new Map(of ? [[1, of]] : []))
const crossing = (distributorId: string, change: number, level = 0) => ({
  ...{ vaultId: 1, distributorId, wallet: ann, level, change },
})

describe('the changes of a block', () => {
  it('are of that block, and there is no change in a block without rows', () => {
    expect(findChanges(block, undefined, new Map())).toEqual({
      ...{ blockNumber: 9, timestamp: block.timestamp, moves: [], crossings: [] },
    })
  })

  it('move the lots of a distributor in a vault by the sum over its wallets', () => {
    const lotChanges = [
      lot(0n, 7n),
      lot(5n, 2n, { wallet: 'bob' }),
      lot(0n, 1n, { distributorId: 'e' }),
      lot(0n, 3n, { vaultId: 2 }),
    ]
    expect(find({ lotChanges }).moves).toEqual([
      { vaultId: 1, distributorId: 'd', delta: 4n },
      { vaultId: 1, distributorId: 'e', delta: 1n },
      { vaultId: 2, distributorId: 'd', delta: 3n },
    ])
  })
})

describe('a wallet', () => {
  it('becomes a holder at the floor itself, and is none below it', () => {
    expect(find({ lotChanges: [lot(9n, 10n)] }).crossings).toEqual([crossing('d', 1)])
    expect(find({ lotChanges: [lot(10n, 9n)] }).crossings).toEqual([crossing('d', -1)])
    expect(find({ lotChanges: [lot(0n, 9n)] }).crossings).toEqual([])
    expect(find({ lotChanges: [lot(10n, 11n)] }).crossings).toEqual([])
  })

  it('that was at the floor only within the block is told as one that has been there', () => {
    expect(find({ lotChanges: [lot(0n, 10n), lot(10n, 0n)] }).crossings).toEqual([crossing('d', 0)])
    expect(find({ lotChanges: [lot(0n, 12n), lot(12n, 11n), lot(11n, 0n)] }).crossings).toEqual([crossing('d', 0)])
    expect(find({ lotChanges: [lot(0n, 9n), lot(9n, 0n)] }).crossings).toEqual([])
  })

  it('that left the floor and came back within the block crossed nothing', () => {
    expect(find({ lotChanges: [lot(10n, 0n), lot(0n, 10n)] }).crossings).toEqual([])
  })

  it('crosses each floor of a vault by itself', () => {
    expect(find({ lotChanges: [lot(0n, 15n)] }, vault([10n, 15n, 16n])).crossings).toEqual([
      crossing('d', 1, 0),
      crossing('d', 1, 1),
    ])
  })

  it('is counted among all holders by its balance, and among those of any distributor by what is attributed of it', () => {
    const change = balance(0n, 30n, { attributedBefore: 20n, attributedAfter: 5n })
    expect(find({ balanceChanges: [change] }).crossings).toEqual([crossing('', 1), crossing('*', -1)])
  })

  it('that holds for others is not counted, nor one in a vault that has no metrics', () => {
    expect(find({ lotChanges: [lot(0n, 10n)] }, vault([10n], ann)).crossings).toEqual([])
    expect(find({ lotChanges: [lot(0n, 10n)], balanceChanges: [] }, vault([10n], 'bob')).crossings).toHaveLength(1)
    expect(findChanges(block, { lotChanges: [lot(0n, 10n)], balanceChanges: [] }, new Map()).crossings).toEqual([])
  })

  it('is followed apart from others, for each distributor and in each vault', () => {
    const lotChanges = [
      lot(0n, 10n),
      lot(0n, 10n, { wallet: 'bob' }),
      lot(0n, 10n, { distributorId: 'e' }),
      lot(10n, 0n, { vaultId: 2 }),
    ]
    const vaults = new Map([1, 2].map((id) => [id, vault([10n])]))
    expect(findChanges(block, { lotChanges, balanceChanges: [] }, vaults).crossings).toMatchObject([
      { wallet: ann, distributorId: 'd', change: 1 },
      { wallet: 'bob', distributorId: 'd', change: 1 },
      { wallet: ann, distributorId: 'e', change: 1 },
      { wallet: ann, vaultId: 2, change: -1 },
    ])
  })
})
