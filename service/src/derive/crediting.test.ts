import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { execute, multicall } from '../../../packages/attribution/test/wrapping.js'
import {
  ann,
  asset,
  asynchronous,
  batch,
  bob,
  call,
  cat,
  codes,
  deposited,
  entries,
  openHandChain,
  other,
  router,
  say,
  sendBatch,
  signedBy,
  tokenized,
  treasury,
  vault,
  zero,
} from '../../test/handChain.js'

const account = cat
const send = (list: [Address, string][], logs: ReturnType<typeof deposited>, more: object = {}) =>
  sendBatch(account, list, logs, more)

describe('a deposit that mints nothing', () => {
  const nothing = (owner: string) => [say.move(zero, owner, 0n), say.deposit(owner, owner, 1n, 0n)]

  it('takes no other deposit’s mint, of its own wallet neither, whether its Transfer of 0 is told or not', () => {
    for (const first of [nothing(account), nothing(account).slice(1)]) {
      const { chain, entries } = send(
        [
          [vault, `${call.deposit(1n, account)}${codes('beta')}`],
          [vault, `${call.deposit(1_000n, account)}${codes('alpha')}`],
        ],
        [...first, ...deposited(account, account, 1_000n)],
      )
      expect(entries).toEqual(['deposit alpha unsigned c3 1000 1000'])
      expect(chain.lots(account)).toEqual({ alpha: 1_000n })
    }
  })

  it('takes no other wallet’s', () => {
    const { chain, entries } = send(
      [[vault, `${call.deposit(1n, account)}${codes('beta')}`]],
      [...nothing(account), ...deposited(ann, ann, 1_000n)],
    )
    expect(entries).toEqual([])
    expect(chain.lots(ann)).toEqual({ free: 1_000n })
  })

  it('is told apart where the vault tells of the deposit before its Transfer, too', () => {
    const after = (owner: string, assets: bigint, shares: bigint) => [
      say.deposit(owner, owner, assets, shares),
      say.move(zero, owner, shares),
    ]
    const { entries } = send(
      [
        [vault, `${call.deposit(7n, account)}${codes('alpha')}`],
        [vault, `${call.deposit(1n, account)}${codes('beta')}`],
        [vault, `${call.deposit(1_000n, account)}${codes('gamma')}`],
      ],
      [...after(account, 7n, 7n), ...after(account, 1n, 0n), ...after(account, 1_000n, 900n)],
    )
    expect(entries).toEqual(['deposit alpha unsigned c3 7 7', 'deposit gamma unsigned c3 1000 900'])
  })

  it('says nothing of the side its vault has its Transfers on', () => {
    const logs = [
      say.deposit(account, account, 1n, 0n),
      say.move(zero, account, 0n),
      say.deposit(account, account, 12n, 8n),
      say.move(zero, account, 8n),
    ]
    const { entries } = send(
      [
        [vault, call.deposit(1n, account)],
        [vault, `${call.deposit(12n, account)}${codes('alpha')}`],
      ],
      logs,
    )
    expect(entries).toEqual(['deposit alpha unsigned c3 12 8'])
  })

  it('gives at most the shares its event tells of their mark', () => {
    const logs = [say.move(zero, account, 100n), say.deposit(account, account, 50n, 70n)]
    const { chain, entries } = send([[vault, `${call.deposit(50n, account)}${codes('alpha')}`]], logs)
    expect(entries).toEqual(['deposit alpha unsigned c3 50 70'])
    expect(chain.lots(account)).toEqual({ alpha: 70n, free: 30n })
  })
})

describe('a call that makes no event', () => {
  it.each([
    ['transfer', call.transfer(account, 0n)],
    ['approve', call.approve(1n, ann)],
    ['setOperator', call.setOperator(ann)],
    ['increaseAllowance', '0x39509351'],
    ['permit', '0xd505accf'],
  ])('takes nobody’s credit with the code behind it: %s', (_name, silent) => {
    const logs = deposited(account, account, 1_000n)
    const deposit = call.deposit(1_000n, account)
    expect(
      send(
        [
          [vault, `${silent}${codes('beta')}`],
          [vault, `${deposit}${codes('alpha')}`],
        ],
        logs,
      ).entries,
    ).toEqual(['deposit alpha unsigned c3 1000 1000'])
    expect(
      send(
        [
          [vault, `${silent}${codes('beta')}`],
          [vault, deposit],
        ],
        logs,
      ).entries,
    ).toEqual([])
    const parts = multicall(`${silent}${codes('beta')}` as Hex, call.deposit(1_000n, ann))
    const rows = openHandChain().mine({ from: ann, to: vault, input: parts, logs: deposited(ann, ann, 1_000n) })
    expect(entries(rows)).toEqual([])
  })

  it('leaves a request to the call that made it', () => {
    const rows = openHandChain().mine({
      from: bob,
      to: account,
      input: batch(
        [asynchronous, `${call.setOperator(ann)}${codes('beta')}`],
        [asynchronous, `${call.requestDeposit(5n, account, account)}${codes('alpha')}`],
      ),
      logs: [say.requestDeposit(account, account, account, 5n)],
    })
    expect(rows.requests).toMatchObject([{ distributorId: 'alpha' }])
  })
})

