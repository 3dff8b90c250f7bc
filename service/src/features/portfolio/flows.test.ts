import { describe, expect, it } from 'vitest'
import {
  ann,
  asset,
  asynchronous,
  bob,
  bought,
  call,
  cat,
  deposited,
  openHandChain,
  redeemed,
  router,
  say,
  silo,
  tokenized,
  treasury,
  vault,
  zero,
} from '../../../test/handChain.js'
import type { DerivedRows } from '../../derive/rows.js'
import { deriveFlows } from './flows.js'

const names = new Map<string, string>([
  [ann, 'ann'],
  [bob, 'bob'],
  [cat, 'cat'],
  [router, 'router'],
  [treasury, 'treasury'],
])

/** A chain whose transactions answer flows as lines: who, what, shares, and for how many assets. */
function openFlows() {
  const chain = openHandChain()
  const others = new Set<string>([zero, silo, ...chain.vaults.map(({ address }) => address)])
  const vaults = new Map(chain.vaults.map(({ id }) => [id, { isExcluded: (wallet: string) => others.has(wallet) }]))
  const tell = (rows: DerivedRows) =>
    deriveFlows({ number: 1, timestamp: 1 }, rows, vaults).map(({ wallet, kind, shares, assets }) =>
      [names.get(wallet) ?? wallet, kind, shares, ...(assets === null ? [] : ['for', assets])].join(' '),
    )
  type Logs = Parameters<typeof chain.mine>[0]['logs']
  return { send: (logs: Logs) => tell(chain.mine({ from: ann, to: router, input: call.zap(0n), logs })) }
}

describe('flows of a plain vault', () => {
  it('are what its events say, of whoever has the shares', () => {
    const { send } = openFlows()
    expect(send([say.move(zero, ann, 90n), say.deposit(router, ann, 100n, 90n)])).toEqual(['ann deposit 90 for 100'])
    expect(send([say.move(ann, zero, 30n), say.withdraw(router, ann, 35n, 30n)])).toEqual(['ann withdrawal 30 for 35'])
  })

  it('are transfers where no event says anything, of both sides, and of a mint or a burn', () => {
    const { send } = openFlows()
    expect(send([say.move(zero, treasury, 5n)])).toEqual(['treasury transfer-in 5'])
    send(deposited(ann, ann, 100n))
    expect(send([say.move(ann, bob, 40n)])).toEqual(['bob transfer-in 40', 'ann transfer-out 40'])
    expect(send([say.move(bob, zero, 10n)])).toEqual(['bob transfer-out 10'])
    expect(send([say.move(ann, vault, 1n)])).toEqual(['ann transfer-out 1'])
    expect(send([say.move(ann, ann, 1n), say.move(ann, bob, 0n)])).toEqual([])
  })

  it('are of those who keep what a router deposited, the assets in proportion, all of them', () => {
    const { send } = openFlows()
    const logs = [say.move(zero, router, 3n), say.deposit(router, router, 100n, 3n)]
    expect(send([...logs, say.move(router, ann, 2n), say.move(router, bob, 1n)])).toEqual([
      'ann deposit 2 for 67',
      'bob deposit 1 for 33',
    ])
  })

  it('are of those whose shares a router redeemed', () => {
    const { send } = openFlows()
    send(deposited(ann, ann, 100n))
    const logs = [say.move(ann, router, 60n), say.move(router, zero, 60n), say.withdraw(router, router, 66n, 60n)]
    expect(send(logs)).toEqual(['ann withdrawal 60 for 66'])
  })

  it('tell both of what is put in and taken out in one transaction, with what was lost on the way', () => {
    const { send } = openFlows()
    const round = [...deposited(ann, ann, 100n), say.move(ann, zero, 100n), say.withdraw(ann, ann, 99n, 100n)]
    expect(send(round)).toEqual(['ann deposit 100 for 100', 'ann withdrawal 100 for 99'])
  })

  it('take a fee kept in shares for no transfer of the depositor, nor of who redeems', () => {
    const { send } = openFlows()
    const paid = [say.move(zero, treasury, 5n), say.move(zero, ann, 95n), say.deposit(ann, ann, 100n, 100n)]
    expect(send(paid)).toEqual(['treasury transfer-in 5', 'ann deposit 95 for 100'])
    const left = [say.move(ann, treasury, 5n), say.move(ann, zero, 45n), say.withdraw(ann, ann, 45n, 50n)]
    expect(send(left)).toEqual(['ann withdrawal 50 for 45', 'treasury transfer-in 5'])
  })

  it('let shares an event gives to somebody who never had them go on at once', () => {
    const { send } = openFlows()
    expect(send([say.move(zero, bob, 10n), say.deposit(ann, ann, 10n, 10n)])).toEqual([
      'bob transfer-in 10',
      'ann deposit 10 for 10',
      'ann transfer-out 10',
    ])
  })

  it('count assets that minted nothing', () => {
    const { send } = openFlows()
    expect(send([say.deposit(ann, ann, 7n, 0n)])).toEqual(['ann deposit 0 for 7'])
  })

  it('are transfers where the amount is of another token than the asset', () => {
    const { send } = openFlows()
    expect(send(bought(ann, 10n, bob))).toEqual(['ann transfer-in 10'])
    expect(send(redeemed(ann, 4n, bob))).toEqual(['ann transfer-out 4'])
    expect(send(bought(ann, 10n, asset))).toEqual(['ann deposit 10 for 10'])
    expect(tokenized).not.toBe(vault)
  })

  it('never take out more shares than a wallet was known to have', () => {
    const { send } = openFlows()
    send(deposited(ann, ann, 10n))
    expect(send([say.move(ann, bob, 15n)])).toEqual(['bob transfer-in 15', 'ann transfer-out 10'])
  })
})

