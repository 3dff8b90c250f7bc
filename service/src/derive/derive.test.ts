import fc from 'fast-check'
import { zeroAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { times } from '../../test/seed.js'
import { topics } from '../../test/topics.js'
import type { RawBlock, RawLog, RawTransaction } from '../rpc/raw.js'
import type { DeriveConfig } from './config.js'
import { createDerivation, derive } from './derive.js'
import { type DeriveState, emptyState, holderKey } from './rows.js'

const vault = `0x${'cc'.repeat(20)}`
const wallets = Array.from({ length: 8 }, (_, index) => `0x${`a${index}`.repeat(20)}`)
const codes = ['alpha', 'beta']
const config: DeriveConfig = {
  chainId: 1,
  vaults: [
    {
      id: 1,
      address: vault,
      kind: 'erc4626',
      receiptToken: vault,
      asset: vault,
      assetDecimals: 6,
      escrow: null,
      startBlock: 0,
      activeFrom: 0,
    },
  ],
  distributors: new Map(codes.map((code) => [code, 0])),
  signedOnly: new Map(),
  signers: new Set(),
  entryPoints: [],
}
const derivation = createDerivation(config)
const pad = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const suffix = (code: string) =>
  `${Buffer.from(code).toString('hex')}${code.length.toString(16).padStart(2, '0')}0080218021802180218021802180218021`

type Act = { wallet: string; kind: 'deposit' | 'withdraw'; amount: bigint; code: string | null }

function toBlock(acts: readonly Act[], number = 1): RawBlock {
  const logs: RawLog[] = []
  const transactions: RawTransaction[] = []
  acts.forEach(({ wallet, kind, amount, code }, transactionIndex) => {
    const transactionHash = `0x${pad(BigInt(number * 1_000) + BigInt(wallets.indexOf(wallet)))}`
    const place = { blockNumber: number, transactionIndex, transactionHash, address: vault }
    const [from, to] = kind === 'deposit' ? [zeroAddress, wallet] : [wallet, zeroAddress]
    const add = (first: string, indexed: string[], data: string) =>
      logs.push({
        ...place,
        logIndex: logs.length,
        topics: [first, ...indexed.map((each) => `0x${pad(each)}`)],
        data: `0x${data}`,
      })
    add(topics.transfer, [from, to], pad(amount))
    if (kind === 'deposit') add(topics.deposit, [wallet, wallet], pad(amount) + pad(amount))
    else add(topics.withdraw, [wallet, wallet, wallet], pad(amount) + pad(amount))
    const input = `0x6e553f65${pad(amount)}${pad(wallet)}${code === null ? '' : suffix(code)}`
    transactions.push({ blockNumber: number, transactionIndex, hash: transactionHash, from: wallet, to: vault, input })
  })
  return { number, hash: `0x${pad(BigInt(number))}`, parentHash: '0x', timestamp: number, logs, transactions }
}

const show = (state: DeriveState) =>
  [...state.holders]
    .map(
      ([key, { shares, lots }]) =>
        `${key} ${shares} ${[...lots]
          .filter(([, lot]) => lot > 0n)
          .sort()
          .join(' ')}`,
    )
    .sort()

describe('derive', () => {
  it('credits a deposit and takes a withdrawal from all lots in proportion, as counted by hand', () => {
    const state = emptyState()
    const [a = ''] = wallets
    derive(toBlock([{ wallet: a, kind: 'deposit', amount: 600n, code: 'alpha' }]), derivation, state)
    derive(toBlock([{ wallet: a, kind: 'deposit', amount: 300n, code: null }], 2), derivation, state)
    derive(toBlock([{ wallet: a, kind: 'deposit', amount: 100n, code: 'beta' }], 3), derivation, state)
    const rows = derive(toBlock([{ wallet: a, kind: 'withdraw', amount: 190n, code: 'beta' }], 4), derivation, state)
    // 190 of 1,000: 114 of alpha, 19 of beta, 57 of what is unattributed.
    expect(state.holders.get(holderKey(1, a))).toMatchObject({ shares: 810n, attributed: 567n })
    expect(Object.fromEntries(state.holders.get(holderKey(1, a))?.lots ?? [])).toEqual({ alpha: 486n, beta: 81n })
    expect(rows.interactions).toMatchObject([
      { kind: 'withdraw', distributorId: 'beta', assets: 190n, attribution: 'unsigned' },
    ])
    expect(rows.balanceChanges).toMatchObject([
      { before: 1_000n, after: 810n, attributedBefore: 700n, attributedAfter: 567n },
    ])
  })

  it('gives the same rows for the same block, configuration and state', () => {
    const block = toBlock(wallets.map((wallet) => ({ wallet, kind: 'deposit' as const, amount: 5n, code: 'alpha' })))
    expect(derive(block, derivation, emptyState())).toEqual(derive(block, derivation, emptyState()))
  })

  it(
    'does not depend on the order of different wallets in a block, and its balances add up to what was minted',
    () => {
      const act = (wallet: string) =>
        fc.record({
          wallet: fc.constant(wallet),
          kind: fc.constantFrom('deposit', 'withdraw'),
          amount: fc.bigInt({ min: 1n, max: 1_000n }),
          code: fc.constantFrom(null, ...codes),
        })
      const block = fc.tuple(...wallets.map(act))
      fc.assert(
        fc.property(
          fc.array(fc.tuple(block, fc.array(fc.nat(), { minLength: 8, maxLength: 8 })), { minLength: 1, maxLength: 6 }),
          (blocks) => {
            const [plain, shuffled] = [emptyState(), emptyState()]
            let supply = 0n
            blocks.forEach(([acts, order], index) => {
              // Nobody withdraws more than they have.
              const able = (acts as Act[]).filter(
                ({ wallet, kind, amount }) =>
                  kind === 'deposit' || (plain.holders.get(holderKey(1, wallet))?.shares ?? 0n) >= amount,
              )
              const mixed = able.map((one, i) => ({ one, rank: order[i] ?? 0 })).sort((a, b) => a.rank - b.rank)
              for (const { kind, amount } of able) supply += kind === 'deposit' ? amount : -amount
              derive(toBlock(able, index + 1), derivation, plain)
              derive(
                toBlock(
                  mixed.map(({ one }) => one),
                  index + 1,
                ),
                derivation,
                shuffled,
              )
            })
            expect(show(shuffled)).toEqual(show(plain))
            expect([...plain.holders.values()].reduce((sum, { shares }) => sum + shares, 0n)).toBe(supply)
          },
        ),
        { numRuns: 40 * times },
      )
    },
    20_000 * times,
  )
})
