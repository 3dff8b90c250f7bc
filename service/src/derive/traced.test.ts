import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  entryPoint7,
  execute,
  handleOps7,
  hashOperation7,
  multicall,
  multiSend,
  operation7,
  packed,
  safe,
} from '../../../packages/attribution/test/wrapping.js'
import {
  ann,
  batch,
  bob,
  call,
  chainId,
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
  who,
  zero,
} from '../../test/handChain.js'
import { calls, creates, delegates, type Step, traced, untraced } from '../../test/handTrace.js'
import type { DeriveConfig } from './config.js'

type Sent = ReturnType<typeof traced>
const wallet = who('5afe')
const [bundler, forger, library] = [who('b0b'), who('f09e'), who('11b')]

/** What a transaction gives with a trace and without, each on a chain of its own. */
function mineBoth(sent: Sent, more: Partial<DeriveConfig> = {}) {
  const mine = (transaction: Parameters<ReturnType<typeof openHandChain>['mine']>[0]) => {
    const chain = openHandChain(more)
    const rows = chain.mine(transaction)
    return { entries: entries(rows), problems: rows.attributions[0]?.problems ?? [], chain, rows }
  }
  return { withTrace: mine(sent), without: mine(untraced(sent)) }
}
const plan = (code: string, owner: Address, amount: bigint): Hex => {
  const data = call.deposit(amount, owner)
  return `${data}${signedBy(code, owner, vault, data)}` as Hex
}
const ended = (entryPoint: string, sender: Address, callData: Hex) => {
  const told = say.operationEnd(entryPoint, sender)
  const hash = hashOperation7(chainId, sender, callData)
  const topics = [told.topics[0] ?? '', hash, ...told.topics.slice(2)]
  return { ...told, topics, data: `0x${'0'.repeat(64)}${told.data.slice(66)}` }
}
const begun = () => say.execution(entryPoint7)
/** What an EntryPoint does for one operation. */
const runs = (sender: Address, callData: Hex, ...steps: Step[]): Step =>
  calls(entryPoint7, entryPoint7, `0x0042dc53${hashOperation7(chainId, sender, callData).slice(2)}`, [
    calls(entryPoint7, sender, callData, steps),
  ])

describe('forged frames', () => {
  it('around another’s operation take nothing: with a trace the victim’s distributor has it, without it too', () => {
    const callData = execute(vault, plan('alpha', wallet, 2_000n))
    const bundle = handleOps7(operation7(wallet, callData))
    const forged = execute(wallet, execute(vault, plan('beta', wallet, 2_000n)))
    const input = `${forged}${bundle.slice(2)}`
    const inner = calls(wallet, vault, plan('alpha', wallet, 2_000n), deposited(wallet, wallet, 2_000n))
    const root = calls(bob, forger, input, [
      calls(forger, entryPoint7, bundle, [
        begun(),
        runs(wallet, callData, inner),
        ended(entryPoint7, wallet, callData),
      ]),
    ])
    const { withTrace, without } = mineBoth(traced(root))
    expect(withTrace.entries).toEqual(['deposit alpha signed 5afe 2000 2000'])
    expect(without.entries).toEqual(['deposit alpha signed 5afe 2000 2000'])
  })

  it('around a plain account take nothing: with a trace the account’s own code counts, without one nobody’s', () => {
    const own = plan('alpha', wallet, 5_000n)
    const forged = execute(wallet, execute(vault, plan('beta', wallet, 5_000n)))
    const stored = execute(vault, own)
    const root = calls(bob, forger, forged, [
      calls(forger, wallet, stored, [calls(wallet, vault, own, deposited(wallet, wallet, 5_000n))]),
    ])
    const { withTrace, without } = mineBoth(traced(root, { confirmed: true }))
    expect(withTrace.entries).toEqual(['deposit alpha signed 5afe 5000 5000'])
    expect(without).toMatchObject({ entries: [], problems: ['needs a trace'] })
  })

  it('are nobody’s where what ran came from a contract’s own storage and one node says so, unless it is trusted', () => {
    const own = plan('alpha', wallet, 5_000n)
    const root = calls(bob, forger, '0x', [calls(wallet, vault, own, deposited(wallet, wallet, 5_000n))])
    const { withTrace, without } = mineBoth(traced(root))
    expect(withTrace).toMatchObject({ entries: [], problems: ["one node's word"] })
    expect(withTrace.rows.usedSignatures).toEqual([])
    expect(without).toMatchObject({ entries: [], problems: [] })
    expect(mineBoth(traced(root), { trustTraces: true }).withTrace.entries).toEqual([
      'deposit alpha signed 5afe 5000 5000',
    ])
    expect(mineBoth(traced(root, { confirmed: true })).withTrace.entries).toEqual([
      'deposit alpha signed 5afe 5000 5000',
    ])
  })
})

