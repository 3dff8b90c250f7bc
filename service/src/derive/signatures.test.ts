import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { entryPoint7, handleOps7, operation7 } from '../../../packages/attribution/test/wrapping.js'
import {
  ann,
  batch,
  bob,
  call,
  cat,
  codes,
  deposited,
  entries,
  openHandChain,
  other,
  say,
  signedBy,
  vault,
} from '../../test/handChain.js'

const account = cat
const plan = (wallet: Address, amount: bigint, code = 'alpha'): string => {
  const data = call.deposit(amount, wallet)
  return `${data}${signedBy(code, wallet, vault, data)}`
}
const used = { problems: ['signature already used'] }

describe('a signature', () => {
  it('counts once in a vault: sent again its code is unsigned, and says so', () => {
    const chain = openHandChain()
    const send = () => chain.mine({ from: ann, to: vault, input: plan(ann, 9n), logs: deposited(ann, ann, 9n) })
    const first = send()
    expect([entries(first), first.attributions[0]?.problems]).toEqual([['deposit alpha signed a1 9 9'], []])
    expect(first.usedSignatures).toMatchObject([{ vaultId: 1, blockNumber: 1 }])
    for (const again of [send(), send()]) {
      expect(entries(again)).toEqual(['deposit alpha unsigned a1 9 9'])
      expect(again.attributions).toMatchObject([used])
      expect(again.usedSignatures).toEqual([])
    }
  })

  it('that is used brings a distributor that wants signatures nothing, and the next name is found', () => {
    const chain = openHandChain({ signedOnly: new Map([['alpha', [{ from: 0, signedOnly: true }]]]) })
    const input = `${plan(ann, 9n)}${codes('beta')}`
    const send = () => entries(chain.mine({ from: ann, to: vault, input, logs: deposited(ann, ann, 9n) }))
    expect(send()).toEqual(['deposit alpha signed a1 9 9'])
    expect(send()).toEqual(['deposit beta unsigned a1 9 9'])
    expect(chain.lots(ann)).toEqual({ alpha: 9n, beta: 9n })
  })

  it('counts for every event of its call, and for one of two calls that are the same', () => {
    const chain = openHandChain()
    const twice = [...deposited(ann, ann, 9n), ...deposited(ann, ann, 9n)]
    expect(entries(chain.mine({ from: ann, to: vault, input: plan(ann, 9n), logs: twice }))).toEqual([
      'deposit alpha signed a1 9 9',
      'deposit alpha signed a1 9 9',
    ])
    const both = [plan(account, 5n), plan(account, 5n)].map((data): [Address, string] => [vault, data])
    const logs = [...deposited(account, account, 5n), ...deposited(account, account, 5n)]
    const rows = chain.mine({ from: bob, to: account, input: batch(...both), logs })
    expect(entries(rows)).toEqual(['deposit alpha signed c3 5 5', 'deposit alpha unsigned c3 5 5'])
    expect(rows.attributions).toMatchObject([used])
  })

  it('counts for the call it was made for and not for the one beside it, wherever it stands', () => {
    const [small, large] = [call.deposit(1n, account), call.deposit(1_000n, account)]
    const suffix = signedBy('alpha', account, vault, small)
    const logs = [...deposited(account, account, 1n), ...deposited(account, account, 1_000n)]
    const around = `${batch([vault, small], [vault, large])}${suffix}`
    expect(entries(openHandChain().mine({ from: account, to: account, input: around, logs }))).toEqual([
      'deposit alpha signed c3 1 1',
      'deposit alpha unsigned c3 1000 1000',
    ])
    const input = handleOps7(operation7(account, around as Hex))
    const wanting = openHandChain({ signedOnly: new Map([['alpha', [{ from: 0, signedOnly: true }]]]) })
    const told = [...logs, say.operationEnd(entryPoint7, account)]
    expect(entries(wanting.mine({ from: bob, to: entryPoint7, input, logs: told }))).toEqual([
      'deposit alpha signed c3 1 1',
    ])
    const beside = batch([vault, `${small}${codes('beta')}`], [vault, `${large}${suffix}`])
    expect(entries(openHandChain().mine({ from: bob, to: account, input: beside, logs }))).toEqual([
      'deposit beta unsigned c3 1 1',
      'deposit alpha unsigned c3 1000 1000',
    ])
  })

  it('that does not hold uses nothing: copied, of another vault, or without an event', () => {
    const chain = openHandChain()
    const copied = plan(ann, 9n)
    chain.mine({ from: bob, to: vault, input: copied, logs: deposited(bob, bob, 9n) })
    chain.mine({ from: ann, to: other, input: copied, logs: deposited(ann, ann, 9n, other) })
    chain.mine({ from: ann, to: vault, input: copied, logs: deposited(bob, bob, 9n) })
    const rows = chain.mine({ from: ann, to: vault, input: copied, logs: deposited(ann, ann, 9n) })
    expect(entries(rows)).toEqual(['deposit alpha signed a1 9 9'])
  })

  it('stands before what is unsigned around it, and after the wallet’s own code when another party carries it', () => {
    const chain = openHandChain()
    const own = chain.mine({
      from: bob,
      to: account,
      input: `${batch([vault, plan(account, 5n)])}${codes('beta')}`,
      logs: deposited(account, account, 5n),
    })
    expect(entries(own)).toEqual(['deposit alpha signed c3 5 5'])
  })
})
