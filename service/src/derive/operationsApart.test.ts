import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  entryPoint6,
  entryPoint7,
  entryPoint8,
  execute,
  handleOps6,
  handleOps7,
  operation6,
  operation7,
} from '../../../packages/attribution/test/wrapping.js'
import {
  bob,
  call,
  cat,
  chainId,
  codes,
  deposited,
  entries,
  openHandChain,
  say,
  vault,
  who,
} from '../../test/handChain.js'
import { calls, type Step, traced, untraced } from '../../test/handTrace.js'
import { hashOld, hashPacked, hashTyped } from '../../test/recount/operations.js'
import type { DeriveConfig } from './config.js'

const [first, second, contract] = [who('5afe'), who('5aff'), who('b0b')]
const entryPoints = [entryPoint6, entryPoint7, entryPoint8]
type Given = { sender: Address; callData: Hex; steps: readonly Step[] }

/** What each version of an EntryPoint is given, and the hash by which it tells of an operation. */
const versions = new Map([
  [entryPoint6, { write: (all: Given[]) => handleOps6(...all.map((each) => operation6(each.sender, each.callData))) }],
  [entryPoint7, { write: (all: Given[]) => handleOps7(...all.map((each) => operation7(each.sender, each.callData))) }],
  [entryPoint8, { write: (all: Given[]) => handleOps7(...all.map((each) => operation7(each.sender, each.callData))) }],
])
function hashOf(entryPoint: Address, { sender, callData }: Given): Hex {
  if (entryPoint === entryPoint6) {
    const { a, b, c, d, e, paymaster, ...common } = operation6(sender, callData)
    const gas = {
      callGasLimit: a,
      verificationGasLimit: b,
      preVerificationGas: c,
      maxFeePerGas: d,
      maxPriorityFeePerGas: e,
    }
    return hashOld({ ...common, ...gas, paymasterAndData: paymaster }, entryPoint, chainId)
  }
  const { a, b, c, paymaster, ...common } = operation7(sender, callData)
  const op = { ...common, accountGasLimits: a, preVerificationGas: b, gasFees: c, paymasterAndData: paymaster }
  return entryPoint === entryPoint7 ? hashPacked(op, entryPoint, chainId) : hashTyped(op, entryPoint, chainId)
}
/** A bundle as calldata, and what an EntryPoint does when it gets it; `before` is made while it validates. */
function bundle(entryPoint: Address, all: Given[], before: readonly Step[] = []) {
  const ran = all.flatMap((each): Step[] => {
    const hash = hashOf(entryPoint, each)
    const told = say.operationEnd(entryPoint, each.sender)
    const end = {
      ...told,
      topics: [told.topics[0] ?? '', hash, ...told.topics.slice(2)],
      data: `0x${'0'.repeat(64)}${told.data.slice(66)}`,
    }
    const own = calls(entryPoint, each.sender, each.callData, each.steps)
    return [calls(entryPoint, entryPoint, `0x0042dc53${hash.slice(2)}`, [own]), end]
  })
  const data = versions.get(entryPoint)?.write(all) ?? '0x'
  return { data, steps: [...before, say.execution(entryPoint), ...ran] }
}
/** An operation whose account deposits, for itself or for another. */
function depositing(sender: Address, owner: Address, amount: bigint, code = ''): Given {
  const data = `${call.deposit(amount, owner)}${code === '' ? '' : codes(code)}` as Hex
  const made = calls(sender, vault, data, deposited(sender, owner, amount))
  return { sender, callData: execute(vault, data), steps: [made] }
}
/** What a transaction gives by a trace with logs, by one without, and by calldata. */
function mineAll(root: ReturnType<typeof calls>, more: Partial<DeriveConfig> = {}) {
  const mine = (sent: Parameters<ReturnType<typeof openHandChain>['mine']>[0]) =>
    entries(openHandChain({ entryPoints, ...more }).mine(sent))
  const known = { confirmed: true }
  return {
    withLogs: mine(traced(root, known)),
    withoutLogs: mine(traced(root, { ...known, hasLogs: false })),
    byCalldata: mine(untraced(traced(root))),
  }
}
const same = (...lines: string[]) => ({ withLogs: lines, withoutLogs: lines, byCalldata: lines })

