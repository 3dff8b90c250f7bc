import { toEventSelector } from 'viem'
import { expect, it } from 'vitest'
import { chainId, say, vault, who, zero } from '../../test/handChain.js'
import type { RawBlock } from '../rpc/raw.js'
import { createDerivation } from './derive.js'
import { type KnownHeld, listHeldKeys } from './holderKeys.js'
import { emptyState, freshHolderState, heldKey, holderKey, toHeld } from './rows.js'

const [stake, ann, bob] = ['57a4e', 'a1', 'b2'].map(who) as [string, string, string]
const withdrawn = toEventSelector('Withdrawn(address,uint256)')
const word = (value: string | bigint) =>
  `0x${(typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`

/** The derivation of a vault with a holder; `doubts`: when its view was found to contradict its events. */
const deriving = (doubts: readonly number[]) =>
  createDerivation({
    ...{ chainId, distributors: new Map(), signedOnly: new Map(), signers: new Set<string>(), entryPoints: [] },
    vaults: [
      {
        ...{ id: 1, address: vault, kind: 'erc4626', receiptToken: vault, asset: zero, assetDecimals: 6, escrow: null },
        ...{ startBlock: 1, activeFrom: 0, holders: [{ address: stake, kind: 'staking', from: 0 }] },
        doubts: doubts.map((at) => ({ holder: stake, at })),
      },
    ],
  })

/** Ann has ten shares in a holder that counts, and Bob some that only the database knows. */
function known(): KnownHeld {
  const state = emptyState()
  state.held.set(heldKey(1, stake, ann), toHeld(10n, ''))
  state.holderStates.set(holderKey(1, stake), { ...freshHolderState, phase: 'counting' })
  return { state, least: new Map() }
}

/** A block in which the holder sends shares, and says that they were an account's. */
function sending(number: number, amount: bigint, account: string, says = amount): RawBlock {
  const at = { blockNumber: number, transactionIndex: 0, transactionHash: word(BigInt(number)) }
  const told = { address: stake, topics: [withdrawn, word(account)], data: word(says) }
  return {
    ...{ number, hash: word(BigInt(number)), parentHash: word(BigInt(number - 1)), timestamp: number * 10 },
    logs: [say.move(stake, account, amount), told].map((each, logIndex) => ({ ...at, ...each, logIndex })),
    transactions: [
      { blockNumber: number, transactionIndex: 0, hash: at.transactionHash, from: account, to: stake, input: '0x' },
    ],
  }
}

/** Blocks after which the accounts of the holder must all be known, by number. */
function doubtfulOf(blocks: readonly RawBlock[], doubts: readonly number[] = []): number[] {
  const before = known()
  const derivation = deriving(doubts)
  return blocks.flatMap((block) =>
    listHeldKeys(block, derivation, before).doubtful.has(holderKey(1, stake)) ? [block.number] : [],
  )
}

it.each([
  ['all that the account has leaves', [sending(1, 10n, ann)], []],
  ['less than what it has leaves, twice', [sending(1, 4n, ann), sending(2, 6n, ann)], []],
  ['the event names an account that has less', [sending(1, 11n, ann)], [1]],
  ['the event names an account of which nothing is known', [sending(1, 1n, bob)], [1]],
  ['an earlier block left the account less than what leaves', [sending(1, 4n, ann), sending(2, 7n, ann)], [2]],
  ['an earlier event said more than left', [sending(1, 1n, ann, 9n), sending(2, 2n, ann)], [2]],
  ['the event says less than what leaves', [sending(1, 5n, ann, 4n)], [1]],
])('all accounts of a holder are loaded wherever it may break: %s', (_, blocks, doubtful) => {
  expect(doubtfulOf(blocks)).toEqual(doubtful)
})

it('all accounts of a holder are loaded for each block in a later second than its view was doubted at', () => {
  const blocks = [sending(1, 1n, ann), sending(2, 1n, ann), sending(3, 1n, ann)]
  expect(doubtfulOf(blocks, [20])).toEqual([3])
})
