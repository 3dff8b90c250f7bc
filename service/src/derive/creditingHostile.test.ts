import type { Address, Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  entryPoint6,
  entryPoint7,
  execute,
  handleOps6,
  handleOps7,
  hashOperation7,
  operation6,
  operation7,
} from '../../../packages/attribution/test/wrapping.js'
import {
  ann,
  asynchronous,
  batch,
  bob,
  call,
  cat,
  chainId,
  codes,
  deposited,
  entries,
  openHandChain,
  other,
  router,
  say,
  silo,
  vault,
  who,
  zero,
} from '../../test/handChain.js'

const total = (parts: Record<string, bigint>) => Object.values(parts).reduce((sum, part) => sum + part, 0n)

describe('shares that are burned in two steps', () => {
  it('through the vault itself are netted once, and the balance stays the sum of the Transfers', () => {
    const chain = openHandChain()
    chain.mine({ from: ann, to: vault, input: call.deposit(50n, ann), logs: deposited(ann, ann, 50n) })
    const logs = [
      say.move(ann, vault, 50n),
      say.move(vault, zero, 50n),
      say.withdraw(ann, ann, 50n, 50n),
      ...deposited(ann, ann, 100n),
    ]
    const rows = chain.mine({
      from: bob,
      to: ann,
      input: batch([vault, `${call.deposit(100n, ann)}${codes('alpha')}`]),
      logs,
    })
    expect(total(chain.lots(ann))).toBe(100n)
    expect(chain.lots(ann)).toEqual({ free: 50n, alpha: 50n })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 50 50'])
  })

  it('and come back from the vault or its escrow were never burned: what is deposited beside them is kept whole', () => {
    for (const at of [vault, asynchronous] as const) {
      const chain = openHandChain()
      const to = at === vault ? vault : silo
      chain.mine({ from: ann, to: at, input: call.deposit(50n, ann), logs: deposited(ann, ann, 50n, at) })
      const told = at === vault ? say.withdraw(ann, ann, 50n, 50n) : say.requestRedeem(ann, ann, ann, 50n)
      const logs = [say.move(ann, to, 50n, at), told, say.move(to, ann, 50n, at), ...deposited(ann, ann, 100n, at)]
      chain.mine({ from: ann, to: at, input: `${call.deposit(100n, ann)}${codes('alpha')}`, logs })
      expect(total(chain.lots(ann, at))).toBe(150n)
    }
  })
})

describe('a vault that came later', () => {
  it('says nothing of what was made before it counts: live and rebuilt are the same', () => {
    const known = openHandChain()
    const [first, later, ...more] = known.vaults
    if (!first || !later) throw new Error('the chain has no vaults')
    const send = (vaults: typeof known.vaults) => {
      // One call zaps through a contract the router names, the other deposits into the vault that came later.
      const list: [Address, string][] = [
        [router, `${call.zap(50n)}${codes('alpha')}`],
        [other, `${call.deposit(7n, cat)}${codes('beta')}`],
      ]
      const logs = [...deposited(who('9001'), cat, 50n), ...deposited(cat, cat, 7n, other)]
      return entries(openHandChain({ vaults }).mine({ from: bob, to: cat, input: batch(...list), logs, timestamp: 5 }))
    }
    expect(send([first, { ...later, activeFrom: 1_000 }, ...more])).toEqual(send([first, ...more]))
  })
})

describe('a batch of very many calls any of which can have made an event', () => {
  const zaps = (count: number, code: string): [Address, string][] =>
    Array.from({ length: count }, () => [router, `${call.zap(1n)}${code}`])
  const send = (input: string) => openHandChain().mine({ from: bob, to: cat, input, logs: deposited(router, cat, 50n) })

  it('is credited for the one code around all of them', () => {
    const rows = send(`${batch(...zaps(500, ''))}`)
    expect(entries(rows)).toEqual([])
    const own = openHandChain().mine({
      from: cat,
      to: cat,
      input: `${batch(...zaps(500, ''))}${codes('alpha')}`,
      logs: deposited(who('9001'), cat, 50n),
    })
    expect(entries(own)).toEqual(['deposit alpha unsigned c3 50 50'])
  })

  it('is nobody’s where each carries a code of its own', () => {
    const rows = send(batch(...zaps(65, codes('alpha'))))
    expect(entries(rows)).toEqual([])
    expect(rows.attributions[0]?.problems).toEqual(['needs a trace'])
    expect(entries(send(batch(...zaps(64, codes('alpha')))))).toEqual(['deposit alpha unsigned c3 50 50 swap'])
  })
})

describe('a bundle inside an operation of another entry point’s bundle', () => {
  it('keeps its own operations’ codes, and the one around them takes nothing', () => {
    const callData = execute(vault, `${call.deposit(50n, ann)}${codes('alpha')}` as Hex)
    const inner = handleOps7(operation7(ann, callData))
    const outer = handleOps6(operation6(bob, `${execute(entryPoint7, inner)}${codes('beta')}` as Hex))
    const hash = hashOperation7(chainId, ann, callData)
    const told = say.operationEnd(entryPoint7, ann)
    const topics = [told.topics[0] ?? '', hash, ...told.topics.slice(2)]
    const data = `0x${'0'.repeat(64)}${told.data.slice(66)}`
    const logs = [...deposited(ann, ann, 50n), { ...told, topics, data }, say.operationEnd(entryPoint6, bob)]
    const chain = openHandChain({ entryPoints: [entryPoint6, entryPoint7] })
    const rows = chain.mine({ from: cat, to: entryPoint6, input: outer, logs })
    expect(entries(rows)).toEqual(['deposit alpha unsigned a1 50 50'])
  })
})