describe('a bundle behind a contract', () => {
  const callData = execute(vault, plan('alpha', wallet, 7n))
  const bundle = handleOps7(operation7(wallet, callData))
  const run = (tail: string, input: string, hasLogs = true) =>
    traced(
      calls(bob, bundler, input, [
        calls(bundler, entryPoint7, `${bundle}${tail}`, [
          begun(),
          runs(wallet, callData, calls(wallet, vault, plan('alpha', wallet, 7n), deposited(wallet, wallet, 7n))),
          ended(entryPoint7, wallet, callData),
        ]),
      ]),
      { hasLogs },
    )

  it('takes nothing away from its operations, with a trace and without', () => {
    for (const hasLogs of [true, false]) {
      const { withTrace, without } = mineBoth(run('', `0x12345678${bundle.slice(2)}`, hasLogs))
      expect(withTrace.entries).toEqual(['deposit alpha signed 5afe 7 7'])
      expect(without.entries).toEqual(['deposit alpha signed 5afe 7 7'])
    }
  })

  it('has no say by what the bundler puts behind it, its own address neither', () => {
    const tail = codes('beta')
    const { withTrace } = mineBoth(run(tail, `0x12345678${bundle.slice(2)}${tail}`))
    expect(withTrace.entries).toEqual(['deposit alpha signed 5afe 7 7'])
  })

  it('that it keeps packed needs a second node’s word', () => {
    expect(mineBoth(run('', '0x12345678')).withTrace).toMatchObject({ entries: [], problems: ["one node's word"] })
  })

  it('counts the operation’s own suffix around calls of its account only, and none of its validation', () => {
    const data = `${execute(vault, call.deposit(7n, wallet))}${codes('alpha')}` as Hex
    const sent = handleOps7(operation7(wallet, data))
    const own = calls(wallet, vault, call.deposit(7n, wallet), deposited(wallet, wallet, 7n))
    const told = (steps: Step[]) => traced(calls(bob, entryPoint7, sent, [...steps, ended(entryPoint7, wallet, data)]))
    expect(mineBoth(told([begun(), runs(wallet, data, own)])).withTrace.entries).toEqual([
      'deposit alpha unsigned 5afe 7 7',
    ])
    const validated = [calls(entryPoint7, wallet, '0x19822f7c', [own]), begun()]
    expect(mineBoth(told(validated)).withTrace.entries).toEqual([])
    const paymaster = [begun(), calls(entryPoint7, treasury, '0x7c627b21', [own])]
    expect(mineBoth(told(paymaster)).withTrace.entries).toEqual([])
  })
})

