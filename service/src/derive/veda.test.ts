import type { Address } from 'viem'
import { describe, expect, it } from 'vitest'
import { ann, asset, bob, codes, entries, openHandChain, who, zero } from '../../test/handChain.js'
import { moved, places, told } from '../../test/kinds/fixture.js'

const [teller, accountant, queue] = [who('7e11e4'), who('acc0'), who('90e0e')]

const open = () => {
  const { vault: address } = places
  const vault = { id: 1, address, kind: 'veda', receiptToken: address, asset, assetDecimals: 6, escrow: null }
  return openHandChain({
    vaults: [{ ...vault, startBlock: 0, activeFrom: 0, contracts: { teller, accountant, queue } }],
  })
}
type Chain = ReturnType<typeof open>

const word = (value: bigint) => value.toString(16).padStart(64, '0')
/** One share for one of the asset. */
function deposit(
  chain: Chain,
  amount: bigint,
  nonce: bigint,
  code: string,
  { token = asset, lock = 60n, at = 1, by = ann } = {},
) {
  return chain.mine({
    ...{ from: by, timestamp: at },
    to: teller,
    input: `0x0efe6a8b${token.slice(2).padStart(64, '0')}${word(amount)}${word(0n)}${codes(code)}`,
    logs: [
      moved(zero, by, amount),
      told(
        teller,
        'event Deposit(uint256 indexed nonce, address indexed receiver, address indexed depositAsset, uint256 depositAmount, uint256 shareAmount, uint256 depositTimestamp, uint256 shareLockPeriodAtTimeOfDeposit)',
        {
          ...{ nonce, receiver: by, depositAsset: token, depositAmount: amount, shareAmount: amount },
          ...{ depositTimestamp: BigInt(at), shareLockPeriodAtTimeOfDeposit: lock },
        },
      ),
    ],
  })
}

function refund(chain: Chain, amount: bigint, nonce: bigint, { token = asset, code = 'gamma', at = 1 } = {}) {
  return chain.mine({
    ...{ from: bob, timestamp: at },
    to: teller,
    input: `0x46b563f4${codes(code)}`,
    logs: [
      moved(ann, zero, amount),
      told(
        places.vault,
        'event Exit(address indexed to, address indexed asset, uint256 amount, address indexed from, uint256 shares)',
        { to: ann, asset: token, amount, from: ann, shares: amount },
      ),
      told(teller, 'event DepositRefunded(uint256 indexed nonce, bytes32 depositHash, address indexed user)', {
        ...{ nonce, depositHash: `0x${word(1n)}`, user: ann },
      }),
    ],
  })
}

const lots = (rows: ReturnType<typeof deposit>) =>
  rows.lotChanges.map(({ distributorId, after }) => `${distributorId}=${after}`)

