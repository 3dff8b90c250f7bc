import fc from 'fast-check'
import { type Address, type Hex, keccak256 } from 'viem'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { chainId, schema0, schema2, signed, signers, tracker } from '../test/suffixes.js'
import {
  account,
  approve,
  deposit,
  encodedCalls,
  entryPoint7,
  entryPoints,
  execute,
  executeMode,
  handleOps7,
  library,
  multicall,
  multiSend,
  operation7,
  owner,
  packed,
  safe,
  token,
  vault,
} from '../test/wrapping.js'
import { attribute } from './attribute.js'
import { concatBytes, formatUtf8 } from './bytes.js'
import type * as calldata from './calldata.js'
import { formatHex, parseHex } from './calldata.js'
import { marker } from './erc8021.js'
import { inspect } from './inspection.js'
import { legacyMarker } from './legacy.js'
import { recoverAddress } from './recover.js'
import { signatureErrors } from './signature.js'

// Files of one worker share its modules: what is replaced here is read anew, and again by the files after this one.
vi.hoisted(() => vi.resetModules())
afterAll(() => {
  vi.resetModules()
})

/** How many bytes were hashed. */
const work = vi.hoisted(() => ({ hashed: 0 }))
vi.mock('./calldata.js', async (load) => {
  const real = await load<typeof calldata>()
  const keccak256: typeof real.keccak256 = (data) => {
    work.hashed += data.length
    return real.keccak256(data)
  }
  return { ...real, keccak256 }
})
beforeEach(() => {
  work.hashed = 0
})

const bytesOf = (hex: string) => parseHex(hex) ?? expect.fail('not hex')
const run = (input: Uint8Array | Hex, to: Address, from = owner) =>
  attribute({ chainId, from, to, input, signers, entryPoints })

/** Every call some suffix was proven for: who, what, and the hash of the data without suffixes. */
function provenCalls(input: Uint8Array, to: Address, from: Address) {
  return run(input, to, from).groups.flatMap(({ findings }) =>
    findings.flatMap(({ readings }) =>
      readings.flatMap(({ attribution, signature: { provenBy } }) => {
        if (attribution !== 'signed') return []
        if (!provenBy) return expect.fail('signed without a call')
        const { caller, target, start } = provenBy
        return [{ caller, target, hash: keccak256(input.subarray(start, start + deposit.length / 2 - 1)) }]
      }),
    ),
  )
}

const inner: Hex = `${deposit}${signed({ referralCode: 'friend' })}`
const shapes: [string, Hex, Address, Address][] = [
  ['the transaction itself', inner, vault, account],
  ['execute', execute(vault, inner), account, owner],
  [
    'a batch',
    executeMode(
      '01',
      encodedCalls([
        { to: token, value: 0n, data: approve },
        { to: vault, value: 0n, data: inner },
      ]),
    ),
    account,
    owner,
  ],
  ['a Safe and multiSend', safe(library, multiSend(packed(token, approve), packed(vault, inner)), 1), account, owner],
  ['a user operation', handleOps7(operation7(account, execute(vault, inner))), entryPoint7, owner],
  [
    'the end of a user operation',
    handleOps7(operation7(account, `${execute(vault, deposit)}${signed()}`)),
    entryPoint7,
    owner,
  ],
]

describe('a signature cannot be moved to another call', () => {
  const genuine = { caller: account, target: vault, hash: keccak256(deposit) }

  test.each(shapes)(
    'in %s: whatever byte is changed, only the genuine call is ever proven',
    (_name, shape, to, from) => {
      const original = bytesOf(shape)
      expect(provenCalls(original, to, from)).toEqual([genuine])
      fc.assert(
        fc.property(fc.nat(original.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
          const input = Uint8Array.from(original)
          input[at] = (input[at] ?? 0) ^ change
          for (const call of provenCalls(input, to, from)) expect(call).toEqual(genuine)
        }),
        { numRuns: 40 },
      )
    },
  )

  test('in a plain transaction any changed byte at all makes it unsigned', () => {
    const original = bytesOf(inner)
    for (let at = 0; at < original.length; at++) {
      const input = Uint8Array.from(original)
      input[at] = (input[at] ?? 0) ^ (1 << (at % 8))
      expect(provenCalls(input, vault, account)).toEqual([])
    }
  })

  test('by another wallet, to another target, or over other data it is unsigned', () => {
    const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((b) => formatHex(b))
    const data = fc.uint8Array({ maxLength: 80 }).map((b) => formatHex(b))
    fc.assert(
      fc.property(address, address, data, (wallet, target, data) => {
        const suffix = signed()
        expect(provenCalls(bytesOf(`${deposit}${suffix}`), target, account)).toEqual([])
        expect(provenCalls(bytesOf(`${deposit}${suffix}`), vault, wallet)).toEqual([])
        expect(provenCalls(bytesOf(`${data}${suffix}`), vault, account)).toEqual([])
      }),
      { numRuns: 15 },
    )
  })
})

describe('random calldata', () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    fc.constantFrom(marker, legacyMarker, bytesOf(deposit), bytesOf(inner), bytesOf(`0x${schema0('abc')}`)),
    fc.constantFrom(...shapes.map(([, shape]) => bytesOf(shape))),
    fc.constant(bytesOf(`0x${tracker('turtle:v1:abc:ref')}`)),
    fc
      .tuple(fc.nat(255), fc.nat(255), fc.nat(3))
      .map(([high, low, schema]) => concatBytes(Uint8Array.of(high, low, schema), marker)),
  )

  test('never throws, and is always shown as JSON with offsets that index it', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), fc.constantFrom(account, entryPoint7, vault), (pieces, to) => {
        const input = concatBytes(...pieces)
        const { stacked, ...main } = inspect(run(input, to))
        expect(JSON.parse(JSON.stringify({ ...main, stacked }))).toBeTypeOf('object')
        for (const { suffix, start, end } of [main, ...stacked]) {
          if (start !== null && end !== null) expect(formatHex(input, start, end)).toBe(suffix)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('gives the same answer as bytes and as hex', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => {
        const input = concatBytes(...pieces)
        expect(run(formatHex(input), account)).toEqual(run(input, account))
      }),
      { numRuns: 60 },
    )
  })
})