describe('a router', () => {
  const zapped = (suffix: string, tag: string, steps: Step[] = deposited(router, ann, 9n)) =>
    traced(
      calls(ann, router, `${call.zap(9n)}${suffix}`, [calls(router, vault, `${call.deposit(9n, ann)}${tag}`, steps)]),
      { confirmed: true },
    )

  it('has its own tag count where the wallet’s plan has none, and never before it', () => {
    expect(mineBoth(zapped('', codes('beta'))).withTrace.entries).toEqual(['deposit beta unsigned a1 9 9'])
    expect(mineBoth(zapped('', codes('beta'))).without.entries).toEqual([])
    for (const { entries } of Object.values(mineBoth(zapped(codes('alpha'), codes('beta')))))
      expect(entries).toEqual(['deposit alpha unsigned a1 9 9 swap'])
  })

  it('that delivers to a relayer and its user gives each its own: the relayer’s unit and no more', () => {
    const logs = [
      say.move(zero, router, 1_000n),
      say.deposit(router, router, 2_000n, 1_000n),
      say.move(router, bob, 1n),
      say.move(router, ann, 999n),
    ]
    const input = `${call.zap(1n)}${codes('beta')}`
    const own = calls(router, vault, call.deposit(2_000n, router), logs.slice(0, 2))
    const { withTrace, without } = mineBoth(traced(calls(bob, router, input, [own, ...logs.slice(2)])))
    for (const { entries, chain } of [withTrace, without]) {
      expect(entries).toEqual(['deposit beta unsigned b2 2 1 swap'])
      expect(chain.lots(ann)).toEqual({ free: 999n })
    }
  })

  it('in a batch has each event known by its call, where calldata leaves it in doubt', () => {
    const one = calls(wallet, treasury, `${call.zap(1n)}${codes('alpha')}`, [
      calls(treasury, vault, call.deposit(5n, wallet), deposited(treasury, wallet, 5n)),
    ])
    const two = calls(wallet, router, `${call.zap(1n)}${codes('beta')}`, [
      calls(router, vault, call.deposit(6n, wallet), deposited(router, wallet, 6n)),
    ])
    const third = who('9001')
    const doubtful = calls(wallet, third, `${call.zap(1n)}${codes('gamma')}`, [
      calls(third, who('9002'), '0x01', [
        calls(who('9002'), vault, call.deposit(7n, wallet), deposited(who('9002'), wallet, 7n)),
      ]),
    ])
    const list = [one, two, doubtful].map(({ target, input }) => [target, input] as [Address, string])
    const { withTrace, without } = mineBoth(traced(calls(wallet, wallet, batch(...list), [one, two, doubtful])))
    const first = ['deposit alpha unsigned 5afe 5 5 swap', 'deposit beta unsigned 5afe 6 6 swap']
    expect(withTrace.entries).toEqual([...first, 'deposit gamma unsigned 5afe 7 7 swap'])
    expect(without.entries.slice(0, 2)).toEqual(first)
  })

  it('that hands a unit to the relayer of an account’s batch leaves that unit to the relayer’s own code', () => {
    const logs = [...deposited(router, wallet, 9n), say.move(wallet, bob, 1n)]
    const zap = `${call.zap(9n)}${codes('beta')}`
    const own = calls(wallet, router, zap, [
      calls(router, vault, call.deposit(9n, wallet), logs.slice(0, 2)),
      ...logs.slice(2),
    ])
    const input = `${batch([router, zap])}${codes('alpha')}`
    for (const { entries } of Object.values(mineBoth(traced(calls(bob, wallet, input, [own])))))
      expect(entries.sort()).toEqual(['deposit alpha unsigned b2 1 1 swap', 'deposit beta unsigned 5afe 8 8 swap'])
  })

  it('and strangers around another’s call count for nothing there', () => {
    const input = `${call.zap(1n)}${codes('beta')}`
    const root = calls(bob, router, input, [calls(ann, vault, call.deposit(9n, ann), deposited(ann, ann, 9n))])
    expect(mineBoth(traced(root)).withTrace).toMatchObject({ entries: [], problems: [] })
  })

  it('has what it swapped for signed, when the wallet’s call to it was; a swap is what our suffix says it is', () => {
    const data = call.zap(9n)
    const input = `${data}${signedBy('alpha', ann, router, data)}`
    const root = calls(ann, router, input, [calls(router, vault, call.deposit(9n, ann), deposited(router, ann, 9n))])
    for (const { entries } of Object.values(mineBoth(traced(root))))
      expect(entries).toEqual(['deposit alpha signed a1 9 9'])
  })
})

