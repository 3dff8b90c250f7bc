import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  entryPoint7,
  entryPoint8,
  handleOps7,
  multicall,
  multiSend,
  operation7,
  packed,
  safe,
} from '../../../packages/attribution/test/wrapping.js'
import {
  ann,
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
  signedBy,
  treasury,
  vault,
} from '../../test/handChain.js'

/** A router deposits for itself and hands the shares on. */
const zapped = (to: string, amount: bigint, on: string = vault) => [
  ...deposited(router, router, amount, on),
  say.move(router, to, amount, on),
]
const plain = call.deposit(1n, ann)
const account = cat

describe('which distributor a call names', () => {
  const name = (suffix: string) => {
    const chain = openHandChain()
    return entries(chain.mine({ from: ann, to: vault, input: `${plain}${suffix}`, logs: deposited(ann, ann, 9n) }))
  }

  it('is the first registered of several codes, and of stacked suffixes the outermost', () => {
    expect(name(codes('nobody', 'beta', 'alpha'))).toEqual(['deposit beta unsigned a1 9 9'])
    expect(name(codes('alpha') + codes('beta'))).toEqual(['deposit beta unsigned a1 9 9'])
    expect(name(codes('alpha') + codes('nobody'))).toEqual(['deposit alpha unsigned a1 9 9'])
  })

  it('is the signed application code, also under a suffix that was put around it', () => {
    const own = signedBy('alpha', ann, vault, plain)
    expect(name(own + codes('beta'))).toEqual(['deposit alpha signed a1 9 9'])
  })

  it('is unsigned when the signature was made for another wallet, target or call', () => {
    for (const copied of [
      signedBy('alpha', bob, vault, plain),
      signedBy('alpha', ann, other, plain),
      signedBy('alpha', ann, vault, call.deposit(2n, ann)),
    ])
      expect(name(copied)).toEqual(['deposit alpha unsigned a1 9 9'])
  })

  it('is nobody when the code differs in case, is cut short or is not registered', () => {
    for (const suffix of [codes('Alpha'), codes('nobody'), codes('alpha').slice(2).replace('0500', 'ff00')])
      expect(name(suffix)).toEqual([])
  })

  it('is read from a tracker in both its forms, and stays legacy', () => {
    const tracker = (text: string) => `deadbeef${Buffer.from(text).toString('hex')}`
    expect(name(tracker('any-shop:v1:beta:friend'))).toEqual(['deposit beta legacy a1 9 9'])
    expect(name(tracker('{"distributorId":"gamma","amount":"1"}'))).toEqual(['deposit gamma legacy a1 9 9'])
    expect(name(tracker('any-shop:v1:beta:') + codes('nobody'))).toEqual(['deposit beta legacy a1 9 9'])
  })
})

describe('whose a deposit is', () => {
  it('is the caller of the vault, of a router that hands the shares on, or whoever ends with them', () => {
    const chain = openHandChain()
    const input = `${call.zap(1n)}${codes('alpha')}`
    const rows = chain.mine({ from: ann, to: router, input, logs: zapped(ann, 50n) })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 50 50 swap'])
    expect(chain.lots(ann)).toEqual({ alpha: 50n })
    expect(chain.lots(router)).toEqual({})
  })

  it('does not make a stranger’s deposit in the same transaction the caller’s, though the caller gained shares too', () => {
    const chain = openHandChain()
    const input = `${call.zap(1n)}${codes('alpha')}`
    const logs = [...deposited(router, ann, 50n), ...deposited(router, bob, 70n), ...deposited(bob, bob, 5n)]
    expect(entries(chain.mine({ from: ann, to: router, input, logs }))).toEqual([
      'deposit alpha unsigned a1 50 50 swap',
    ])
    expect(chain.lots(bob)).toEqual({ free: 75n })
  })

  it('is nobody’s where an outer vault deposits into an inner one', () => {
    const chain = openHandChain()
    const logs = [...deposited(other, other, 90n), ...deposited(ann, ann, 80n, other)]
    const rows = chain.mine({ from: ann, to: other, input: `${plain}${codes('alpha')}`, logs })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 80 80'])
    expect(chain.lots(other)).toEqual({ free: 90n })
    expect(chain.lots(ann, other)).toEqual({ alpha: 80n })
  })

  it('is the caller’s for every event of the only call that can have made them', () => {
    const chain = openHandChain()
    const logs = [...deposited(ann, ann, 10n), ...deposited(ann, ann, 20n)]
    const rows = chain.mine({ from: ann, to: vault, input: `${plain}${codes('alpha')}`, logs })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 10 10', 'deposit alpha unsigned a1 20 20'])
  })

  it('is nobody’s when the vault or the distributor counts only from later, and somebody’s from that second on', () => {
    for (const from of [100, 101]) {
      const late = openHandChain({ distributors: new Map([['alpha', from]]) })
      const send = { from: ann, to: vault, input: `${plain}${codes('alpha')}`, logs: deposited(ann, ann, 9n) }
      expect(entries(late.mine({ ...send, timestamp: 100 }))).toHaveLength(from === 100 ? 1 : 0)
    }
  })

  it('is nobody’s when a distributor wants signatures and there is none', () => {
    const settings = [
      { from: 0, signedOnly: false },
      { from: 100, signedOnly: true },
      { from: 200, signedOnly: false },
    ]
    const chain = openHandChain({ signedOnly: new Map([['alpha', settings]]) })
    const at = (timestamp: number, suffix: string) =>
      entries(
        chain.mine({ from: ann, to: vault, input: `${plain}${suffix}`, logs: deposited(ann, ann, 9n), timestamp }),
      ).length
    const signed = signedBy('alpha', ann, vault, plain)
    expect([99, 100, 199, 200].map((timestamp) => at(timestamp, codes('alpha')))).toEqual([1, 0, 0, 1])
    expect(at(150, signed)).toBe(1)
    expect(chain.lots(ann)).toEqual({ alpha: 27n, free: 18n })
  })
})

