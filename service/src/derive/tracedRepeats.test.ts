import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  entryPoint7,
  execute,
  handleOps7,
  hashOperation7,
  operation7,
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
  vault,
  who,
} from '../../test/handChain.js'
import { calls, type Step, traced } from '../../test/handTrace.js'

const account = who('5afe')
const [manager, hook] = [who('4a9'), who('400c')]

const plan = (code: string, owner: Address, target: Address): Hex => {
  const data = call.deposit(9n, owner)
  return `${data}${signedBy(code, owner, target, data)}` as Hex
}

/** Entries and problems of a transaction, with logs in its trace and without. */
function mineEach(root: ReturnType<typeof calls>) {
  return [true, false].map((hasLogs) => {
    const rows = openHandChain().mine(traced(root, { hasLogs }))
    return [entries(rows), rows.attributions[0]?.problems ?? []]
  })
}
const both = (entry: string) => [
  [[entry], []],
  [[entry], []],
]
const none = [[], []]
/** A contract hears the whole calldata of its caller, and moves a share. */
const told = (caller: Address, input: Hex, ...steps: Step[]) =>
  calls(caller, hook, input, [calls(hook, vault, call.transfer(hook, 0n), [say.move(hook, hook, 0n)]), ...steps])

describe('codes in data that a call passes on whole', () => {
  it('are the wallet’s own, whomever its vault tells: before the deposit, after it, and through another contract', () => {
    const input = plan('alpha', ann, vault)
    const minted = deposited(ann, ann, 9n)
    const onward = calls(vault, manager, input, [told(manager, input)])
    for (const steps of [
      [told(vault, input), ...minted],
      [...minted, told(vault, input)],
      [onward, ...minted],
    ])
      expect(mineEach(calls(ann, vault, input, steps))).toEqual(both('deposit alpha signed a1 9 9'))
  })

  it('are the wallet’s own where its router passes them to the vault', () => {
    const input = plan('alpha', ann, router)
    const root = calls(ann, router, input, [calls(router, vault, input, deposited(router, ann, 9n))])
    expect(mineEach(root)).toEqual(both('deposit alpha signed a1 9 9'))
  })

  it('are the account’s own where its operation tells a module of them', () => {
    const callData = `${execute(vault, call.deposit(9n, account))}${codes('alpha')}` as Hex
    const deposit = calls(account, vault, call.deposit(9n, account), deposited(account, account, 9n))
    const bundle = handleOps7(operation7(account, callData))
    const end = say.operationEnd(entryPoint7, account)
    const topics = [end.topics[0] ?? '', hashOperation7(chainId, account, callData), ...end.topics.slice(2)]
    const root = calls(bob, entryPoint7, bundle, [
      say.execution(entryPoint7),
      calls(entryPoint7, account, callData, [told(account, callData), deposit]),
      { ...end, topics, data: `0x${'0'.repeat(64)}${end.data.slice(66)}` },
    ])
    expect(mineEach(root)).toEqual(both('deposit alpha unsigned 5afe 9 9'))
  })

  it('are the last part’s alone where they end a batch that is passed on', () => {
    const into = call.deposit(9n, account)
    const told = (last: string) => batch([vault, into], [other, last])
    // A part that fills its words ends the whole list.
    const lasts = Array.from({ length: 32 }, (_, at) => `${into}${codes('x'.repeat(at), 'beta')}`)
    const last = lasts.find((input) => told(input).endsWith(input.slice(2))) ?? expect.fail()
    const input = told(last)
    const parts = [calls(account, vault, into, deposited(account, account, 9n)), calls(account, other, last)]
    const root = calls(account, account, input, [calls(account, account, input, parts)])
    expect(mineEach(root)).toEqual([none, none])
  })
})
