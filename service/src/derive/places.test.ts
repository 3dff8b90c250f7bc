import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { entryPoint7, execute, handleOps7, multicall, operation7 } from '../../../packages/attribution/test/wrapping.js'
import {
  ann,
  bob,
  call,
  codes,
  deposited,
  entries,
  openHandChain,
  other,
  router,
  say,
  vault,
} from '../../test/handChain.js'

const plain = call.deposit(1n, ann)

describe('the place of an event', () => {
  it('is that of its log: router deposits into two vaults are matched in the order of the logs', () => {
    const chain = openHandChain()
    const zaps = ['alpha', 'beta', 'gamma'].map((code, at) => `${call.zap(BigInt(at))}${codes(code)}` as Hex)
    const told = [...deposited(router, ann, 10n), ...deposited(router, ann, 20n, other), ...deposited(router, ann, 30n)]
    const rows = chain.mine({ from: ann, to: router, input: multicall(...zaps), logs: told })
    expect(entries(rows).sort()).toEqual([
      'deposit alpha unsigned a1 10 10 swap',
      'deposit beta unsigned a1 20 20 swap',
      'deposit gamma unsigned a1 30 30 swap',
    ])
  })

  it('gives an operation no event of the operation before it, with one account in both', () => {
    const chain = openHandChain()
    const operations = [plain, `${plain}${codes('alpha')}`].map((data) => operation7(ann, execute(vault, data as Hex)))
    const end = say.operationEnd(entryPoint7, ann)
    const logs = [say.execution(entryPoint7), ...deposited(ann, ann, 10n), end, end]
    const rows = chain.mine({ from: bob, to: entryPoint7, input: handleOps7(...operations), logs })
    expect(entries(rows)).toEqual([])
    expect(chain.lots(ann)).toEqual({ free: 10n })
  })
})

describe('a lone transfer of nothing', () => {
  it('leaves no row', () => {
    const chain = openHandChain()
    const rows = chain.mine({ from: ann, to: vault, input: call.transfer(bob, 0n), logs: [say.move(ann, bob, 0n)] })
    const { attributions, ...derived } = rows
    expect(Object.entries(derived).filter(([, of]) => Array.isArray(of) && of.length > 0)).toEqual([])
    expect(attributions).toEqual([])
    expect(chain.lots(bob)).toEqual({})
  })
})
