import type { Address } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  ann,
  asynchronous,
  bob,
  call,
  cat,
  codes,
  entries,
  openHandChain,
  say,
  signedBy,
  silo,
  zero,
} from '../../test/handChain.js'

type Chain = ReturnType<typeof openHandChain>
type Wallet = typeof ann
const suffix = (code?: string) => (code === undefined ? '' : codes(code))

const ask = (chain: Chain, wallet: Wallet, assets: bigint, code?: string, id = 0n) =>
  chain.mine({
    from: wallet,
    to: asynchronous,
    input: `${call.requestDeposit(assets, wallet, wallet)}${suffix(code)}`,
    logs: [say.requestDeposit(wallet, wallet, wallet, assets, id)],
  })
/** Claims for a controller: the vault hands out the shares it was settled with. */
const claim = (
  chain: Chain,
  controller: Wallet,
  [assets, shares]: [bigint, bigint],
  more: { from?: Wallet; to?: Wallet; code?: string } = {},
) => {
  const { from = controller, to = controller, code } = more
  return chain.mine({
    from,
    to: asynchronous,
    input: `${call.claim(assets, to, controller)}${suffix(code)}`,
    logs: [say.deposit(controller, to, assets, shares, asynchronous), say.move(silo, to, shares, asynchronous)],
  })
}
/** A claim that a wallet with code sends itself, and that names nobody. */
const claimOfAccount = (chain: Chain, account: Wallet, contracts: readonly Wallet[]) =>
  chain.mine({
    ...{ from: account, to: asynchronous, input: call.claim(10n, account, account), contracts },
    logs: [say.deposit(account, account, 10n, 9n, asynchronous), say.move(silo, account, 9n, asynchronous)],
  })
const tell = (chain: Chain, ...logs: ReturnType<typeof say.cancelDeposit>[]) =>
  chain.mine({ from: ann, to: asynchronous, input: '0xcace1000', logs })
/** A redeem request: the shares leave for the silo. */
const leave = (
  chain: Chain,
  owner: Wallet,
  shares: bigint,
  code?: string,
  sender: Wallet = owner,
  to: Address = silo,
) =>
  chain.mine({
    from: sender,
    to: asynchronous,
    input: `${call.requestRedeem(shares, owner, owner)}${suffix(code)}`,
    logs: [say.move(owner, to, shares, asynchronous), say.requestRedeem(owner, owner, sender, shares)],
  })
const collect = (chain: Chain, controller: Wallet, [assets, shares]: [bigint, bigint], code?: string) =>
  chain.mine({
    from: controller,
    to: asynchronous,
    input: `${call.redeem(shares, controller, controller)}${suffix(code)}`,
    logs: [
      say.move(silo, zero, shares, asynchronous),
      say.withdraw(controller, controller, assets, shares, asynchronous),
    ],
  })

describe('a deposit request', () => {
  it('is pending and nothing else, credited to the code of its own transaction, an operator’s too', () => {
    const chain = openHandChain()
    const rows = chain.mine({
      from: bob,
      to: asynchronous,
      input: `${call.requestDeposit(60n, ann, ann)}${codes('alpha')}`,
      logs: [say.requestDeposit(ann, ann, bob, 60n)],
    })
    expect([rows.interactions, rows.balanceChanges, rows.lotChanges]).toEqual([[], [], []])
    expect(chain.open(ann)).toEqual(['alpha 60'])
    expect(chain.open(bob)).toEqual([])
  })

  it('of a distributor that wants signatures, without one, is nobody’s, and so is its claim', () => {
    const chain = openHandChain({ signedOnly: new Map([['alpha', [{ from: 0, signedOnly: true }]]]) })
    ask(chain, ann, 60n, 'alpha')
    expect(chain.open(ann)).toEqual(['nobody 60'])
    expect(entries(claim(chain, ann, [60n, 55n]))).toEqual([])
    expect(chain.lots(ann, asynchronous)).toEqual({ free: 55n })
  })
})