describe('calls matched with events', () => {
  it('go by owner and amount, whatever their order', () => {
    const { entries } = send(
      [
        [vault, `${call.deposit(1_000n, account)}${codes('alpha')}`],
        [vault, `${call.deposit(5n, account)}${codes('beta')}`],
      ],
      [...deposited(account, account, 5n), ...deposited(account, account, 1_000n)],
    )
    expect(entries).toEqual(['deposit beta unsigned c3 5 5', 'deposit alpha unsigned c3 1000 1000'])
  })

  it('of ERC-5115 too: of two deposits the one with the code is credited', () => {
    const told = (amount: bigint) => [
      say.move(zero, account, amount, tokenized),
      say.tokenDeposit(account, account, asset, amount, amount),
    ]
    const { entries } = send(
      [
        [tokenized, call.depositToken(account, asset, 1_000n)],
        [tokenized, `${call.depositToken(account, asset, 5n)}${codes('alpha')}`],
      ],
      [...told(1_000n), ...told(5n)],
    )
    expect(entries).toEqual(['deposit alpha unsigned c3 5 5'])
  })

  it('give a router’s events to its calls in order, those without a code among them', () => {
    const { entries } = send(
      [
        [router, call.zap(1_000n)],
        [router, `${call.zap(1n)}${codes('beta')}`],
      ],
      [...deposited(router, account, 1_000n), ...deposited(router, account, 1n)],
    )
    expect(entries).toEqual(['deposit beta unsigned c3 1 1 swap'])
  })

  it('give a router’s event to the call of that router, not to one of another address before it', () => {
    const { entries } = send(
      [
        [treasury, `${call.zap(1n)}${codes('beta')}`],
        [router, `${call.zap(1_000n)}${codes('alpha')}`],
      ],
      deposited(router, account, 1_000n),
    )
    expect(entries).toEqual(['deposit alpha unsigned c3 1000 1000 swap'])
  })

  it('say nothing where either of two could have made the event and they name different distributors, none among them', () => {
    const zap = (code: string) => `${call.zap(1n)}${code}`
    const of = (...tails: string[]) =>
      send(
        tails.map((tail) => [router, zap(tail)] as [Address, string]),
        deposited(router, account, 9n),
      )
    expect(of(codes('alpha'), codes('beta'))).toMatchObject({ entries: [], problems: ['needs a trace'] })
    expect(of(codes('alpha'), '')).toMatchObject({ entries: [], problems: ['needs a trace'] })
    expect(of(codes('alpha'), codes('alpha')).entries).toEqual(['deposit alpha unsigned c3 9 9 swap'])
  })

  it('give no event to a call of another contract than its sender: whether that had to do with it only a trace tells', () => {
    const told = deposited(router, account, 9n)
    for (const tails of [[codes('alpha')], [codes('alpha'), codes('alpha')]]) {
      const zaps = tails.map((tail): [Address, string] => [treasury, `${call.zap(1n)}${tail}`])
      expect(send(zaps, told)).toMatchObject({ entries: [], problems: ['needs a trace'] })
    }
    // The whole batch lies around whatever it makes.
    const input = `${batch([treasury, `${call.zap(1n)}${codes('alpha')}`])}${codes('beta')}`
    const rows = openHandChain().mine({ from: account, to: account, input, logs: told })
    expect(entries(rows)).toEqual(['deposit beta unsigned c3 9 9'])
  })

  it('give no event to a part of a stranger’s multicall: that the stranger ran it is its calldata’s word', () => {
    const chain = openHandChain()
    const part = `${call.deposit(9n, ann)}${codes('alpha')}` as Hex
    const told = deposited(router, ann, 9n)
    const rows = chain.mine({ from: ann, to: treasury, input: multicall(part), logs: told })
    expect([entries(rows), rows.attributions[0]?.problems]).toEqual([[], ['needs a trace']])
    const around = chain.mine({ from: ann, to: treasury, input: `${multicall(part)}${codes('beta')}`, logs: told })
    expect(entries(around)).toEqual(['deposit beta unsigned a1 9 9 swap'])
  })

  it('credits nobody where as many outer calls as events fit none of them better', () => {
    const strange = (code: string): [Address, string] => [vault, `0x5eed0002${codes(code)}`]
    const told = [...deposited(account, account, 5n), ...deposited(account, account, 9n)]
    expect(send([strange('alpha'), strange('beta')], told)).toMatchObject({ entries: [], problems: ['needs a trace'] })
    expect(send([strange('alpha'), strange('alpha')], told).entries).toEqual([
      'deposit alpha unsigned c3 5 5',
      'deposit alpha unsigned c3 9 9',
    ])
  })

  it('count calls to a vault that is not in force yet', () => {
    const chain = openHandChain()
    const late = openHandChain({
      vaults: chain.vaults.map((each) => (each.address === other ? { ...each, activeFrom: 1_000 } : each)),
    })
    const rows = late.mine({
      from: bob,
      to: account,
      input: batch(
        [other, `${call.deposit(9n, account)}${codes('beta')}`],
        [vault, `${call.deposit(9n, account)}${codes('alpha')}`],
      ),
      logs: [...deposited(account, account, 9n, other), ...deposited(account, account, 9n)],
    })
    expect(entries(rows)).toEqual(['deposit alpha unsigned c3 9 9'])
  })
})

