import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  toFunctionSelector,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { framesOf, innerFrames, type Seen } from '../test/frames.js'
import {
  abi,
  account,
  approve,
  calls,
  deposit,
  encodedCalls,
  encodedCallsWithData,
  execute,
  executeMode,
  library,
  multicall,
  multiSend,
  owner,
  packed,
  safe,
  token,
  vault,
  zero,
} from '../test/wrapping.js'
import { formatHex } from './calldata.js'

const toVault = { caller: account, target: vault, data: deposit, depth: 1 }
const both = [{ caller: account, target: token, data: approve, depth: 1 }, toVault]

describe('an account that executes', () => {
  test.each<[string, Hex, Seen[]]>([
    ['execute(address,uint256,bytes)', execute(vault, deposit), [toVault]],
    [
      'executeBatch(address[],bytes[])',
      encodeFunctionData({
        abi,
        functionName: 'executeBatch',
        args: [
          [token, vault],
          [approve, deposit],
        ],
      }),
      both,
    ],
    [
      'executeBatch(address[],uint256[],bytes[])',
      encodeFunctionData({
        abi,
        functionName: 'executeBatch',
        args: [
          [token, vault],
          [0n, 7n],
          [approve, deposit],
        ],
      }),
      both,
    ],
    [
      'executeBatch(address[],uint256[],bytes[]) without values',
      encodeFunctionData({ abi, functionName: 'executeBatch', args: [[token, vault], [], [approve, deposit]] }),
      both,
    ],
    [
      'executeBatch((address,uint256,bytes)[])',
      encodeFunctionData({ abi, functionName: 'executeBatch', args: [calls] }),
      both,
    ],
    [
      'ERC-7579 single',
      executeMode('00', encodePacked(['address', 'uint256', 'bytes'], [vault, 7n, deposit])),
      [toVault],
    ],
    ['ERC-7579 batch', executeMode('01', encodedCalls()), both],
    ['ERC-7579 batch that tries each', executeMode('0101', encodedCalls()), both],
    ['ERC-7821 batch with data of its own', executeMode('01000000000078210001', encodedCallsWithData), both],
    [
      'ERC-7821 batch of batches',
      executeMode(
        '01000000000078210002',
        encodeAbiParameters([{ type: 'bytes[]' }], [[encodedCalls(), encodedCallsWithData]]),
      ),
      [...both, ...both],
    ],
  ])('%s makes the calls', (_name, input, wanted) => expect(innerFrames(input)).toEqual(wanted))

  test('the zero address of an ERC-7821 batch is the account', () => {
    const input = executeMode('01', encodedCalls([{ to: zero, value: 0n, data: execute(vault, deposit) }]))
    expect(innerFrames(input)).toEqual([
      { caller: account, target: account, data: execute(vault, deposit), depth: 1 },
      { ...toVault, depth: 2 },
    ])
  })

  test.each<[string, Hex]>([
    ['a delegated call', executeMode('ff', concatHex([vault, deposit]))],
    ['a static call', executeMode('fe', encodePacked(['address', 'uint256', 'bytes'], [vault, 0n, deposit]))],
    [
      'an unknown way to execute',
      executeMode('0002', encodePacked(['address', 'uint256', 'bytes'], [vault, 0n, deposit])),
    ],
    [
      'fewer targets than calls',
      encodeFunctionData({ abi, functionName: 'executeBatch', args: [[vault], [approve, deposit]] }),
    ],
    [
      'fewer values than calls',
      encodeFunctionData({ abi, functionName: 'executeBatch', args: [[token, vault], [0n], [approve, deposit]] }),
    ],
    ['an ERC-7579 single call without a target', executeMode('00', '0x1234')],
  ])('%s is not its call', (_name, input) => expect(innerFrames(input)).toEqual([]))

  test('an EIP-7702 account that calls itself is the caller', () => {
    expect(innerFrames(execute(vault, deposit), { from: account, to: account })).toEqual([toVault])
  })
})

