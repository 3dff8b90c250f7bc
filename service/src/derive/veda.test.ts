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
function deposit(chain: Chain, amount: bigint, nonce: bigint, code: string, { token = asset, lock = 60n } = {}) {
  return chain.mine({
    from: ann,
    to: teller,
    input: `0x0efe6a8b${token.slice(2).padStart(64, '0')}${word(amount)}${word(0n)}${codes(code)}`,
    logs: [
      moved(zero, ann, amount),
      told(
        teller,
        'event Deposit(uint256 indexed nonce, address indexed receiver, address indexed depositAsset, uint256 depositAmount, uint256 shareAmount, uint256 depositTimestamp, uint256 shareLockPeriodAtTimeOfDeposit)',
        {
          ...{ nonce, receiver: ann, depositAsset: token, depositAmount: amount, shareAmount: amount },
          ...{ depositTimestamp: 1n, shareLockPeriodAtTimeOfDeposit: lock },
        },
      ),
    ],
  })
}

function refund(chain: Chain, amount: bigint, nonce: bigint, { token = asset, code = 'gamma' } = {}) {
  return chain.mine({
    from: bob,
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
})