describe('codes in a call', () => {
  it('that stand in the input come before what a contract made up, also where that lies further in', () => {
    const helper = who('4e1')
    const made = calls(wallet, vault, `${call.deposit(9n, wallet)}${codes('beta')}`, deposited(wallet, wallet, 9n))
    const input = `${execute(helper, call.zap(1n))}${codes('alpha')}`
    const root = calls(wallet, wallet, input, [calls(wallet, helper, call.zap(1n), [made])])
    expect(mineBoth(traced(root, { confirmed: true })).withTrace.entries).toEqual(['deposit alpha unsigned 5afe 9 9'])
    const bare = calls(wallet, wallet, execute(helper, call.zap(1n)), [made])
    expect(mineBoth(traced(bare, { confirmed: true })).withTrace.entries).toEqual(['deposit beta unsigned 5afe 9 9'])
  })

  it('that a helper appends by delegatecall to data of its own are none', () => {
    const data = call.deposit(9n, ann)
    const root = calls(ann, vault, data, [
      delegates(vault, library, `${data}${codes('beta')}`, deposited(ann, ann, 9n)),
    ])
    for (const { entries } of Object.values(mineBoth(traced(root)))) expect(entries).toEqual([])
  })

  it('of a proxied call count once: what repeats the call’s data is no call of its own', () => {
    const input = plan('alpha', ann, 9n)
    const root = calls(ann, vault, input, [delegates(vault, library, input, deposited(ann, ann, 9n))])
    for (const { entries, problems } of Object.values(mineBoth(traced(root))))
      expect([entries, problems]).toEqual([['deposit alpha signed a1 9 9'], []])
  })

  it('of the parts of a multicall belong to each part', () => {
    const parts = ['alpha', 'beta'].map((code, at) => `${call.deposit(BigInt(at + 5), ann)}${codes(code)}` as Hex)
    const steps = parts.map((part, at) => delegates(vault, vault, part, deposited(ann, ann, BigInt(at + 5))))
    for (const { entries } of Object.values(mineBoth(traced(calls(ann, vault, multicall(...parts), steps)))))
      expect(entries).toEqual(['deposit alpha unsigned a1 5 5', 'deposit beta unsigned a1 6 6'])
  })

  it('of a Safe’s batch are the Safe’s, whoever sends it, a module too', () => {
    const own = plan('alpha', wallet, 9n)
    const sent = multiSend(packed(vault, own))
    const deposit = calls(wallet, vault, own, deposited(wallet, wallet, 9n))
    const run = [delegates(wallet, library, sent, [deposit])]
    for (const { entries } of Object.values(mineBoth(traced(calls(bob, wallet, safe(library, sent, 1), run)))))
      expect(entries).toEqual(['deposit alpha signed 5afe 9 9'])
    const module = calls(bob, treasury, `0x12345678${own.slice(2)}`, [
      calls(treasury, wallet, `0x468721a7${own.slice(2)}`, [deposit]),
    ])
    const { withTrace, without } = mineBoth(traced(module))
    expect([withTrace.entries, without.entries]).toEqual([['deposit alpha signed 5afe 9 9'], []])
  })

  it('in what deploys a contract are none, and what that calls is its own', () => {
    const made = who('c0de')
    const own = `${call.deposit(9n, made)}${codes('beta')}`
    const root = calls(bob, router, `0x00000000${codes('alpha')}`, [
      creates(router, made, `0x6000${codes('alpha')}`, [calls(made, vault, own, deposited(made, made, 9n))]),
    ])
    expect(mineBoth(traced(root, { confirmed: true })).withTrace.entries).toEqual(['deposit beta unsigned c0de 9 9'])
  })
})

