import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { type Address, concatHex, encodeAbiParameters, encodeFunctionData, type Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { framesOf, innerFrames } from '../test/frames.js'
import {
  abi,
  account,
  approve,
  calls,
  deposit,
  encodedCalls,
  encodedCallsWithData,
  entryPoint6,
  entryPoint7,
  entryPoint8,
  entryPoints,
  execute,
  executeMode,
  handleOps6,
  handleOps7,
  library,
  multicall,
  multiSend,
  operation6,
  operation7,
  owner,
  packed,
  safe,
  token,
  vault,
} from '../test/wrapping.js'
import { formatHex, lowerAddress, parseHex } from './calldata.js'
import { decodeSuffix } from './erc8021.js'
import { readFrames } from './frames.js'

const toVault = { caller: account, target: vault, data: deposit, depth: 1 }
describe('ERC-4337 handleOps', () => {
  const other: Address = `0x${'ab'.repeat(20)}`

  test.each<[string, Address, Hex]>([
    [
      '0.6',
      entryPoint6,
      handleOps6(operation6(account, execute(vault, deposit)), operation6(other, execute(token, approve))),
    ],
    [
      '0.7',
      entryPoint7,
      handleOps7(operation7(account, execute(vault, deposit)), operation7(other, execute(token, approve))),
    ],
    [
      '0.8',
      entryPoint8,
      handleOps7(operation7(account, execute(vault, deposit)), operation7(other, execute(token, approve))),
    ],
  ])('of EntryPoint %s: each operation is a group, its sender the caller', (_version, to, input) => {
    const { groups, bundle } = framesOf(input, { to })
    expect(groups).toMatchObject([
      {
        kind: 'userOperation',
        index: 0,
        sender: account,
        seen: [{ caller: account, target: account, data: execute(vault, deposit), depth: 0 }, toVault],
      },
      {
        kind: 'userOperation',
        index: 1,
        sender: other,
        seen: [{ depth: 0 }, { caller: other, target: token, data: approve, depth: 1 }],
      },
    ])
    expect(bundle).toMatchObject({ caller: owner, target: to, start: 0, end: input.length / 2 - 1 })
  })

  test('to an address that is no known EntryPoint is an ordinary call', () => {
    const { groups } = framesOf(handleOps7(operation7(account, execute(vault, deposit))), { to: vault })
    expect(groups).toMatchObject([{ kind: 'transaction', seen: [{ caller: owner, target: vault }] }])
  })

  test('that does not decode has no operation, and nothing of it counts', () => {
    const input = handleOps7(operation7(account, deposit)).slice(0, -128) as Hex
    expect(framesOf(`${input.slice(0, 500)}` as Hex, { to: entryPoint7 }).groups).toEqual([])
  })

  test('an account that takes its call from the operation runs what follows the selector', () => {
    const input = handleOps7(operation7(account, concatHex(['0x8dd7712f', execute(vault, deposit)])))
    expect(framesOf(input, { to: entryPoint7 }).groups[0]?.seen).toEqual([
      { caller: account, target: account, data: execute(vault, deposit), depth: 0 },
      toVault,
    ])
  })

  test.each(['executeUserOp', 'executeUserOpWithErrorString'] as const)('a Safe makes the call of %s', (name) => {
    const input = handleOps7(operation7(account, safe(library, multiSend(packed(vault, deposit)), 1, name)))
    expect(framesOf(input, { to: entryPoint7 }).groups[0]?.seen.at(-1)).toEqual({ ...toVault, depth: 2 })
    expect(innerFrames(safe(vault, deposit, 0, name))).toEqual([])
  })
})

describe('published ERC-4337 vectors', () => {
  type Operation = { index: number; sender: string; attribution: { appCode: string; txData: string } }
  const file = new URL('../../../service/test/vectors/erc8021.json', import.meta.url)
  const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as {
    vectors: { name: string; to?: Address; calldata: Hex; expectedUserOps?: Operation[] }[]
  }
  const cases = vectors.flatMap(({ name, to = entryPoint7, calldata, expectedUserOps }) =>
    expectedUserOps ? [[name, lowerAddress(to), calldata, expectedUserOps] as const] : [],
  )

  test.each(cases)('%s', (_name, to, calldata, expected) => {
    const data = parseHex(calldata) ?? expect.fail()
    const { groups } = framesOf(calldata, { to })
    const read = groups.map((group) => {
      const frame = group.frames[0] ?? expect.fail()
      const suffix = decodeSuffix(data, frame.end, frame.floor) ?? expect.fail()
      const sender = group.kind === 'userOperation' ? group.sender : ''
      const appCode = 'appCode' in suffix ? suffix.appCode : ''
      return { sender, appCode, txData: formatHex(data, frame.start, suffix.start) }
    })
    expect(read).toEqual(
      expected.map(({ sender, attribution }) => ({
        sender: lowerAddress(sender),
        appCode: attribution.appCode,
        txData: attribution.txData,
      })),
    )
  })
})

describe('depth and count', () => {
  test('eight wrappers are followed; the ninth is said to be left out', () => {
    const nest = (depth: number): Hex => (depth === 0 ? deposit : execute(account, nest(depth - 1)))
    expect(framesOf(nest(8))).toMatchObject({ truncated: false })
    expect(innerFrames(nest(8))).toHaveLength(8)
    expect(framesOf(nest(9))).toMatchObject({ truncated: true })
    expect(innerFrames(nest(9))).toHaveLength(8)
  })

  test('a batch of a thousand calls is read whole, one of two thousand is cut and says so', () => {
    const batch = (count: number) =>
      encodeFunctionData({
        abi,
        functionName: 'executeBatch',
        args: [Array.from({ length: count }, () => calls[1] ?? expect.fail())],
      })
    expect(framesOf(batch(1000))).toMatchObject({ truncated: false })
    expect(innerFrames(batch(1000))).toHaveLength(1000)
    expect(framesOf(batch(2000))).toMatchObject({ truncated: true })
    expect(innerFrames(batch(2000))).toHaveLength(1023)
  })

  test('a deployment has no frames', () => expect(framesOf(deposit, { to: null }).groups).toEqual([]))
})

describe('hostile calldata', () => {
  const word = (value: number | bigint) => value.toString(16).padStart(64, '0')

  test('calls that share their bytes are not multiplied', () => {
    // 2,000 elements that all point at one long call, each of which points at itself again.
    const count = 2000
    const inner = deposit.slice(2).padEnd(8192, '0')
    const heads = Array.from({ length: count }, () => word(count * 32)).join('')
    const input = `0xac9650d8${word(32)}${word(count)}${heads}${word(inner.length / 2)}${inner}` as Hex
    const { groups, truncated } = framesOf(input)
    expect(truncated).toBe(true)
    expect(groups[0]?.frames.length).toBeLessThan(20)
  })

  test.each<[string, string]>([
    ['an offset of 2^256 - 1', 'ff'.repeat(32)],
    ['an offset just past the end', word(5000)],
    ['an offset that wraps 32 bits', word(2n ** 32n)],
    ['an offset of zero', word(0)],
  ])('%s in any wrapper is no call and no crash', (_name, offset) => {
    for (const selector of ['b61d27f6', 'e9ae5c53', '18dfb3c7', '47e1da2a', '34fcd5be', '6a761202', 'ac9650d8']) {
      const input = `0x${selector}${Array.from({ length: 12 }, () => offset).join('')}` as Hex
      expect(framesOf(input).groups[0]?.frames[0]).toMatchObject({ start: 0, depth: 0 })
    }
    for (const selector of ['1fad948c', '765e827f']) {
      const input = `0x${selector}${Array.from({ length: 12 }, () => offset).join('')}` as Hex
      expect(framesOf(input, { to: entryPoint7 }).groups).toEqual([])
    }
  })

  test('an address with dirty upper bytes is refused, as the contract refuses it', () => {
    const input = execute(vault, deposit).replace(`0xb61d27f6${'00'.repeat(12)}`, `0xb61d27f6${'01'.repeat(12)}`) as Hex
    expect(innerFrames(input)).toEqual([])
  })

  test('with any byte changed still gives frames inside the input, each inside the one around it', () => {
    const shapes = [
      execute(vault, multicall(deposit, approve)),
      executeMode(
        '01000000000078210002',
        encodeAbiParameters([{ type: 'bytes[]' }], [[encodedCalls(), encodedCallsWithData]]),
      ),
      safe(library, multiSend(packed(token, approve), packed(vault, execute(vault, deposit))), 1),
      handleOps7(
        operation7(account, execute(vault, deposit)),
        operation7(account, encodeFunctionData({ abi, functionName: 'executeBatch', args: [calls] })),
      ),
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...shapes),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
        (shape, changes) => {
          const input = parseHex(shape) ?? expect.fail()
          for (const [at, byte] of changes) input[at % input.length] = byte
          for (const to of [account, entryPoint7]) {
            for (const { frames } of readFrames({ from: owner, to, input, entryPoints }).groups) {
              const around: { start: number; end: number }[] = []
              for (const frame of frames) {
                around.length = frame.depth
                const outer = around.at(-1) ?? { start: 0, end: input.length }
                expect(frame.start).toBeGreaterThanOrEqual(outer.start)
                expect(frame.end).toBeLessThanOrEqual(outer.end)
                expect(frame.start).toBeLessThanOrEqual(frame.end)
                expect(frame.floor).toBeLessThanOrEqual(frame.end)
                around.push(frame)
              }
            }
          }
        },
      ),
      { numRuns: 800 },
    )
  })

  test('random bytes behind a known selector never throw', () => {
    const selectors = [
      'b61d27f6',
      'e9ae5c53',
      '18dfb3c7',
      '47e1da2a',
      '34fcd5be',
      '6a761202',
      'ac9650d8',
      '765e827f',
      '1fad948c',
    ]
    const words = fc.array(
      fc.oneof(
        fc.nat(400).map(word),
        fc.uint8Array({ minLength: 32, maxLength: 32 }).map((b) => formatHex(b).slice(2)),
      ),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(fc.constantFrom(...selectors), words, fc.boolean(), (selector, words, bundle) => {
        framesOf(`0x${selector}${words.join('')}`, { to: bundle ? entryPoint7 : account })
      }),
      { numRuns: 800 },
    )
  })
})