describe('several calls in one transaction', () => {
  it('are credited in order: a router’s deposit to its own call, the direct one to its own, whichever comes first', () => {
    const zap: [Address, string] = [router, `${call.zap(1n)}${codes('alpha')}`]
    const direct: [Address, string] = [vault, `${plain}${codes('beta')}`]
    const send = (list: [Address, string][], logs: ReturnType<typeof deposited>) =>
      entries(openHandChain().mine({ from: bob, to: account, input: batch(...list), logs }))
    const byRouter = deposited(router, account, 50n)
    const byAccount = deposited(account, account, 70n)
    expect(send([zap, direct], [...byRouter, ...byAccount])).toEqual([
      'deposit alpha unsigned c3 50 50 swap',
      'deposit beta unsigned c3 70 70',
    ])
    expect(send([direct, zap], [...byAccount, ...byRouter])).toEqual([
      'deposit beta unsigned c3 70 70',
      'deposit alpha unsigned c3 50 50 swap',
    ])
  })

  it('are told apart by the one whose arguments are its event’s: the other event is of the other call', () => {
    const list: [Address, string][] = [
      [vault, `${call.deposit(50n, account)}${codes('alpha')}`],
      [vault, `${call.deposit(60n, account)}${codes('beta')}`],
    ]
    const logs = [...deposited(account, account, 59n), ...deposited(account, account, 50n)]
    expect(entries(openHandChain().mine({ from: bob, to: account, input: batch(...list), logs }))).toEqual([
      'deposit beta unsigned c3 59 59',
      'deposit alpha unsigned c3 50 50',
    ])
  })

  it('leave a call without a code alone', () => {
    const list: [Address, string][] = [
      [vault, plain],
      [vault, `${plain}${codes('beta')}`],
    ]
    const logs = [...deposited(account, account, 50n), ...deposited(account, account, 70n)]
    const rows = openHandChain().mine({ from: bob, to: account, input: batch(...list), logs })
    expect(entries(rows)).toEqual(['deposit beta unsigned c3 70 70'])
  })

  it('never credit an approval, which makes no deposit, even when the wallet put its suffix there too', () => {
    const list: [Address, string][] = [
      [vault, `${call.approve(1n)}${codes('gamma')}`],
      [router, `${call.zap(1n)}${codes('alpha')}`],
      [router, `${call.zap(2n)}${codes('beta')}`],
      [vault, `${plain}${codes('alpha')}`],
    ]
    const logs = [
      ...deposited(router, account, 1n),
      ...deposited(router, account, 2n),
      ...deposited(account, account, 3n),
    ]
    expect(entries(openHandChain().mine({ from: bob, to: account, input: batch(...list), logs }))).toEqual([
      'deposit alpha unsigned c3 1 1 swap',
      'deposit beta unsigned c3 2 2 swap',
      'deposit alpha unsigned c3 3 3',
    ])
  })

  it('fall back on the code around them where their own names no distributor', () => {
    const list: [Address, string][] = [
      [vault, `${plain}${codes('nobody')}`],
      [vault, `${plain}${codes('beta')}`],
      [vault, plain],
    ]
    const logs = [1n, 2n, 3n].flatMap((amount) => deposited(account, account, amount))
    const input = handleOps7(operation7(account, `${batch(...list)}${codes('alpha')}` as Hex))
    const end = say.operationEnd(entryPoint7, account)
    expect(entries(openHandChain().mine({ from: bob, to: entryPoint7, input, logs: [...logs, end] }))).toEqual([
      'deposit alpha unsigned c3 1 1',
      'deposit beta unsigned c3 2 2',
      'deposit alpha unsigned c3 3 3',
    ])
  })

  it('prefer the code of the call itself to the one around it, through a router as directly', () => {
    const own = `${call.zap(1n)}${signedBy('beta', account, router, call.zap(1n))}`
    const input = handleOps7(operation7(account, `${batch([router, own])}${codes('alpha')}` as Hex))
    const logs = [...zapped(account, 50n), say.operationEnd(entryPoint7, account)]
    expect(entries(openHandChain().mine({ from: bob, to: entryPoint7, input, logs }))).toEqual([
      'deposit beta signed c3 50 50',
    ])
  })

  it('are the caller’s own inside multicall(bytes[]), on the vault and on a router', () => {
    const parts = [`${plain}${codes('alpha')}`, `${plain}${codes('beta')}`] as Hex[]
    const direct = { from: ann, to: vault, input: multicall(...parts) }
    const logs = [...deposited(ann, ann, 10n), ...deposited(ann, ann, 20n)]
    expect(entries(openHandChain().mine({ ...direct, logs }))).toEqual([
      'deposit alpha unsigned a1 10 10',
      'deposit beta unsigned a1 20 20',
    ])
    const zaps = [`${call.zap(1n)}${codes('alpha')}`, `${call.zap(2n)}${codes('beta')}`] as Hex[]
    const routed = { from: ann, to: router, input: multicall(...zaps) }
    const told = [...deposited(router, ann, 10n), ...deposited(router, ann, 20n)]
    expect(entries(openHandChain().mine({ ...routed, logs: told }))).toEqual([
      'deposit alpha unsigned a1 10 10 swap',
      'deposit beta unsigned a1 20 20 swap',
    ])
  })

  it('are told apart inside a Safe that delegates to multiSend, and its owner’s own suffix counts for nothing', () => {
    const parts = [packed(vault, `${plain}${codes('alpha')}` as Hex), packed(other, `${plain}${codes('beta')}` as Hex)]
    const input = `${safe(router, multiSend(...parts), 1)}${codes('gamma')}`
    const logs = [...deposited(account, account, 10n), ...deposited(account, account, 20n, other)]
    expect(entries(openHandChain().mine({ from: bob, to: account, input, logs }))).toEqual([
      'deposit alpha unsigned c3 10 10',
      'deposit beta unsigned c3 20 20',
    ])
  })

  it('are not followed from a user operation into a Safe and on into another account, which only calldata says it drives', () => {
    const inner = batch([vault, `${plain}${signedBy('alpha', account, vault, plain)}`])
    const callData = safe(account, inner, 0, 'executeUserOp')
    const logs = [...deposited(account, account, 10n), say.operationEnd(entryPoint7, treasury)]
    const input = handleOps7(operation7(treasury, callData))
    const rows = openHandChain().mine({ from: bob, to: entryPoint7, input, logs })
    expect(entries(rows)).toEqual([])
    expect(rows.attributions).toMatchObject([{ distributorId: null, codes: ['alpha'], problems: ['needs a trace'] }])
  })
})

