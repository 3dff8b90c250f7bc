import { concatHex, type Hex } from 'viem'
import { describe, expect, test, vi } from 'vitest'
import { innerFrames } from '../test/frames.js'
import { actionId, chainId, keyBytes, only, privateKey, schema2, signers, tracker } from '../test/suffixes.js'
import {
  account,
  deposit,
  encodedCalls,
  entryPoint7,
  entryPoints,
  executeMode,
  handleOps7,
  library,
  multicall,
  multiSend,
  operation7,
  owner,
  packed,
  safe,
  vault,
} from '../test/wrapping.js'
import { attribute } from './attribute.js'
import { concatBytes, formatUtf8 } from './bytes.js'
import { formatHex, parseHex } from './calldata.js'
import { isCanonicalSignature } from './canonicalSignature.js'
import { decodeLegacy, legacyMarker } from './legacy.js'
import { hashPersonalMessage } from './personalMessage.js'
import { recoverAddress, signDigest } from './recover.js'
import { signatureErrors } from './signature.js'
import { buildSuffix } from './typedData.js'

const head = parseHex(deposit) ?? expect.fail('not hex')
const payload = 'turtle:v1:legacy1:friend'
const signature = signDigest(hashPersonalMessage(formatUtf8(payload)), keyBytes)
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** A signature with another s, or another last byte. */
const withS = (s: bigint) =>
  concatBytes(
    signature.subarray(0, 32),
    parseHex(`0x${s.toString(16).padStart(64, '0')}`) ?? head,
    signature.subarray(64),
  )
const withV = (v: number) => concatBytes(signature.subarray(0, 64), Uint8Array.of(v))

describe('a legacy tracker', () => {
  test.each([0, 1, 27, 28])(
    'whose signature ends in v %i is read: its payload ends where the signature begins',
    (v) => {
      const legacy = decodeLegacy(concatBytes(head, legacyMarker, formatUtf8(payload), withV(v)))
      expect(legacy).toMatchObject({ status: 'ok', payload: formatUtf8(payload), signature: withV(v) })
    },
  )

  test('is read with a payload of exactly 2,048 bytes, and not with one more', () => {
    const read = (length: number) =>
      decodeLegacy(concatBytes(head, legacyMarker, formatUtf8('turtle:v1:legacy1:'.padEnd(length, 'x'))))
    expect(read(2_048)).toMatchObject({ status: 'ok', distributorId: 'legacy1' })
    expect(read(2_049)).toMatchObject({ status: 'malformed' })
  })

  test('with a high s, or v 0, has a signature that is not of the form', () => {
    const s = BigInt(formatHex(signature, 32, 64))
    for (const odd of [withS(order - s), withV(0)])
      expect(only(`${deposit}${tracker(payload, formatHex(odd).slice(2))}`)).toMatchObject({
        attribution: 'legacy',
        error: signatureErrors.badForm,
      })
  })

  test('costs a check of its sender: after 128 none is checked', () => {
    const recover = vi.fn(recoverAddress)
    const one: Hex = `${deposit}${tracker(payload, formatHex(signature).slice(2))}`
    const input = multicall(...Array.from({ length: 200 }, () => one))
    const { groups } = attribute({ chainId, from: account, to: vault, input, signers, entryPoints, recover })
    expect(recover).toHaveBeenCalledTimes(128)
    const last = groups.flatMap(({ findings }) => findings).at(-1)
    expect(last?.error).toBe(signatureErrors.budget)
  })
})

describe('a signed suffix', () => {
  test.each([
    ['longer than 32 characters', 'x'.repeat(33)],
    ['of another character', 'ac!me'],
  ])('whose code is %s is refused, since it can name no distributor', (_name, code) => {
    const id = parseHex(`0x${actionId.replaceAll('-', '')}`)
    expect(only(`${deposit}${schema2({ a: code, m: { i: id, g: signature } })}`).readings).toMatchObject([
      { signature: { present: true, valid: false, error: signatureErrors.badCode } },
    ])
  })

  test('speaks for its code where it is the outermost of two: its action, not the inner one’s', () => {
    const make = (id: string) =>
      buildSuffix({
        code: 'ours',
        actionId: id,
        chainId,
        wallet: account,
        target: vault,
        data: deposit,
        privateKey,
      }).slice(2)
    const other = '11111111-2222-4333-8444-555555555555'
    expect(only(`${deposit}${make(actionId)}${make(other)}`)).toMatchObject({ attribution: 'signed', actionId: other })
    expect(only(`${deposit}${make(other)}${make(actionId)}`)).toMatchObject({ attribution: 'signed', actionId })
  })
})

describe('a wrapper', () => {
  test.each(['ff', 'fe', '02'])('of call type %s runs no batch, though its bytes read as one', (type) => {
    expect(innerFrames(executeMode('01', encodedCalls()))).toHaveLength(2)
    expect(innerFrames(executeMode(type, encodedCalls()))).toEqual([])
  })

  test('multiSend with an operation byte of 2 makes no call', () => {
    const of = (operation: number) => innerFrames(safe(library, multiSend(packed(vault, deposit, operation)), 1))
    expect(of(0)).toHaveLength(2)
    expect(of(2)).toHaveLength(1)
    const mixed = concatHex([packed(vault, deposit), packed(vault, deposit, 2)])
    expect(innerFrames(safe(library, multiSend(mixed), 1))).toHaveLength(1)
  })
})

describe('the one form of a signature', () => {
  test('takes an s of half the order, and not one more', () => {
    expect(isCanonicalSignature(withS(order / 2n))).toBe(true)
    expect(isCanonicalSignature(withS(order / 2n + 1n))).toBe(false)
    expect(isCanonicalSignature(withS(order / 2n - 1n))).toBe(true)
  })
})

describe('a bundle', () => {
  test('leaves each of 512 senders four signature checks', () => {
    const signed: Hex = `${deposit}${tracker(payload, formatHex(signature).slice(2))}`
    const operations = Array.from({ length: 512 }, (_, index) =>
      operation7(
        `0x${(index + 1).toString(16).padStart(40, '0')}`,
        multicall(...Array.from({ length: 8 }, () => signed)),
      ),
    )
    const recover = vi.fn(() => undefined)
    const input = handleOps7(...operations)
    const { groups } = attribute({ chainId, from: owner, to: entryPoint7, input, signers, entryPoints, recover })
    expect(groups).toHaveLength(512)
    expect(recover).toHaveBeenCalledTimes(512 * 4)
  })

  test('whose last operation has its calldata at the very end has no tail of its bundler there', () => {
    const body = parseHex(`${deposit}${schema2({ a: 'acme' })}`) ?? expect.fail('not hex')
    const input = parseHex(handleOps7(operation7(account, '0x'))) ?? expect.fail('not hex')
    // The calldata of the operation is put behind everything, and its offset says so: words count from the tuple's start.
    const tuple = 4 + 4 * 32
    const at = (word: number) => tuple + word * 32
    const length = parseHex(`0x${body.length.toString(16).padStart(64, '0')}`) ?? body
    const offset = parseHex(`0x${(input.length - tuple).toString(16).padStart(64, '0')}`) ?? body
    const moved = concatBytes(input.subarray(0, at(3)), offset, input.subarray(at(4)), length, body)
    const read = attribute({ chainId, from: owner, to: entryPoint7, input: moved, signers, entryPoints })
    const { groups, bundler } = read
    expect(bundler).toEqual([])
    expect(groups.map(({ kind, sender, findings }) => [kind, sender, findings.length])).toEqual([
      ['userOperation', account, 1],
    ])
  })
})