describe('a claim', () => {
  it('consumes the oldest requests first, in parts, one entry a distributor, shares in the same proportion', () => {
    const chain = openHandChain()
    ask(chain, ann, 50n, 'alpha')
    ask(chain, ann, 30n, 'beta')
    ask(chain, ann, 40n, 'alpha')
    expect(entries(claim(chain, ann, [20n, 40n]))).toEqual(['deposit alpha unsigned a1 20 40'])
    expect(chain.open(ann)).toEqual(['alpha 30', 'beta 30', 'alpha 40'])
    // 90 = 30 of alpha, 30 of beta, 30 of alpha; 181 shares over 60 and 30 are 120.67 and 60.33.
    const rows = claim(chain, ann, [90n, 181n])
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 60 121', 'deposit beta unsigned a1 30 60'])
    expect(new Set(rows.interactions.map(({ id }) => id)).size).toBe(2)
    expect(chain.open(ann)).toEqual(['alpha 10'])
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 161n, beta: 60n })
  })

  it('by a stranger is the request’s; its own code counts only for what had none, and for whoever it is a party of', () => {
    const chain = openHandChain()
    ask(chain, ann, 50n, 'alpha')
    ask(chain, ann, 50n)
    // bob is neither controller nor receiver: his code is nobody's.
    expect(entries(claim(chain, ann, [60n, 60n], { from: bob, code: 'beta' }))).toEqual([
      'deposit alpha unsigned a1 50 50',
    ])
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 50n, free: 10n })
    // Now he receives the shares.
    expect(entries(claim(chain, ann, [40n, 40n], { from: bob, to: bob, code: 'beta' }))).toEqual([
      'deposit beta unsigned a1 40 40',
    ])
    expect(chain.lots(bob, asynchronous)).toEqual({ beta: 40n })
  })

  it('that carries the code of a request makes one entry with it, as good as its weakest part', () => {
    const chain = openHandChain()
    ask(chain, ann, 50n)
    ask(chain, ann, 50n, 'alpha')
    expect(entries(claim(chain, ann, [100n, 10n], { code: 'alpha' }))).toEqual(['deposit alpha unsigned a1 100 10'])
    const data = call.requestDeposit(50n, ann, ann)
    const suffixes = [signedBy('alpha', ann, asynchronous, data), codes('alpha')]
    for (const weakestAt of [1, 0]) {
      for (const suffix of weakestAt === 1 ? suffixes : suffixes.toReversed())
        chain.mine({
          ...{ from: ann, to: asynchronous, input: `${data}${suffix}` },
          logs: [say.requestDeposit(ann, ann, ann, 50n)],
        })
      expect(entries(claim(chain, ann, [100n, 10n]))).toEqual(['deposit alpha unsigned a1 100 10'])
    }
  })

  it('to another receiver gives the lot there and enters the controller', () => {
    const chain = openHandChain()
    ask(chain, ann, 50n, 'alpha')
    expect(entries(claim(chain, ann, [50n, 70n], { to: cat }))).toEqual(['deposit alpha unsigned a1 50 70'])
    expect(chain.lots(cat, asynchronous)).toEqual({ alpha: 70n })
    expect(chain.lots(ann, asynchronous)).toEqual({})
  })

  it('of a unit more than was asked for gives that to its own code', () => {
    const chain = openHandChain()
    ask(chain, ann, 50n, 'alpha')
    expect(entries(claim(chain, ann, [51n, 102n], { code: 'beta' }))).toEqual([
      'deposit alpha unsigned a1 50 100',
      'deposit beta unsigned a1 1 2',
    ])
  })
})

describe('a cancelled deposit request', () => {
  it('gives back what was still pending after a claim in part, the newest first', () => {
    const chain = openHandChain()
    ask(chain, ann, 50n, 'alpha')
    ask(chain, ann, 30n, 'beta')
    claim(chain, ann, [20n, 20n])
    tell(chain, say.cancelDeposit(ann))
    expect(tell(chain, say.cancelledDeposit(ann, 45n)).interactions).toEqual([])
    expect(chain.open(ann)).toEqual(['alpha 15'])
    expect(entries(claim(chain, ann, [15n, 15n]))).toEqual(['deposit alpha unsigned a1 15 15'])
  })

  it('takes nothing from a request made after it was cancelled', () => {
    const chain = openHandChain()
    ask(chain, ann, 50n, 'alpha')
    tell(chain, say.cancelDeposit(ann))
    ask(chain, ann, 30n, 'beta')
    tell(chain, say.cancelledDeposit(ann, 50n))
    expect(chain.open(ann)).toEqual(['beta 30'])
    expect(entries(claim(chain, ann, [30n, 30n]))).toEqual(['deposit beta unsigned a1 30 30'])
  })

  it('is the one of the id that is named, and of its controller alone', () => {
    const chain = openHandChain()
    ask(chain, ann, 50n, 'alpha', 1n)
    ask(chain, ann, 30n, 'beta', 2n)
    ask(chain, bob, 10n, 'gamma', 1n)
    tell(chain, say.cancelDeposit(ann, 1n), say.cancelledDeposit(ann, 50n, 1n))
    expect([chain.open(ann), chain.open(bob)]).toEqual([['beta 30'], ['gamma 10']])
  })
})

describe('a redemption', () => {
  const holding = () => {
    const chain = openHandChain()
    ask(chain, ann, 60n, 'alpha')
    ask(chain, ann, 40n, 'beta')
    claim(chain, ann, [100n, 100n])
    return chain
  }

  it('shrinks all lots in proportion when it is asked for, also by an operator', () => {
    const chain = holding()
    expect(entries(leave(chain, ann, 50n, 'beta', bob))).toEqual([])
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 30n, beta: 20n })
    expect(chain.open(ann, 'redeem')).toEqual(['beta 50'])
  })

  it('is the ledger’s when it is claimed, in parts of the requests it consumes, and moves no lot', () => {
    const chain = holding()
    leave(chain, ann, 20n, 'alpha')
    leave(chain, ann, 20n)
    leave(chain, ann, 20n, 'beta')
    const before = chain.lots(ann, asynchronous)
    expect(entries(collect(chain, ann, [50n, 50n], 'gamma'))).toEqual([
      'withdraw alpha unsigned a1 20 20',
      'withdraw beta unsigned a1 10 10',
    ])
    expect(chain.lots(ann, asynchronous)).toEqual(before)
    expect(chain.open(ann, 'redeem')).toEqual(['beta 10'])
  })

  it('shrinks lots wherever the shares go, also to a silo nobody declared', () => {
    const chain = holding()
    leave(chain, ann, 50n, 'beta', ann, cat)
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 30n, beta: 20n })
  })
})

describe('a claim without a code by a wallet that is a contract', () => {
  it.each([[[ann]], [[ann, cat]]])('is of the request it completes, with the contracts %s', (contracts) => {
    const chain = openHandChain()
    ask(chain, ann, 10n, 'alpha')
    expect(entries(claimOfAccount(chain, ann, contracts))).toEqual(['deposit alpha unsigned a1 10 9'])
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 9n })
  })
})
