import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  ann,
  bob,
  call,
  cat,
  codes,
  deposited,
  entries,
  openHandChain,
  say,
  signedBy,
  vault,
  who,
} from '../../test/handChain.js'
import { calls, traced, untraced } from '../../test/handTrace.js'
import { tradeTopic } from './settlements.js'

const [settlement, solver] = [who('9008'), who('501')]
const ours = { settlements: [settlement] }
const settle: Hex = `0x13d79a0b${'00'.repeat(32)}`
const trade = (owner: string, by: string = settlement) => ({
  address: by,
  topics: [tradeTopic, `0x${owner.slice(2).padStart(64, '0')}`],
  data: '0x',
})

/** A solver settles: the contract deposits what was sold and passes the shares on. */
const settled = (suffix: string, more: { to?: string; trades?: ReturnType<typeof trade>[]; on?: string } = {}) => {
  const { to = ann, trades = [trade(ann)], on = settlement } = more
  const made = calls(on, vault, call.deposit(9n, on as Hex), deposited(on, on, 9n))
  const paid = calls(on, vault, call.transfer(to as Hex, 9n), [say.move(on, to, 9n)])
  return calls(solver, on, `${settle}${suffix}`, [made, paid, ...trades])
}
const signed = signedBy('alpha', solver, settlement, settle)

/** What enters the ledger, with a trace and without. */
const both = (root: Parameters<typeof traced>[0], config: object = ours) =>
  [traced(root), untraced(traced(root))].map((sent) => {
    const chain = openHandChain(config)
    const rows = entries(chain.mine(sent)).map((line) => line.split(' ').slice(0, 6).join(' '))
    return { rows, lots: chain.lots(ann) }
  })

describe('a settlement of our own order book', () => {
  it('credits the receiver of its one order with what our signature over it says, with a trace and without', () => {
    for (const { rows, lots } of both(settled(signed))) {
      expect(rows).toEqual(['deposit alpha signed a1 9 9'])
      expect(lots).toEqual({ alpha: 9n })
    }
  })

  it('says nothing without our signature over that very call, nor for anybody but the receiver', () => {
    const unsigned = both(settled(codes('alpha')))
    const another = both(settled(signedBy('alpha', bob, settlement, settle)))
    const elsewhere = both(settled(signed, { to: cat }))
    for (const { rows } of [...unsigned, ...another, ...elsewhere]) expect(rows).toEqual([])
  })

  it('says nothing where more orders than one are filled, or none, or another contract settles', () => {
    const two = both(settled(signed, { trades: [trade(ann), trade(bob)] }))
    const none = both(settled(signed, { trades: [] }))
    const told = both(settled(signed, { trades: [trade(ann, bob)] }))
    const other = who('9009')
    const foreign = both(settled(signedBy('alpha', solver, other, settle), { on: other, trades: [trade(ann, other)] }))
    const undeclared = both(settled(signed), {})
    for (const { rows } of [...two, ...none, ...told, ...foreign, ...undeclared]) expect(rows).toEqual([])
  })

  it('is signed once: what carries the same bytes again is unsigned', () => {
    const chain = openHandChain(ours)
    const lines = [1, 2].map(() =>
      entries(chain.mine(traced(settled(signed)))).map((line) => line.split(' ').slice(0, 3)),
    )
    expect(lines).toEqual([[['deposit', 'alpha', 'signed']], [['deposit', 'alpha', 'unsigned']]])
  })
})
