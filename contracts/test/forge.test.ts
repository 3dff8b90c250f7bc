import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Abi } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { depositRouterAbi, streamAbi, streamFactoryAbi } from '../abi/index.js'
import { type ForgeTest, runForgeTests } from './forge.js'
import { factoryRefusals, routerRefusals, streamRefusals, unreachable } from './refusals.js'

/** Of 100 calls each. */
const runs = Number(process.env['INVARIANT_RUNS'] ?? 200)
const callsMin = 100 * runs
const workspaceDir = join(import.meta.dirname, '..')

/** The numbered headings of INVARIANTS.md. */
const listInvariants = (): number[] =>
  [...readFileSync(join(workspaceDir, 'INVARIANTS.md'), 'utf8').matchAll(/^## (\d+)\. /gm)].map(([, n]) => Number(n))

describe('the stream contracts and the router under forge', () => {
  let tests: ForgeTest[]

  beforeAll(async () => {
    tests = await runForgeTests(['--no-match-contract', 'AllInvariantsTest'], { FOUNDRY_INVARIANT_RUNS: String(runs) })
  }, 1_200_000)

  test('every test passes', () => {
    expect(tests.filter(({ passed }) => !passed)).toEqual([])
    expect(tests.length).toBeGreaterThan(150)
    console.log(`forge: ${tests.length} passed, 0 failed`)
  })

  test(`every numbered invariant is fuzzed by at least ${callsMin} calls, none of which reverts`, () => {
    const numbers = listInvariants()
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    expect(numbers.length).toBeGreaterThan(0)
    const fuzzed = tests.filter(({ invariant }) => invariant !== undefined)
    const names = numbers.map((n) => `invariant_${String(n).padStart(2, '0')}_`)
    expect(fuzzed.map(({ name }) => name.slice(0, 13)).sort()).toEqual(names)
    for (const { name, invariant } of fuzzed) {
      console.log(`${name}: ${invariant?.runs} runs, ${invariant?.calls} calls, ${invariant?.reverts} reverts`)
      expect(invariant?.calls).toBeGreaterThanOrEqual(callsMin)
      expect(invariant?.reverts).toBe(0)
    }
  })

  describe.each([
    ['StreamFactory', streamFactoryAbi, factoryRefusals],
    ['Stream', streamAbi, streamRefusals],
    ['DepositRouter', depositRouterAbi, routerRefusals],
  ] as const)('%s', (_contract, abi, refusals) => {
    const isTested = (name: string, reason: string): boolean =>
      tests.some(
        (one) =>
          one.name.startsWith(`test_${name}_reverts_${reason}`) ||
          (one.suite.toLowerCase() === `${name.toLowerCase()}test` && one.name.startsWith(`test_reverts_${reason}`)),
      )

    test('each function is refused for each of its reasons in a test', () => {
      const missing = Object.entries(refusals).flatMap(([name, reasons]) =>
        reasons.filter((reason) => !isTested(name, reason)).map((reason) => `${name}: ${reason}`),
      )
      expect(missing).toEqual([])
    })

    test('the list of reasons names every function that changes something, and every error', () => {
      const names = (abi as Abi).flatMap((item) =>
        item.type === 'function' && !['view', 'pure'].includes(item.stateMutability) ? [item.name] : [],
      )
      expect(names.filter((name) => refusals[name] === undefined)).toEqual([])
      const reasons = new Set([...Object.values(refusals).flat(), ...Object.keys(unreachable)])
      const errors = (abi as Abi).flatMap((item) => (item.type === 'error' ? [item.name] : []))
      expect(errors.filter((error) => !reasons.has(error))).toEqual([])
    })
  })

  test('gas is what gas.json says; after a change on purpose: npm run gas -w contracts', () => {
    const committed: unknown = JSON.parse(readFileSync(join(workspaceDir, 'gas.json'), 'utf8'))
    expect(Object.assign({}, ...tests.map(({ gas }) => gas))).toEqual(committed)
  })
})