describe('a Safe', () => {
  test('makes the call of execTransaction', () => expect(innerFrames(safe(vault, deposit, 0))).toEqual([toVault]))

  test('makes every call of the multiSend it delegates to, nested ones too', () => {
    const nested = multiSend(packed(vault, deposit))
    const input = safe(library, multiSend(packed(token, approve), packed(library, nested, 1)), 1)
    expect(innerFrames(input).slice(1)).toEqual([
      { caller: account, target: token, data: approve, depth: 2 },
      { caller: account, target: library, data: nested, depth: 2 },
      { ...toVault, depth: 3 },
    ])
  })

  test('does not make the calls of a multiSend it merely calls, nor of other code it delegates to', () => {
    const sent = multiSend(packed(vault, deposit))
    expect(innerFrames(safe(library, sent, 0))).toEqual([{ caller: account, target: library, data: sent, depth: 1 }])
    expect(innerFrames(safe(vault, deposit, 1))).toEqual([])
    expect(innerFrames(safe(vault, deposit, 2))).toEqual([])
    expect(innerFrames(sent)).toEqual([])
  })

  test('a multiSend with a part cut short makes no call, as it would revert', () => {
    const input = safe(library, multiSend(packed(token, approve), packed(vault, deposit).slice(0, -2) as Hex), 1)
    expect(innerFrames(input)).toHaveLength(1)
  })
})

describe('multicall(bytes[])', () => {
  test('is the outer caller calling the same contract with each part', () => {
    expect(innerFrames(multicall(approve, deposit), { to: vault })).toEqual([
      { caller: owner, target: vault, data: approve, depth: 1 },
      { caller: owner, target: vault, data: deposit, depth: 1 },
    ])
  })

  test('inside an account keeps the account as caller', () => {
    expect(innerFrames(execute(vault, multicall(deposit)))[1]).toEqual({ ...toVault, depth: 2 })
  })
})

describe('selectors', () => {
  test('are those of the signatures they stand for', () => {
    const named = new Set(abi.flatMap((item) => (item.type === 'function' ? [toFunctionSelector(item)] : [])))
    const code = ['wrappers.ts', 'frames.ts'].map((name) => readFileSync(new URL(name, import.meta.url), 'utf8')).join()
    const written = [...code.matchAll(/\b0x[0-9a-f]{8}\b(?!')/g)].map(([selector]) => selector)
    const operation = '(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)'
    named.add(toFunctionSelector(`executeUserOp(${operation},bytes32)`))
    expect(new Set(written)).toEqual(named)
  })
})

describe('wrapping and reading', () => {
  const bytes = fc.uint8Array({ maxLength: 100 }).map((b) => formatHex(b))
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((b) => formatHex(b))

  test('any call inside any nest of wrappers is found with its caller, target and data', () => {
    const wrap: ((to: Address, data: Hex) => Hex)[] = [
      execute,
      (to, data) => executeMode('00', encodePacked(['address', 'uint256', 'bytes'], [to, 1n, data])),
      (to, data) => executeMode('01', encodedCalls([{ to, value: 1n, data }])),
      (to, data) => encodeFunctionData({ abi, functionName: 'executeBatch', args: [[to], [data]] }),
      (to, data) => safe(to, data, 0),
      (to, data) => safe(library, multiSend(packed(token, approve), packed(to, data)), 1),
    ]
    const layers = fc.array(fc.tuple(fc.nat(wrap.length - 1), address), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(layers, address, bytes, (layers, target, data) => {
        let [input, to] = [data, target]
        for (const [which, wrapper] of layers) {
          const inner = to === zero ? vault : to
          input = wrap[which]?.(inner, input) ?? expect.fail()
          to = wrapper
        }
        const caller = layers[0]?.[1]
        expect(framesOf(input, { to }).groups[0]?.seen).toContainEqual(
          expect.objectContaining({ caller, target: target === zero ? vault : target, data }),
        )
      }),
    )
  })
})
