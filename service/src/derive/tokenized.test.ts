import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { entryPoint7, handleOps7, multicall, operation7 } from '../../../packages/attribution/test/wrapping.js'
import {
  ann,
  asset,
  asynchronous,
  batch,
  bob,
  bought,
  call,
  cat,
  codes,
  deposited,
  entries,
  openHandChain,
  other,
  redeemed,
  say,
  sendBatch,
  tokenized,
  vault,
  who,
} from '../../test/handChain.js'

const account = cat
const otherToken = who('a55e8')

/** A large deposit without a code, then a small one with one: each has to stay whose it is. */
const large = call.depositToken(account, asset, 1_000n)
const small = `${call.depositToken(account, asset, 5n)}${codes('alpha')}`
const told = [...bought(account, 1_000n), ...bought(account, 5n)]

describe('ERC-5115 deposits in one transaction are credited each by its own call', () => {
  const credited = ['deposit alpha unsigned c3 5 5']

  it('of a batch, whatever the order of its calls', () => {
    for (const list of [
      [large, small],
      [small, large],
    ] as const) {
      const calls = list.map((data): [Address, string] => [tokenized, data])
      const { chain, entries } = sendBatch(account, calls, told)
      expect(entries).toEqual(credited)
      expect(chain.lots(account, tokenized)).toEqual({ alpha: 5n, free: 1_000n })
    }
  })

  it('of a user operation', () => {
    const chain = openHandChain()
    const input = handleOps7(operation7(account, batch([tokenized, large], [tokenized, small])))
    const logs = [...told, say.operationEnd(entryPoint7, account)]
    const rows = chain.mine({ from: bob, to: entryPoint7, input, logs })
    expect(entries(rows)).toEqual(credited)
    expect(chain.lots(account, tokenized)).toEqual({ alpha: 5n, free: 1_000n })
  })

  it('of two user operations of one bundle, each by the operation it lies in', () => {
    const chain = openHandChain()
    const one = (wallet: Address, amount: bigint, code: string) =>
      operation7(wallet, `${batch([tokenized, call.depositToken(wallet, asset, amount)])}${codes(code)}` as Hex)
    const input = handleOps7(one(ann, 9n, 'alpha'), one(account, 9n, 'beta'))
    const logs = [ann, account].flatMap((wallet) => [...bought(wallet, 9n), say.operationEnd(entryPoint7, wallet)])
    const rows = chain.mine({ from: bob, to: entryPoint7, input, logs })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 9 9', 'deposit beta unsigned c3 9 9'])
  })

  it('of multicall(bytes[]) of the vault itself', () => {
    const chain = openHandChain()
    const input = multicall(large, small as Hex)
    const rows = chain.mine({ from: account, to: tokenized, input, logs: told })
    expect(entries(rows)).toEqual(credited)
  })

  it('beside a deposit into a vault of another kind', () => {
    const { entries } = sendBatch(
      account,
      [
        [tokenized, call.depositToken(account, asset, 7n)],
        [vault, `${call.deposit(7n, account)}${codes('beta')}`],
      ],
      [...bought(account, 7n), ...deposited(account, account, 7n)],
    )
    expect(entries).toEqual(['deposit beta unsigned c3 7 7'])
  })
})

describe('ERC-5115 redemptions in one batch', () => {
  it('are credited each by its own call', () => {
    const chain = openHandChain()
    chain.mine({ from: account, to: tokenized, input: large, logs: bought(account, 1_000n) })
    const input = batch(
      [tokenized, call.redeemToken(account, 600n, asset)],
      [tokenized, `${call.redeemToken(account, 5n, asset)}${codes('alpha')}`],
    )
    const logs = [...redeemed(account, 600n), ...redeemed(account, 5n)]
    expect(entries(chain.mine({ from: bob, to: account, input, logs }))).toEqual(['withdraw alpha unsigned c3 5 5'])
  })
})

describe('a deposit in another token', () => {
  it('makes no entry, and its shares are of who brought it, also in a batch', () => {
    const { chain, entries } = sendBatch(
      account,
      [
        [tokenized, large],
        [tokenized, `${call.depositToken(account, otherToken, 5n)}${codes('alpha')}`],
      ],
      [...bought(account, 1_000n), ...bought(account, 5n, otherToken)],
    )
    expect(entries).toEqual([])
    expect(chain.lots(account, tokenized)).toEqual({ alpha: 5n, free: 1_000n })
  })
})

describe('a vault tells what its kind emits', () => {
  it('an event of another kind on it says nothing', () => {
    const chain = openHandChain()
    const input = `${call.deposit(5n, ann)}${codes('alpha')}`
    const [, told] = bought(ann, 5n)
    const misplaced = [
      { ...told!, address: vault },
      { ...say.requestDeposit(ann, ann, ann, 5n), address: vault },
      { ...say.deposit(ann, ann, 5n, 5n), address: tokenized },
    ]
    const rows = chain.mine({ from: ann, to: vault, input, logs: misplaced })
    expect([rows.interactions, rows.requests, rows.attributions]).toEqual([[], [], []])
  })

  it('a call of another kind to it may have made anything', () => {
    const chain = openHandChain()
    const input = `${call.depositToken(ann, asset, 5n)}${codes('alpha')}`
    expect(entries(chain.mine({ from: ann, to: other, input, logs: deposited(ann, ann, 5n, other) }))).toEqual([
      'deposit alpha unsigned a1 5 5',
    ])
    const request = `${call.requestDeposit(5n, ann, ann)}${codes('beta')}`
    const logs = [say.requestDeposit(ann, ann, ann, 5n)]
    expect(chain.mine({ from: ann, to: asynchronous, input: request, logs }).requests).toMatchObject([
      { distributorId: 'beta' },
    ])
  })
})