describe('a caller only calldata names', () => {
  const forged = (suffix: (data: Hex) => string): Hex => {
    const data = call.deposit(5_000n, ann)
    return execute(ann, execute(vault, `${data}${suffix(data)}` as Hex))
  }

  it('is not believed, with a signature of ours neither, also where the distributor wants signatures', () => {
    const signedOnly = new Map([['alpha', [{ from: 0, signedOnly: true }]]])
    const signed = (data: Hex) => signedBy('alpha', ann, vault, data)
    for (const [more, suffix] of [
      [{}, () => codes('alpha')],
      [{}, signed],
      [{ signedOnly }, signed],
    ] as const) {
      const chain = openHandChain(more)
      const rows = chain.mine({ from: bob, to: router, input: forged(suffix), logs: deposited(ann, ann, 5_000n) })
      expect(entries(rows)).toEqual([])
      expect(rows.attributions).toMatchObject([{ distributorId: null, actionId: null, problems: ['needs a trace'] }])
      expect(chain.lots(ann)).toEqual({ free: 5_000n })
      // The signature was not used up.
      const own = `${call.deposit(5_000n, ann)}${signed(call.deposit(5_000n, ann))}`
      const honest = chain.mine({ from: ann, to: vault, input: own, logs: deposited(ann, ann, 5_000n) })
      expect(entries(honest)).toEqual(['deposit alpha signed a1 5000 5000'])
    }
  })

  it('is the account itself where that is called, also through a call to itself', () => {
    const data = call.deposit(5n, ann)
    const own = execute(ann, execute(vault, `${data}${signedBy('alpha', ann, vault, data)}` as Hex))
    const rows = openHandChain().mine({ from: ann, to: ann, input: own, logs: deposited(ann, ann, 5n) })
    expect(entries(rows)).toEqual(['deposit alpha signed a1 5 5'])
  })
})

describe('a relayer', () => {
  it('that keeps one unit of what it delivers is credited with one unit', () => {
    const chain = openHandChain()
    const logs = [
      say.move(zero, router, 1_000n),
      say.deposit(router, router, 2_000n, 1_000n),
      say.move(router, bob, 1n),
      say.move(router, ann, 999n),
    ]
    const rows = chain.mine({ from: bob, to: router, input: `${call.zap(1n)}${codes('beta')}`, logs })
    expect(entries(rows)).toEqual(['deposit beta unsigned b2 2 1 swap'])
    expect([chain.lots(ann), chain.lots(bob)]).toEqual([{ free: 999n }, { beta: 1n }])
  })
})

describe('deposits that are taken back in the same transaction', () => {
  it('leave no entry and no lot, and what was there before stays as it was', () => {
    const chain = openHandChain()
    const input = `${call.deposit(40n, ann)}${codes('alpha')}`
    chain.mine({ from: ann, to: vault, input, logs: deposited(ann, ann, 40n) })
    const cycle = [
      ...deposited(router, ann, 1_000n),
      say.move(ann, router, 1_000n),
      say.move(router, zero, 1_000n),
      say.withdraw(router, router, 1_000n, 1_000n),
    ]
    const logs = Array.from({ length: 100 }, () => cycle).flat()
    const rows = chain.mine({ from: ann, to: router, input: `${call.zap(1n)}${codes('beta')}`, logs })
    expect([rows.interactions, rows.balanceChanges, rows.lotChanges]).toEqual([[], [], []])
    expect(chain.lots(ann)).toEqual({ alpha: 40n })
  })

  it('count for what is left after as much was burned of what was held before', () => {
    const chain = openHandChain()
    const input = `${call.deposit(40n, ann)}${codes('alpha')}`
    chain.mine({ from: ann, to: vault, input, logs: deposited(ann, ann, 40n) })
    const burned = [say.move(ann, zero, 30n), say.withdraw(ann, ann, 30n, 30n)]
    const rows = chain.mine({
      from: ann,
      to: router,
      input: `${call.zap(1n)}${codes('beta')}`,
      logs: [...burned, ...deposited(router, ann, 50n)],
    })
    expect(entries(rows)).toEqual(['deposit beta unsigned a1 20 20 swap'])
    expect(chain.lots(ann)).toEqual({ alpha: 40n, beta: 20n })
  })
})
