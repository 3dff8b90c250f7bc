import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  bob,
  call,
  codes,
  deposited,
  entries,
  openHandChain,
  say,
  signedBy,
  vault,
  who,
  zero,
} from '../../test/handChain.js'
import { calls, traced, untraced } from '../../test/handTrace.js'
import { ownerTopic } from './subAccounts.js'

const connector = who('e7c')
const owner: Address = `0x${'a1'.repeat(20)}`
const sub: Address = `0x${'a1'.repeat(19)}07`
const declared = { forwarders: [{ address: connector, from: 0 }] }
/** What the connector tells when an account comes for the first time. */
const registered = (account: string, by: string = connector, prefix = account) => ({
  address: by,
  topics: [ownerTopic, `${prefix.slice(0, 40).padEnd(66, '0')}`, `0x${account.slice(2).padStart(64, '0')}`],
  data: '0x',
})
const register = (...logs: ReturnType<typeof registered>[]) => ({ from: bob, to: connector, input: '0x12345678', logs })

/** What an account sends to the connector for its sub-account: one deposit, with a suffix behind all of it. */
const batch = (from: Address, suffix: string, ...more: ReturnType<typeof registered>[]) => {
  const data = call.deposit(9n, sub)
  const input = `0x12345678${data.slice(2)}`
  const made = calls(connector, vault, data, deposited(sub, sub, 9n))
  return traced(calls(from, connector, `${input}${suffix}`, [...more, made]))
}

describe('a sub-account', () => {
  it('counts as the account that owns it, with a trace and without, and its shares and entries stay its own', () => {
    for (const sent of [batch(owner, codes('alpha')), untraced(batch(owner, codes('alpha')))]) {
      const chain = openHandChain(declared)
      expect(chain.mine(register(registered(owner))).owners).toMatchObject([{ owner, forwarder: connector }])
      const rows = chain.mine(sent)
      expect(entries(rows)).toEqual([`deposit alpha unsigned ${sub} 9 9`])
      expect([chain.lots(sub), chain.lots(owner)]).toEqual([{ alpha: 9n }, {}])
    }
  })

  it('is its owner’s in the very transaction that registers it, and signed where the owner’s call was', () => {
    const chain = openHandChain(declared)
    const input = `0x12345678${call.deposit(9n, sub).slice(2)}` as Hex
    const rows = chain.mine(batch(owner, signedBy('alpha', owner, connector, input), registered(owner)))
    expect(entries(rows).map((line) => line.split(' ').slice(0, 3))).toEqual([['deposit', 'alpha', 'signed']])
  })

  it('withdraws by its owner’s code too', () => {
    const chain = openHandChain(declared)
    chain.mine(register(registered(owner)))
    chain.mine(batch(owner, codes('alpha')))
    const data = call.redeem(4n, sub, sub)
    const burned = [say.move(sub, zero, 4n), say.withdraw(sub, sub, 4n, 4n)]
    const root = calls(owner, connector, `0x12345678${data.slice(2)}${codes('beta')}`, [
      calls(connector, vault, data, burned),
    ])
    expect(entries(chain.mine(traced(root))).map((line) => line.slice(0, 22))).toEqual(['withdraw beta unsigned'])
    expect(chain.lots(sub)).toEqual({ alpha: 5n })
  })

  it('is nobody else’s: not another’s, not of an account nobody registered, not by what another contract tells', () => {
    const told = (from: Address, logs: ReturnType<typeof registered>[], config: object = declared) => {
      const chain = openHandChain(config)
      chain.mine(register(...logs))
      return entries(chain.mine(batch(from, codes('alpha'))))
    }
    expect(told(bob, [registered(owner)])).toEqual([])
    expect(told(owner, [])).toEqual([])
    expect(told(owner, [registered(owner, who('bad'))])).toEqual([])
    expect(told(bob, [registered(bob, connector, owner)])).toEqual([])
    expect(told(owner, [registered(owner)], {})).toEqual([])
    expect(told(owner, [registered(owner)], { forwarders: [{ address: connector, from: 1_000 }] })).toEqual([])
  })

  it('stays with who registered first', () => {
    const chain = openHandChain(declared)
    const cousin = `${owner.slice(0, -2)}08`
    chain.mine(register(registered(owner)))
    expect(chain.mine(register(registered(cousin))).owners).toEqual([])
    expect(entries(chain.mine(batch(owner, codes('alpha'))))).toHaveLength(1)
  })
})

describe('a call of a forwarder', () => {
  const deposit = call.deposit(9n, owner)
  const made = (suffix: string, sender: Address = owner) =>
    calls(connector, vault, `${deposit}${suffix}`, deposited(sender, owner, 9n))
  const how = (root: Parameters<typeof traced>[0], config: object = declared, more: object = {}) => {
    const chain = openHandChain(config)
    return entries(chain.mine({ ...traced(root), ...more })).map((line) => line.split(' ').slice(0, 3).join(' '))
  }
  const signed = signedBy('alpha', owner, vault, deposit)

  it('is signed where the plan of the sender it names was, by whoever’s hand, and when the vault had itself called back', () => {
    expect(how(calls(owner, connector, '0x12345678', [made(signed)]))).toEqual([])
    const input: Hex = `0x12345678${deposit.slice(2)}${signed}${'00'.repeat(32)}`
    expect(how(calls(owner, connector, input, [made(signed)]))).toEqual(['deposit alpha signed'])
    expect(how(calls(bob, connector, input, [made(signed)]))).toEqual(['deposit alpha signed'])
    const passed = calls(vault, connector, input, [made(signed)])
    expect(how(calls(owner, vault, `${deposit}${signed}`, [passed]))).toEqual(['deposit alpha signed'])
  })

  it('is not signed by a plan of somebody else, nor while nobody has declared it', () => {
    const others = signedBy('alpha', bob, vault, deposit)
    const input: Hex = `0x12345678${deposit.slice(2)}${others}${'00'.repeat(32)}`
    expect(how(calls(bob, connector, input, [made(others)]))).toEqual(['deposit alpha unsigned'])
    const later = { forwarders: [{ address: connector, from: 1_000_000 }] }
    const own: Hex = `0x12345678${deposit.slice(2)}${signed}${'00'.repeat(32)}`
    expect(how(calls(bob, connector, own, [made(signed)]), later)).toEqual([])
  })

  it('lets a contract wallet keep the shares that were deposited in its name', () => {
    const input: Hex = `0x12345678${deposit.slice(2)}${codes('alpha')}${'00'.repeat(32)}`
    const root = calls(bob, connector, input, [made(codes('alpha'))])
    expect(how(root, declared, { contracts: [owner] })).toEqual(['deposit alpha unsigned'])
  })
})
