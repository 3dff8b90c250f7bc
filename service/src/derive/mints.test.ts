import { zeroAddress } from 'viem'
import { expect, it } from 'vitest'
import { topics } from '../../test/topics.js'
import type { RawBlock, RawLog } from '../rpc/raw.js'
import { createDerivation, derive as deriveRows, rederiveEventParts } from './derive.js'
import { emptyState } from './rows.js'

const [vault, ann, bob] = ['cc', 'a1', 'b2'].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string]
/** The mints of a block, derived as it comes; the same must follow when it is derived again without a state. */
function derive(logs: readonly Emitted[], kind = 'erc4626') {
  const block = toBlock(logs)
  const derivation = createDerivation({
    ...{ chainId: 1, distributors: new Map(), signedOnly: new Map(), signers: new Set(), entryPoints: [] },
    vaults: [
      {
        ...{ id: 7, address: vault, kind, receiptToken: vault, asset: `0x${'ee'.repeat(20)}`, assetDecimals: 6 },
        ...{ escrow: null, startBlock: 0, activeFrom: 0 },
      },
    ],
  })
  const { shareMints } = deriveRows(block, derivation, emptyState())
  const again = rederiveEventParts(
    block,
    derivation,
    () => ({ opened: [], changed: [] }),
    () => emptyState(),
  )
  expect(again.shareMints).toEqual(shareMints)
  return shareMints.map(({ logIndex, shares, assets }) => [logIndex, shares, assets])
}

type Emitted = { transaction: number; topics: string[]; data: string }
const pad = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')

const moved = (transaction: number, from: string, to: string, amount: bigint): Emitted => ({
  ...{ transaction, topics: [topics.transfer, `0x${pad(from)}`, `0x${pad(to)}`], data: `0x${pad(amount)}` },
})
const deposited = (transaction: number, owner: string, assets: bigint, shares: bigint): Emitted => ({
  ...{ transaction, topics: [topics.deposit, `0x${pad(owner)}`, `0x${pad(owner)}`] },
  data: `0x${pad(assets)}${pad(shares)}`,
})

function toBlock(logs: readonly Emitted[]): RawBlock {
  const raw = logs.map(
    ({ transaction, ...log }, logIndex): RawLog => ({
      ...{ ...log, logIndex, address: vault, blockNumber: 9, transactionIndex: transaction },
      transactionHash: `0x${pad(BigInt(transaction))}`,
    }),
  )
  return { number: 9, hash: `0x${'99'.repeat(32)}`, timestamp: 900, logs: raw, transactions: [] } as unknown as RawBlock
}

it('is a row for each deposit, and one for what a transaction minted beyond its deposits', () => {
  const logs = [
    moved(0, zeroAddress, ann, 1_000n),
    deposited(0, ann, 1_050n, 1_000n),
    moved(0, zeroAddress, bob, 3n),
    moved(1, zeroAddress, bob, 20n),
    deposited(1, bob, 21n, 20n),
    moved(1, zeroAddress, bob, 10n),
    deposited(1, bob, 11n, 10n),
  ]
  expect(derive(logs)).toEqual([
    [1, 1_000n, 1_050n],
    [2, 3n, null],
    [4, 20n, 21n],
    [6, 10n, 11n],
  ])
})

it('is without a price for a lone mint, a claim, and a deposit too small to name a price', () => {
  expect(derive([moved(0, zeroAddress, vault, 500n)])).toEqual([[0, 500n, null]])
  expect(derive([moved(0, zeroAddress, ann, 500n), deposited(0, ann, 600n, 500n)], 'erc7540')).toEqual([
    [0, 500n, null],
  ])
  expect(derive([moved(0, zeroAddress, ann, 1n), deposited(0, ann, 9n, 1n)])).toEqual([[0, 1n, null]])
})

it('is nothing for shares that move or burn, nor of a plain token', () => {
  expect(derive([moved(0, zeroAddress, ann, 500n)], 'erc20')).toEqual([])
  expect(
    derive([moved(0, ann, bob, 5n), moved(1, ann, zeroAddress, 5n), moved(2, zeroAddress, zeroAddress, 5n)]),
  ).toEqual([])
})