describe('a price limit for hostile calldata', () => {
  const forgery = new Uint8Array(65).fill(1, 0, 64).fill(27, 64)
  const forgedStack: Hex = `${deposit}${schema2({ a: 'ours', m: { i: new Uint8Array(16), g: forgery } }).repeat(8)}`
  /** Counts every check, and spares the test the curve for what is forged. */
  const counting = () =>
    vi.fn((digest: Uint8Array, signature: Uint8Array) =>
      signature[0] === 1 ? undefined : recoverAddress(digest, signature),
    )

  test('one sender has at most 128 signatures checked, and the rest say so', () => {
    const recover = counting()
    const input = multicall(...Array.from({ length: 60 }, () => forgedStack))
    const { groups } = attribute({ chainId, from: account, to: vault, input, signers, entryPoints, recover })
    expect(recover).toHaveBeenCalledTimes(128)
    const readings = groups.flatMap(({ findings }) => findings.flatMap(({ readings }) => readings))
    expect(new Set(readings.map(({ signature }) => signature.error))).toContain(signatureErrors.budget)
  })

  test('one operation’s forgeries do not use up the checks of another', () => {
    const recover = counting()
    const hostile = operation7(owner, multicall(...Array.from({ length: 10 }, () => forgedStack)))
    const honest = operation7(account, `${execute(vault, deposit)}${signed()}`)
    const input = handleOps7(...Array.from({ length: 20 }, () => hostile), honest)
    const { groups } = attribute({ chainId, from: owner, to: entryPoint7, input, signers, entryPoints, recover })
    expect(groups.at(-1)?.findings).toMatchObject([{ attribution: 'signed' }])
    expect(recover.mock.calls.length).toBeLessThanOrEqual(640)
  })

  test('an ordinary signed call costs one check', () => {
    const recover = counting()
    for (const [, input, to, from] of shapes.slice(0, 5)) {
      attribute({ chainId, from, to, input, signers, entryPoints, recover })
    }
    expect(recover).toHaveBeenCalledTimes(5)
  })

  const repeated = (unit: string, bytes: number) => unit.repeat(Math.ceil((bytes * 2) / unit.length))
  const cborTail = (hex: string) =>
    `${hex}${(hex.length / 2).toString(16).padStart(4, '0')}02${formatHex(marker).slice(2)}`
  const hostile: [string, (bytes: number) => string][] = [
    ['markers', (bytes) => repeated('8021', bytes)],
    ['tracker markers', (bytes) => repeated('deadbeef7b22613a22', bytes)],
    ['nested arrays in every suffix', (bytes) => repeated(cborTail(`a1616d${'81'.repeat(30_000)}`), bytes)],
    [
      'maps with many keys',
      (bytes) =>
        repeated(
          cborTail(
            `a1616db9${(5000).toString(16).padStart(4, '0')}${Array.from({ length: 5000 }, (_, i) => `19${i.toString(16).padStart(4, '0')}00`).join('')}`,
          ),
          bytes,
        ),
    ],
    [
      'multicalls of multicalls',
      (bytes) => {
        let input: Hex = `${deposit}${schema0('abc')}`
        while (input.length < bytes) input = multicall(input, input)
        return input.slice(2)
      },
    ],
    [
      'calls that all point at the same bytes',
      (bytes) => {
        const items = Math.floor(bytes / 64)
        const word = (value: number) => value.toString(16).padStart(64, '0')
        return `ac9650d8${word(32)}${word(items)}${word(items * 32).repeat(items)}${word(bytes / 2)}${repeated(`ac9650d8${word(32)}`, bytes / 2)}${schema0('abc')}`
      },
    ],
  ]

  test.each(hostile)('%s: half a megabyte is read, and what is hashed stays linear in it', (_name, make) => {
    const input = bytesOf(`0x6e553f65${make(500_000)}`)
    const own = bytesOf(`0x${make(500_000)}`)
    inspect(run(input, account))
    inspect(run(own, account))
    expect(work.hashed).toBeLessThan(20 * input.length)
  })

  test('eight signatures over one long call cost one hash of it', () => {
    const input = bytesOf(`${deposit}${'00'.repeat(2_000_000)}${forgedStack.slice(deposit.length)}`)
    const recover = counting()
    attribute({ chainId, from: account, to: vault, input, signers, entryPoints, recover })
    expect(recover).toHaveBeenCalledTimes(8)
    expect(work.hashed).toBeGreaterThanOrEqual(input.length)
    expect(work.hashed).toBeLessThan(1.1 * input.length)
  })

  test('six hundred operations are cut at 512 and say so', () => {
    const input = handleOps7(...Array.from({ length: 600 }, () => operation7(account, `${deposit}${schema0('abc')}`)))
    const { groups, truncated } = run(input, entryPoint7)
    expect(groups).toHaveLength(512)
    expect(truncated).toBe(true)
  })

  test('text of a tracker that is almost a tag is refused at once', () => {
    const input = concatBytes(bytesOf(deposit), legacyMarker, formatUtf8(`${'a-'.repeat(900)}:v1`))
    expect(run(input, vault).groups).toEqual([])
  })
})
