import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ann,
  asynchronous,
  bob,
  cat,
  openHandChain,
  other,
  router,
  say,
  treasury,
  vault,
  zero,
} from '../../test/handChain.js'
import { createDerivation, listKeepers } from './derive.js'

const derivation = createDerivation(openHandChain().config)
type Logs = ReturnType<typeof say.move>[]
const keepersOf = (from: string, logs: Logs) => {
  const place = { blockNumber: 1, transactionIndex: 0, transactionHash: '0x01' }
  const placed = logs.map((log, logIndex) => ({ ...place, ...log, logIndex }))
  return listKeepers({ from }, placed, derivation)
}

describe('the wallets whose code must be known', () => {
  it('are those that keep minted shares and did not send the transaction', () => {
    const minted = [say.move(zero, ann, 9n), say.deposit(ann, ann, 5n, 9n)]
    expect(keepersOf(ann, minted)).toEqual([])
    expect(keepersOf(router, minted)).toEqual([ann])
    expect(keepersOf(ann, [...minted, say.move(ann, bob, 4n)])).toEqual([bob])
    expect(keepersOf(router, [say.move(zero, ann, 9n)])).toEqual([])
  })

  it('are the same for each sender, but for the sender', () => {
    const wallet = fc.constantFrom(zero, ann, bob, cat, router, treasury)
    const token = fc.constantFrom(vault, other, asynchronous)
    const log = fc.oneof(
      fc
        .tuple(wallet, wallet, fc.bigInt(0n, 9n), token)
        .map(([from, to, amount, on]) => say.move(from, to, amount, on)),
      fc
        .tuple(wallet, wallet, fc.bigInt(0n, 9n), token)
        .map(([sender, owner, amount, on]) => say.deposit(sender, owner, amount, amount, on)),
    )
    fc.assert(
      fc.property(fc.array(log, { minLength: 1, maxLength: 7 }), wallet, (logs, from) => {
        const all = keepersOf(`0x${'ee'.repeat(20)}`, logs)
        expect(keepersOf(from, logs)).toEqual(all.filter((keeper) => keeper !== from))
      }),
      { numRuns: 500 },
    )
  })
})