describe('flows of an asynchronous vault', () => {
  const claimed = (assets: bigint, shares: bigint) => [
    say.move(silo, ann, shares, asynchronous),
    say.deposit(ann, ann, assets, shares, asynchronous),
  ]

  it('begin with the claim: a request for a deposit moves nothing', () => {
    const { send } = openFlows()
    expect(send([say.requestDeposit(ann, ann, ann, 100n)])).toEqual([])
    expect(send([say.move(zero, silo, 90n, asynchronous)])).toEqual([])
    expect(send(claimed(100n, 90n))).toEqual(['ann deposit 90 for 100'])
  })

  it('go on as held while shares wait for a redemption, and end with the claim', () => {
    const { send } = openFlows()
    send([say.requestDeposit(ann, ann, ann, 100n)])
    send(claimed(100n, 90n))
    expect(send([say.move(ann, silo, 50n, asynchronous), say.requestRedeem(ann, ann, ann, 50n)])).toEqual([])
    expect(send([say.move(silo, zero, 50n, asynchronous)])).toEqual([])
    expect(send([say.withdraw(ann, ann, 60n, 50n, asynchronous)])).toEqual(['ann withdrawal 50 for 60'])
  })

  it('are of the wallet whose shares a request took, whoever controls it, and of each in proportion', () => {
    const { send } = openFlows()
    for (const wallet of [ann, bob])
      send([say.move(zero, wallet, 90n, asynchronous), say.deposit(cat, wallet, 90n, 90n, asynchronous)])
    for (const [wallet, shares] of [
      [ann, 30n],
      [bob, 10n],
    ] as const)
      expect(send([say.move(wallet, silo, shares, asynchronous), say.requestRedeem(cat, wallet, cat, shares)])).toEqual(
        [],
      )
    expect(send([say.withdraw(cat, cat, 44n, 40n, asynchronous)])).toEqual([
      'ann withdrawal 30 for 33',
      'bob withdrawal 10 for 11',
    ])
  })

  it('are nothing where a cancel gives the shares back, and a transfer where it gives them to another', () => {
    const { send } = openFlows()
    send([say.move(zero, ann, 90n, asynchronous), say.deposit(ann, ann, 90n, 90n, asynchronous)])
    const ask = [say.move(ann, silo, 50n, asynchronous), say.requestRedeem(ann, ann, ann, 50n)]
    const back = (to: string) => [say.cancelledRedeem(ann, to, 50n), say.move(silo, to, 50n, asynchronous)]
    expect(send(ask)).toEqual([])
    expect(send(back(ann))).toEqual([])
    expect(send(ask)).toEqual([])
    expect(send(back(bob))).toEqual(['bob transfer-in 50', 'ann transfer-out 50'])
  })
})