describe('a suffix around a bundle of user operations', () => {
  it.each([
    ['0.6', entryPoint6],
    ['0.7', entryPoint7],
    ['0.8', entryPoint8],
  ])('counts for nothing inside the operations of EntryPoint %s, whoever owns what they deposit', (_, entryPoint) => {
    const { data, steps } = bundle(entryPoint, [depositing(first, bob, 7n), depositing(second, contract, 9n)])
    const direct = calls(bob, entryPoint, `${data}${codes('beta')}`, steps)
    expect(mineAll(direct)).toEqual(same())
    const inner = calls(contract, entryPoint, `${data}${codes('beta')}`, steps)
    const behind = calls(bob, contract, `${execute(entryPoint, data)}${codes('beta')}`, [inner])
    expect(mineAll(behind)).toEqual(same())
  })

  it('takes nothing from an operation that carries its own, and gives nothing to its neighbour that carries none', () => {
    const given = [
      depositing(first, bob, 7n, 'alpha'),
      depositing(second, bob, 9n),
      depositing(first, first, 4n, 'gamma'),
    ]
    const { data, steps } = bundle(entryPoint7, given.slice(0, 2))
    const others = bundle(entryPoint8, given.slice(2))
    const root = calls(bob, contract, `0x12345678${data.slice(2)}${others.data.slice(2)}${codes('beta')}`, [
      calls(contract, entryPoint7, data, steps),
      calls(contract, entryPoint8, others.data, others.steps),
    ])
    // The account carries the code in its call of the vault, so it is the account's; the owner has it as the owner's party.
    expect(mineAll(root)).toEqual(same('deposit alpha unsigned b2 7 7', 'deposit gamma unsigned 5afe 4 4'))
  })

  it('counts for what its caller deposits beside the bundle, before it, after it and between two', () => {
    const one = bundle(entryPoint7, [depositing(first, bob, 7n)])
    const two = bundle(entryPoint7, [depositing(second, bob, 9n)])
    const beside = (amount: bigint) =>
      calls(contract, vault, call.deposit(amount, bob), deposited(contract, bob, amount))
    const input = `0x12345678${one.data.slice(2)}${two.data.slice(2)}${codes('beta')}`
    const root = calls(bob, contract, input, [
      beside(1n),
      calls(contract, entryPoint7, one.data, one.steps),
      beside(2n),
      calls(contract, entryPoint7, two.data, two.steps),
      beside(3n),
    ])
    const swapped = [1, 2, 3].map((amount) => `deposit beta unsigned b2 ${amount} ${amount} swap`)
    expect(mineAll(root)).toEqual(same(...swapped))
  })

  it('counts for what is deposited while the EntryPoint validates, which is of no operation', () => {
    const made = calls(second, vault, call.deposit(5n, bob), deposited(second, bob, 5n))
    const validation = calls(entryPoint7, second, '0x19822f7c', [made])
    const { data, steps } = bundle(entryPoint7, [depositing(first, bob, 7n)], [validation])
    const root = calls(bob, entryPoint7, `${data}${codes('beta')}`, steps)
    expect(mineAll(root)).toEqual(same('deposit beta unsigned b2 5 5 swap'))
  })

  it('counts for nothing that a paymaster deposits when the operation is done, also where that failed', () => {
    const postOp = calls(entryPoint7, second, '0x7c627b21', [
      calls(second, vault, call.deposit(5n, bob), deposited(second, bob, 5n)),
    ])
    for (const data of [`0x${'0'.repeat(63)}1`, `0x${'0'.repeat(64)}`]) {
      const end = {
        ...say.operationEnd(entryPoint7, first),
        data: `0x${'0'.repeat(64)}${data.slice(2)}${'0'.repeat(128)}`,
      }
      const sent = handleOps7(operation7(first, execute(vault, call.deposit(7n, first))))
      const root = calls(bob, entryPoint7, `${sent}${codes('beta')}`, [say.execution(entryPoint7), postOp, end])
      expect(mineAll(root)).toEqual(same())
    }
  })

  it('of an operation that runs a bundle of another EntryPoint counts for none of that’s, and for what is beside it', () => {
    const inner = bundle(entryPoint7, [depositing(second, first, 7n), depositing(cat, first, 8n, 'gamma')])
    const run = calls(first, entryPoint7, `${inner.data}${codes('beta')}`, inner.steps)
    const told = {
      sender: first,
      callData: `${execute(entryPoint7, inner.data)}${codes('alpha')}` as Hex,
      steps: [run],
    }
    const outer = bundle(entryPoint6, [told])
    const root = calls(bob, entryPoint6, `${outer.data}${codes('beta')}`, outer.steps)
    expect(mineAll(root)).toEqual(same('deposit gamma unsigned 5afe 8 8'))
    const own = calls(first, vault, call.deposit(3n, first), deposited(first, first, 3n))
    const both = bundle(entryPoint6, [{ ...told, steps: [run, own] }])
    const { withLogs } = mineAll(calls(bob, entryPoint6, `${both.data}${codes('beta')}`, both.steps))
    expect(withLogs).toEqual(['deposit gamma unsigned 5afe 8 8', 'deposit alpha unsigned 5afe 3 3'])
  })

  it('counts as before in blocks of before version 3 of the rules', () => {
    const { data, steps } = bundle(entryPoint7, [depositing(first, bob, 7n)])
    const root = calls(bob, contract, `0x12345678${data.slice(2)}${codes('beta')}`, [
      calls(contract, entryPoint7, data, steps),
    ])
    const { withLogs, withoutLogs } = mineAll(root, { operationsApartFrom: 2 })
    expect({ withLogs, withoutLogs }).toEqual({
      withLogs: ['deposit beta unsigned b2 7 7 swap'],
      withoutLogs: ['deposit beta unsigned b2 7 7 swap'],
    })
    expect(mineAll(root, { operationsApartFrom: 1 })).toEqual(same())
    // The bundle itself was no frame.
    const direct = calls(bob, entryPoint7, `${data}${codes('beta')}`, steps)
    expect(mineAll(direct, { operationsApartFrom: 2 })).toEqual(same())
  })
})
