import type { Address } from 'viem'
import { describe, expect, it } from 'vitest'
import { entryPoint7, execute, handleOps7, operation7 } from '../../../packages/attribution/test/wrapping.js'
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
  router,
  say,
  sendBatch,
  signedBy,
  silo,
  tokenized,
  vault,
  zero,
} from '../../test/handChain.js'

const account = cat
const withShares = (wallet: Address, amount: bigint) => {
  const chain = openHandChain()
  const input = `${call.deposit(amount, wallet)}${codes('alpha')}`
  chain.mine({ from: wallet, to: vault, input, logs: deposited(wallet, wallet, amount) })
  return chain
}

describe('which call made an event', () => {
  it('is, of several claims by one who is not the controller, the one with the event’s own amount', () => {
    const chain = openHandChain()
    chain.mine({
      from: ann,
      to: asynchronous,
      input: call.requestDeposit(14n, ann, ann),
      logs: [say.requestDeposit(ann, ann, ann, 14n)],
    })
    const claimed = (amount: bigint) => [
      say.deposit(ann, account, amount, amount, asynchronous),
      say.move(silo, account, amount, asynchronous),
    ]
    const rows = chain.mine({
      from: bob,
      to: account,
      input: batch(
        [asynchronous, `${call.claim(9n, account, ann)}${codes('alpha')}`],
        [asynchronous, `${call.claim(5n, account, ann)}${codes('beta')}`],
      ),
      logs: [...claimed(5n), ...claimed(9n)],
    })
    expect(entries(rows)).toEqual(['deposit beta unsigned a1 5 5', 'deposit alpha unsigned a1 9 9'])
  })

  it('is never, of a withdrawal, a call that deposits', () => {
    const chain = withShares(account, 9n)
    const input = batch([vault, `${call.deposit(9n, account)}${codes('beta')}`])
    const logs = [say.move(account, zero, 9n), say.withdraw(account, account, 9n, 9n)]
    expect(entries(chain.mine({ from: bob, to: account, input, logs }))).toEqual([])
  })

  it('is never one of the next operation of the same account in its bundle', () => {
    const operation = (code: string) =>
      operation7(account, execute(vault, `${call.deposit(9n, account)}${codes(code)}` as `0x${string}`))
    const rows = openHandChain().mine({
      from: bob,
      to: entryPoint7,
      input: handleOps7(operation('alpha'), operation('beta')),
      logs: [
        ...deposited(account, account, 9n),
        say.operationEnd(entryPoint7, account),
        say.operationEnd(entryPoint7, account),
      ],
    })
    expect(entries(rows)).toEqual(['deposit alpha unsigned c3 9 9'])
  })
})

describe('the shares of an event', () => {
  it('are none of the next one’s, where the vault delivers fewer than it tells of', () => {
    const told = (amount: bigint, minted: bigint) => [
      say.deposit(account, account, amount, amount),
      say.move(zero, account, minted),
    ]
    const { chain, entries: found } = sendBatch(
      account,
      [
        [vault, `${call.deposit(10n, account)}${codes('alpha')}`],
        [vault, `${call.deposit(20n, account)}${codes('beta')}`],
      ],
      [...told(10n, 7n), ...told(20n, 20n)],
    )
    expect(found).toEqual(['deposit alpha unsigned c3 10 7', 'deposit beta unsigned c3 20 20'])
    expect(chain.lots(account)).toEqual({ alpha: 7n, beta: 20n })
  })

  it('of an ERC-5115 redemption are the caller’s, not the receiver’s', () => {
    const chain = openHandChain()
    const input = `${call.depositToken(ann, asset, 9n)}${codes('alpha')}`
    chain.mine({ from: ann, to: tokenized, input, logs: bought(ann, 9n) })
    const rows = chain.mine({
      from: ann,
      to: tokenized,
      input: `${call.redeemToken(bob, 9n, asset)}${codes('beta')}`,
      logs: [say.move(ann, zero, 9n, tokenized), say.tokenRedeem(ann, bob, asset, 9n, 9n)],
    })
    expect(entries(rows)).toEqual(['withdraw beta unsigned a1 9 9'])
  })
})

describe('a wallet', () => {
  it('loses of its lots only what did not come back in the transaction', () => {
    const chain = withShares(ann, 40n)
    const logs = [say.move(ann, router, 30n), say.move(router, ann, 10n)]
    chain.mine({ from: ann, to: router, input: call.zap(1n), logs })
    expect([chain.lots(ann), chain.lots(router)]).toEqual([{ alpha: 20n }, { free: 20n }])
  })

  it('leaves no row of a lone transfer of 0, and is not remembered for it', () => {
    const chain = withShares(ann, 40n)
    const rows = chain.mine({ from: bob, to: vault, input: call.transfer(ann, 0n), logs: [say.move(ann, bob, 0n)] })
    expect([rows.balanceChanges, rows.lotChanges, rows.cutMoves]).toEqual([[], [], []])
    expect(chain.countHolders()).toBe(1)
  })
})

describe('a vault', () => {
  it('counts from the very second on in which it becomes active', () => {
    const [first] = openHandChain().vaults
    const chain = openHandChain({ vaults: first ? [{ ...first, activeFrom: 100 }] : [] })
    const mine = (timestamp: number) =>
      entries(
        chain.mine({
          from: ann,
          to: vault,
          input: `${call.deposit(9n, ann)}${codes('alpha')}`,
          logs: deposited(ann, ann, 9n),
          timestamp,
        }),
      )
    expect([mine(99), mine(100)]).toEqual([[], ['deposit alpha unsigned a1 9 9']])
  })
})

describe('the action a transaction names', () => {
  it('is told where our key signed it, and not where the signature was made for another wallet', () => {
    const data = call.deposit(9n, ann)
    const actionOf = (wallet: Address) => {
      const input = `${data}${signedBy('alpha', wallet, vault, data)}`
      const rows = openHandChain().mine({ from: ann, to: vault, input, logs: deposited(ann, ann, 9n) })
      return rows.attributions[0]?.actionId
    }
    expect(actionOf(ann)).toBe('11111111-1111-1111-1111-111111111111')
    expect(actionOf(bob)).toBeNull()
  })
})
