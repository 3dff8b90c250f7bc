import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  parseAbi,
  toFunctionSelector,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { formatHex, lowerAddress, parseHex } from './bytes.js'
import { decodeSuffix } from './erc8021.js'
import { type FrameGroup, readFrames } from './frames.js'

const account: Address = `0x${'aa'.repeat(20)}`
const owner: Address = `0x${'bb'.repeat(20)}`
const vault: Address = `0x${'cc'.repeat(20)}`
const token: Address = `0x${'dd'.repeat(20)}`
const library: Address = `0x${'ee'.repeat(20)}`
const zero: Address = `0x${'00'.repeat(20)}`
const entryPoints: Address[] = [
  '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  '0x0000000071727de22e5e9d8baf0edac6f37da032',
  '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
]
const [entryPoint6 = zero, entryPoint7 = zero, entryPoint8 = zero] = entryPoints
const deposit: Hex = `0x6e553f65${'11'.repeat(64)}`
const approve: Hex = `0x095ea7b3${'22'.repeat(64)}`

const abi = parseAbi([
  'function execute(address to, uint256 value, bytes data)',
  'function execute(bytes32 mode, bytes executionData)',
  'function executeBatch(address[] to, bytes[] data)',
  'function executeBatch(address[] to, uint256[] value, bytes[] data)',
  'struct Call { address to; uint256 value; bytes data; }',
  'function executeBatch(Call[] calls)',
  'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 a, uint256 b, uint256 c, address d, address e, bytes signatures)',
  'function multiSend(bytes transactions)',
  'function multicall(bytes[] data)',
  'function executeUserOp(address to, uint256 value, bytes data, uint8 operation)',
  'function executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)',
  'struct Operation6 { address sender; uint256 nonce; bytes initCode; bytes callData; uint256 a; uint256 b; uint256 c; uint256 d; uint256 e; bytes paymaster; bytes signature; }',
  'function handleOps(Operation6[] ops, address beneficiary)',
  'struct Operation7 { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 a; uint256 b; bytes32 c; bytes paymaster; bytes signature; }',
  'function handleOps(Operation7[] ops, address beneficiary)',
])

type Seen = { caller: Address; target: Address; data: Hex; depth: number }

function framesOf(input: Hex, { from = owner, to = account as Address | null } = {}) {
  const data = parseHex(input) ?? expect.fail('not hex')
  const { groups, bundle, truncated } = readFrames({ from, to, input: data, entryPoints })
  const seen = (group: FrameGroup): Seen[] =>
    group.frames.map(({ caller, target, start, end, depth }) => ({
      caller,
      target,
      data: formatHex(data, start, end),
      depth,
    }))
  return { groups: groups.map((group) => ({ ...group, seen: seen(group) })), bundle, truncated }
}

/** The frames inside the transaction itself. */
function innerFrames(input: Hex, options?: Parameters<typeof framesOf>[1]): Seen[] {
  return framesOf(input, options).groups[0]?.seen.slice(1) ?? []
}

const execute = (to: Address, data: Hex) => encodeFunctionData({ abi, functionName: 'execute', args: [to, 0n, data] })
const executeMode = (mode: string, executionData: Hex) =>
  encodeFunctionData({ abi, functionName: 'execute', args: [`0x${mode.padEnd(64, '0')}`, executionData] })
const calls = [
  { to: token, value: 0n, data: approve },
  { to: vault, value: 7n, data: deposit },
]
const encodedCalls = (list: readonly { to: Address; value: bigint; data: Hex }[] = calls) =>
  encodeAbiParameters(
    [
      {
        type: 'tuple[]',
        components: [
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'data', type: 'bytes' },
        ],
      },
    ],
    [list],
  )
const encodedCallsWithData = encodeAbiParameters(
  [
    {
      type: 'tuple[]',
      components: [
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'data', type: 'bytes' },
      ],
    },
    { type: 'bytes' },
  ],
  [calls, '0x1234'],
)
const safe = (
  to: Address,
  data: Hex,
  operation: number,
  name: 'execTransaction' | 'executeUserOp' | 'executeUserOpWithErrorString' = 'execTransaction',
) =>
  name === 'execTransaction'
    ? encodeFunctionData({ abi, functionName: name, args: [to, 0n, data, operation, 0n, 0n, 0n, zero, zero, '0x1234'] })
    : encodeFunctionData({ abi, functionName: name, args: [to, 0n, data, operation] })
const packed = (to: Address, data: Hex, operation = 0) =>
  encodePacked(
    ['uint8', 'address', 'uint256', 'uint256', 'bytes'],
    [operation, to, 0n, BigInt(data.length / 2 - 1), data],
  )
const multiSend = (...parts: Hex[]) => encodeFunctionData({ abi, functionName: 'multiSend', args: [concatHex(parts)] })
const multicall = (...parts: Hex[]) => encodeFunctionData({ abi, functionName: 'multicall', args: [parts] })

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

const operation6 = (sender: Address, callData: Hex) => ({
  sender,
  nonce: 0n,
  initCode: '0x' as Hex,
  callData,
  a: 1n,
  b: 1n,
  c: 1n,
  d: 1n,
  e: 1n,
  paymaster: '0x' as Hex,
  signature: '0x1234' as Hex,
})
const operation7 = (sender: Address, callData: Hex) => ({
  sender,
  nonce: 0n,
  initCode: '0x' as Hex,
  callData,
  a: `0x${'00'.repeat(32)}` as Hex,
  b: 1n,
  c: `0x${'00'.repeat(32)}` as Hex,
  paymaster: '0x' as Hex,
  signature: '0x1234' as Hex,
})
const handleOps7 = (...ops: ReturnType<typeof operation7>[]) =>
  encodeFunctionData({ abi, functionName: 'handleOps', args: [ops, owner] })
const handleOps6 = (...ops: ReturnType<typeof operation6>[]) =>
  encodeFunctionData({ abi, functionName: 'handleOps', args: [ops, owner] })

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
  const file = new URL('../../../test/vectors/erc8021.json', import.meta.url)
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
      { numRuns: 3_000 },
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
      { numRuns: 3_000 },
    )
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
