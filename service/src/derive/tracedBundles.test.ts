import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  entryPoint7,
  execute,
  handleOps7,
  hashOperation7,
  operation7,
} from '../../../packages/attribution/test/wrapping.js'
import {
  bob,
  call,
  chainId,
  codes,
  deposited,
  entries,
  openHandChain,
  say,
  signedBy,
  treasury,
  vault,
  who,
} from '../../test/handChain.js'
import { calls, type Step, traced, untraced } from '../../test/handTrace.js'

const [first, second, aggregator] = [who('5afe'), who('5aff'), who('a99')]
const abi = parseAbi([
  'struct Op { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 a; uint256 b; bytes32 c; bytes paymaster; bytes signature; }',
  'struct Group { Op[] ops; address aggregator; bytes signature; }',
  'function handleAggregatedOps(Group[] groups, address beneficiary)',
])

const mine = (sent: Parameters<ReturnType<typeof openHandChain>['mine']>[0]) => {
  const rows = openHandChain().mine(sent)
  return { entries: entries(rows), problems: rows.attributions[0]?.problems ?? [] }
}
const plan = (code: string, owner: Address, amount: bigint): Hex => {
  const data = call.deposit(amount, owner)
  return `${data}${signedBy(code, owner, vault, data)}` as Hex
}
const ended = (sender: Address, callData: Hex) => {
  const told = say.operationEnd(entryPoint7, sender)
  const topics = [told.topics[0] ?? '', hashOperation7(chainId, sender, callData), ...told.topics.slice(2)]
  return { ...told, topics, data: `0x${'0'.repeat(64)}${told.data.slice(66)}` }
}
/** What an EntryPoint does for one operation; `after` what it calls behind the account's call. */
const runs = (sender: Address, callData: Hex, step: Step, ...after: Step[]): Step =>
  calls(entryPoint7, entryPoint7, `0x0042dc53${hashOperation7(chainId, sender, callData).slice(2)}`, [
    calls(entryPoint7, sender, callData, [step]),
    ...after,
  ])
const deposits = (wallet: Address, data: Hex, amount: bigint) =>
  calls(wallet, vault, data, deposited(wallet, wallet, amount))

describe('a bundle of operations whose signatures an aggregator checks', () => {
  it('leaves each account its own code, with a trace and without, whatever stands in the aggregator’s own data', () => {
    const [one, other] = [plan('alpha', first, 7n), plan('beta', second, 9n)]
    const [own, others] = [execute(vault, one), execute(vault, other)]
    const signature = `0x${codes('beta')}` as Hex
    const groups = [
      { ops: [operation7(first, own)], aggregator, signature },
      { ops: [operation7(second, others)], aggregator, signature },
    ]
    const input = encodeFunctionData({ abi, functionName: 'handleAggregatedOps', args: [groups, bob] })
    const sent = traced(
      calls(bob, entryPoint7, input, [
        say.execution(entryPoint7),
        runs(first, own, deposits(first, one, 7n)),
        ended(first, own),
        runs(second, others, deposits(second, other, 9n)),
        ended(second, others),
      ]),
    )
    const told = ['deposit alpha signed 5afe 7 7', 'deposit beta signed 5aff 9 9']
    expect(mine(sent).entries).toEqual(told)
    expect(mine(untraced(sent)).entries).toEqual(told)
  })
})

describe('a paymaster’s postOp', () => {
  it('that deposits for the account has no part in the operation’s code, nor the operation in what it brings', () => {
    const one = plan('alpha', first, 7n)
    const callData = execute(vault, one)
    const given = `${call.deposit(3n, first)}${codes('beta')}` as Hex
    const made = calls(treasury, vault, given, deposited(treasury, first, 3n))
    const postOp = calls(entryPoint7, treasury, '0x7c627b21', [made])
    const root = calls(bob, entryPoint7, handleOps7(operation7(first, callData)), [
      say.execution(entryPoint7),
      runs(first, callData, deposits(first, one, 7n), postOp),
      ended(first, callData),
    ])
    const own = 'deposit alpha signed 5afe 7 7'
    expect(mine(traced(root)).entries).toEqual([own])
    expect(mine(traced(root, { confirmed: true })).entries).toEqual([own, 'deposit beta unsigned 5afe 3 3'])
    expect(mine(untraced(traced(root))).entries).toEqual([own])
  })
})