describe('a deposit’s shares by trace', () => {
  it('are those of its own call, also where another deposit’s lie nearer', () => {
    const first = calls(wallet, vault, `${call.deposit(5n, wallet)}${codes('alpha')}`, [
      say.deposit(wallet, wallet, 5n, 5n),
      say.move(zero, wallet, 5n),
    ])
    const second = calls(wallet, vault, `${call.deposit(1_000n, wallet)}${codes('beta')}`, [
      say.move(zero, wallet, 1_000n),
      say.deposit(wallet, wallet, 1_000n, 1_000n),
    ])
    const list = [first, second].map(({ target, input }) => [target, input] as [Address, string])
    const { withTrace } = mineBoth(traced(calls(wallet, wallet, batch(...list), [first, second])))
    expect(withTrace.chain.lots(wallet)).toEqual({ alpha: 5n, beta: 1_000n })
  })

  it('of an outer vault’s own deposit are the outer vault’s, and frames around it have no say there', () => {
    const inner = calls(other, vault, `${call.deposit(9n, other)}${codes('beta')}`, deposited(other, other, 9n))
    const outer = calls(ann, other, `${call.deposit(9n, ann)}${codes('alpha')}`, [
      inner,
      ...deposited(ann, ann, 9n, other),
    ])
    const { withTrace } = mineBoth(traced(outer, { confirmed: true }))
    expect(withTrace.entries.sort()).toEqual(['deposit alpha unsigned a1 9 9', 'deposit beta unsigned f1 9 9'])
  })
})

describe('a wallet that keeps a deposit’s shares', () => {
  const pool = who('9001')
  const through = (contracts: readonly string[]) => {
    const logs = [...deposited(ann, ann, 9n), say.move(ann, pool, 9n)]
    const input = `${call.zap(9n)}${codes('alpha')}`
    const own = calls(ann, vault, `${call.deposit(9n, ann)}${codes('alpha')}`, logs.slice(0, 2))
    return {
      ...traced(calls(ann, ann, batch([vault, own.input], [router, input]), [own, ...logs.slice(2)])),
      contracts,
    }
  }

  it('is one without code, or one that made a call around the deposit: a pool keeps none', () => {
    for (const { entries, chain } of Object.values(mineBoth(through([])))) {
      expect(entries).toEqual(['deposit alpha unsigned 9001 9 9'])
      expect(chain.lots(pool)).toEqual({ alpha: 9n })
    }
    for (const { entries, chain } of Object.values(mineBoth(through([pool])))) {
      expect(entries).toEqual([])
      expect(chain.lots(pool)).toEqual({ free: 9n })
    }
    for (const { entries } of Object.values(
      mineBoth({
        ...traced(
          calls(bob, wallet, execute(vault, plan('alpha', wallet, 9n)), [
            calls(wallet, vault, plan('alpha', wallet, 9n), deposited(wallet, wallet, 9n)),
          ]),
        ),
        ...{ contracts: [wallet] },
      }),
    ))
      expect(entries).toEqual(['deposit alpha signed 5afe 9 9'])
  })

  it('may have called a forwarder that is declared, and the sender the event names is who spoke', () => {
    const forwarder = who('e7c')
    const data = `${call.deposit(9n, ann)}${codes('alpha')}`
    const root = calls(bob, forwarder, `0x12345678${data.slice(2)}`, [
      calls(forwarder, vault, data, deposited(ann, ann, 9n)),
    ])
    expect(mineBoth(traced(root)).withTrace.entries).toEqual([])
    const declared = { forwarders: [{ address: forwarder, from: 0 }] }
    expect(mineBoth(traced(root), declared).withTrace.entries).toEqual(['deposit alpha unsigned a1 9 9'])
    const later = { forwarders: [{ address: forwarder, from: 1_000 }] }
    expect(mineBoth(traced(root), later).withTrace.entries).toEqual([])
  })
})

describe('a withdrawal through a router', () => {
  it('is of whom the shares were, by that wallet’s own code', () => {
    const chain = openHandChain()
    chain.mine({ from: ann, to: vault, input: call.deposit(50n, ann), logs: deposited(ann, ann, 50n) })
    const root = calls(ann, router, `${call.zap(1n)}${codes('alpha')}`, [
      say.move(ann, router, 50n),
      calls(router, vault, `${call.redeem(50n, router, router)}${codes('beta')}`, [
        say.move(router, zero, 50n),
        say.withdraw(router, router, 50n, 50n),
      ]),
    ])
    expect(entries(chain.mine(traced(root, { confirmed: true })))[0]).toMatch(/^withdraw alpha unsigned a1 50 50/)
  })
})