describe('a bundle of user operations', () => {
  const operation = (sender: Address, code: string) =>
    operation7(sender, batch([vault, `${call.deposit(1n, sender)}${codes(code)}`]))

  it('gives each operation its own logs; one that reverted has none, and the bundler’s suffix counts for nobody', () => {
    const input = `${handleOps7(operation(ann, 'alpha'), operation(bob, 'beta'), operation(cat, 'gamma'))}${codes('alpha')}`
    const logs = [
      ...deposited(ann, ann, 10n),
      say.operationEnd(entryPoint7, ann),
      say.operationEnd(entryPoint7, bob),
      ...deposited(cat, cat, 30n),
      say.operationEnd(entryPoint7, cat),
    ]
    expect(entries(openHandChain().mine({ from: treasury, to: entryPoint7, input, logs }))).toEqual([
      'deposit alpha unsigned a1 10 10',
      'deposit gamma unsigned c3 30 30',
    ])
  })

  it('counts the ends of its own operations only, not those of a bundle some operation runs at another entry point', () => {
    const input = handleOps7(operation(ann, 'alpha'), operation(bob, 'beta'))
    const logs = [
      say.operationEnd(entryPoint8, treasury),
      ...deposited(ann, ann, 10n),
      say.operationEnd(entryPoint7, ann),
      ...deposited(bob, bob, 20n),
      say.operationEnd(entryPoint7, bob),
    ]
    expect(entries(openHandChain().mine({ from: treasury, to: entryPoint7, input, logs }))).toEqual([
      'deposit alpha unsigned a1 10 10',
      'deposit beta unsigned b2 20 20',
    ])
  })
})

describe('a call that makes a vault tell of two things', () => {
  it('credits the request that claims what was settled before on the way', () => {
    const chain = openHandChain()
    const ask = call.requestDeposit(1n, ann, ann)
    const first = { from: ann, to: asynchronous, input: `${ask}${codes('alpha')}` }
    chain.mine({ ...first, logs: [say.requestDeposit(ann, ann, ann, 60n)] })
    const rows = chain.mine({
      from: ann,
      to: asynchronous,
      input: `${ask}${codes('beta')}`,
      logs: [
        say.move(asynchronous, ann, 55n, asynchronous),
        say.deposit(ann, ann, 60n, 55n, asynchronous),
        say.requestDeposit(ann, ann, ann, 40n),
      ],
    })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 60 55'])
    expect(chain.open(ann)).toEqual(['beta 40'])
    expect(chain.lots(ann, asynchronous)).toEqual({ alpha: 55n })
  })
})