describe('a deposit at a teller of Veda that is given back', () => {
  it('is a withdrawal of its own distributor, whose lots go first, whoever brings the call that gives it back', () => {
    const chain = open()
    deposit(chain, 60n, 1n, 'alpha')
    deposit(chain, 40n, 2n, 'beta')
    const rows = refund(chain, 40n, 2n)
    expect(entries(rows).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(['withdraw beta'])
    expect(rows.interactions.map(({ assets, shares }) => [assets, shares])).toEqual([[40n, 40n]])
    expect(lots(rows)).toEqual(['beta=0'])
  })

  it('is given back once: a second time, and one that nobody saw, are no entry, and take from all lots', () => {
    const chain = open()
    deposit(chain, 60n, 1n, 'alpha')
    deposit(chain, 40n, 2n, 'beta')
    refund(chain, 20n, 2n)
    for (const nonce of [2n, 7n]) {
      const rows = refund(chain, 8n, nonce)
      expect(rows.interactions).toEqual([])
      expect(lots(rows)).toHaveLength(2)
    }
  })

  it('leaves no entry where it brought another token, and ends its lots', () => {
    const chain = open()
    const token: Address = who('70')
    deposit(chain, 60n, 1n, 'alpha')
    deposit(chain, 40n, 2n, 'beta', { token })
    const rows = refund(chain, 40n, 2n, { token })
    expect(rows.interactions).toEqual([])
    expect(lots(rows)).toEqual(['beta=0'])
  })

  it('cannot be where the teller locked nothing: nothing is kept of such a deposit', () => {
    const chain = open()
    expect(deposit(chain, 60n, 1n, 'alpha', { lock: 0n }).requests).toEqual([])
    expect(deposit(chain, 60n, 2n, 'alpha').requests).toMatchObject([{ kind: 'refund', requestId: 2n, counted: 60n }])
  })

  it('can be in the last second of its lock, and in none after it: then its shares are of all lots', () => {
    for (const [at, told] of [
      [1_060, ['withdraw beta']],
      [1_061, []],
    ] as const) {
      const chain = open()
      deposit(chain, 60n, 1n, 'alpha', { lock: 10_000n, at: 1_000 })
      deposit(chain, 40n, 2n, 'beta', { at: 1_000 })
      const rows = refund(chain, 40n, 2n, { at })
      expect(entries(rows).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(told)
      expect(lots(rows)).toHaveLength(told.length === 1 ? 1 : 2)
    }
  })

  it('is forgotten when its time has run out, whoever made it and whatever time the teller gives', () => {
    const chain = open()
    const locks = [60n, 300n, 10n]
    for (let made = 0; made < 300; made += 1) {
      const lock = locks[made % 3] ?? 0n
      const by = made % 2 === 0 ? ann : who((0xb000 + made).toString(16))
      deposit(chain, 5n, BigInt(made), 'alpha', { lock, by, at: 1_000 + made * 10 })
      // Of every third deposit a lock of 300 s, and one comes every 10 s.
      expect(chain.countRequests().open).toBeLessThanOrEqual(16)
    }
    expect(chain.countRequests().open).toBeGreaterThan(10)
    chain.mine({ from: bob, to: bob, input: '0x', logs: [], timestamp: 1_000 + 299 * 10 + 301 })
    expect(chain.countRequests()).toEqual({ controllers: 0, open: 0, closing: 0 })
  })

  it('is forgotten alone: what else its owner may be given back stays, and can be given back', () => {
    const chain = open()
    deposit(chain, 60n, 1n, 'alpha', { lock: 600n, at: 1_000 })
    deposit(chain, 40n, 2n, 'beta', { at: 1_000 })
    expect(refund(chain, 40n, 2n, { at: 1_061 }).interactions).toEqual([])
    expect(entries(refund(chain, 60n, 1n, { at: 1_600 }))).toHaveLength(1)
  })
})

const requestId = `0x${word(7n)}`

/** All shares of a wallet go into the queue. */
function ask(chain: Chain, shares: bigint) {
  return chain.mine({
    ...{ from: ann, to: queue, input: '0x' },
    logs: [
      moved(ann, queue, shares),
      told(
        queue,
        'event OnChainWithdrawRequested(bytes32 indexed requestId, address indexed user, address indexed assetOut, uint96 nonce, uint128 amountOfShares, uint128 amountOfAssets, uint40 creationTime, uint24 secondsToMaturity, uint24 secondsToDeadline)',
        {
          ...{ requestId, user: ann, assetOut: asset, nonce: 7n, amountOfShares: shares, amountOfAssets: shares },
          ...{ creationTime: 1, secondsToMaturity: 0, secondsToDeadline: 9 },
        },
      ),
    ],
  })
}

describe('a request at a queue of Veda that is taken back', () => {
  it('gives each lot what it gave; where the wallet sends some of it on at once, the rest is of all lots in proportion', () => {
    for (const [sent, left] of [
      [0n, { alpha: 60n, beta: 30n, free: 10n }],
      [50n, { alpha: 30n, beta: 15n, free: 5n }],
    ] as const) {
      const chain = open()
      for (const [amount, code] of [
        [60n, 'alpha'],
        [30n, 'beta'],
        [10n, ''],
      ] as const)
        deposit(chain, amount, amount, code, { lock: 0n })
      ask(chain, 100n)
      expect(chain.lots(ann, places.vault)).toEqual({})
      chain.mine({
        ...{ from: ann, to: queue, input: '0x' },
        logs: [
          moved(queue, ann, 100n),
          told(
            queue,
            'event OnChainWithdrawCancelled(bytes32 indexed requestId, address indexed user, uint256 timestamp)',
            { requestId, user: ann, timestamp: 1n },
          ),
          ...(sent > 0n ? [moved(ann, bob, sent)] : []),
        ],
      })
      expect(chain.lots(ann, places.vault)).toEqual(left)
    }
  })
})
