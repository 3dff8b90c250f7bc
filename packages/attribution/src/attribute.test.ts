import type { Address, Hex } from 'viem'
import { describe, expect, test, vi } from 'vitest'
import {
  actionId,
  chainId,
  findings,
  keyBytes,
  only,
  schema0,
  schema2,
  signed,
  signers,
  tracker,
} from '../test/suffixes.js'
import {
  account,
  approve,
  calls,
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
import { type AttributionInput, attribute, chooseDistributor, mayCarryAttribution } from './attribute.js'
import { formatUtf8 } from './bytes.js'
import { formatHex, parseHex } from './calldata.js'
import { hashPersonalMessage } from './personalMessage.js'
import { signDigest } from './recover.js'
import { signatureErrors } from './signature.js'

describe('a signed suffix', () => {
  test('names the action, the signer and the call it proves', () => {
    expect(only(`${deposit}${signed({ referralCode: 'friend-1' })}`)).toMatchObject({
      placement: 'transaction',
      attribution: 'signed',
      error: '',
      signer: signers[0]?.address,
      actionId,
      referralCode: 'friend-1',
      codes: ['ours'],
      readings: [{ signature: { present: true, valid: true, provenBy: { caller: account, target: vault } } }],
    })
  })

  test.each<[string, Partial<AttributionInput>]>([
    ['another wallet', { from: owner }],
    ['another target', { to: token }],
    ['another chain', { chainId: 1 }],
    ['keys that are not ours', { signers: [{ address: owner }] }],
  ])('is unsigned with %s', (_name, other) => {
    expect(only(`${deposit}${signed()}`, other)).toMatchObject({
      attribution: 'unsigned',
      error: signatureErrors.mismatch,
      signer: undefined,
    })
  })

  test('says so when this service has no key', () => {
    expect(only(`${deposit}${signed()}`, { signers: [] }).error).toBe(signatureErrors.noKeys)
  })

  test.each<[string, Hex, Partial<AttributionInput>]>([
    [
      'the transaction when the call is inside execute',
      `${execute(vault, deposit)}${signed()}`,
      { from: owner, to: account },
    ],
    [
      'the transaction when the call is inside a batch',
      `${executeMode('01', encodedCalls())}${signed()}`,
      { to: account },
    ],
    [
      'a Safe transaction around multiSend',
      `${safe(library, multiSend(packed(token, approve), packed(vault, deposit)), 1)}${signed()}`,
      { from: owner, to: account },
    ],
    [
      'the multiSend call itself',
      safe(library, `${multiSend(packed(vault, deposit))}${signed()}`, 1),
      { from: owner, to: account },
    ],
    [
      'a user operation’s calldata',
      handleOps7(operation7(account, `${execute(vault, deposit)}${signed()}`)),
      { from: owner, to: entryPoint7 },
    ],
  ])('moved to the end of %s stays signed', (_name, input, to) => {
    const finding = only(input, to)
    expect(finding).toMatchObject({ attribution: 'signed', error: '' })
    expect(finding.readings[0]?.signature.provenBy).toMatchObject({ caller: account, target: vault })
  })

  test('moved to the end of the next call of a batch, which does not hold the call it was made for, is unsigned', () => {
    const beside = encodedCalls([
      { to: vault, value: 0n, data: deposit },
      { to: token, value: 0n, data: `${approve}${signed()}` },
    ])
    expect(only(executeMode('01', beside), { to: account })).toMatchObject({
      attribution: 'unsigned',
      error: signatureErrors.mismatch,
    })
  })

  test('in another user operation of the same bundle is unsigned', () => {
    const other: Address = `0x${'ab'.repeat(20)}`
    const input = handleOps7(
      operation7(account, execute(vault, deposit)),
      operation7(other, `${execute(token, approve)}${signed()}`),
    )
    expect(only(input, { from: owner, to: entryPoint7 })).toMatchObject({
      attribution: 'unsigned',
      placement: 'userOperation',
    })
  })

  test('of an inner call without padding after it is the inner call’s, not the outer one’s', () => {
    const lengths = Array.from(
      { length: 40 },
      (_, length) => `${deposit}${signed({ referralCode: 'x'.repeat(length) })}` as Hex,
    )
    const data = lengths.find((hex) => (hex.length / 2 - 1) % 32 === 0) ?? expect.fail()
    expect(execute(vault, data).endsWith(data.slice(2))).toBe(true)
    const finding = only(execute(vault, data), { from: owner, to: account })
    expect(finding).toMatchObject({
      placement: 'innerCall',
      attribution: 'signed',
      frame: { caller: account, depth: 1 },
    })
  })

  test('below and above other suffixes is found, and both are listed outermost first', () => {
    const above = only(`${deposit}${signed()}${schema0('wallet')}`)
    expect(above).toMatchObject({ attribution: 'signed', codes: ['wallet', 'ours'] })
    const below = only(`${deposit}${schema0('wallet')}${signed()}`)
    expect(below).toMatchObject({ attribution: 'signed', codes: ['ours', 'wallet'] })
    expect(above.candidates.map(({ code }) => code)).toEqual(['ours', 'wallet'])
  })

  test.each<[string, object, string]>([
    ['a signature of 64 bytes', { i: new Uint8Array(16), g: new Uint8Array(64) }, signatureErrors.badForm],
    ['a signature that is text', { i: new Uint8Array(16), g: 'x'.repeat(65) }, signatureErrors.badForm],
    ['v of 0', { i: new Uint8Array(16), g: new Uint8Array(65) }, signatureErrors.badForm],
    ['a high s', { i: new Uint8Array(16), g: new Uint8Array(65).fill(0xff).fill(27, 64) }, signatureErrors.badForm],
    ['r and s of zero', { i: new Uint8Array(16), g: new Uint8Array(65).fill(27, 64) }, signatureErrors.mismatch],
    ['no action id', { g: new Uint8Array(65).fill(27, 64) }, signatureErrors.noActionId],
    [
      'an action id of 15 bytes',
      { i: new Uint8Array(15), g: new Uint8Array(65).fill(27, 64) },
      signatureErrors.noActionId,
    ],
    [
      'a referral code that is a number',
      { i: new Uint8Array(16), r: 7, g: new Uint8Array(65).fill(27, 64) },
      signatureErrors.badReferralCode,
    ],
    [
      'an empty referral code',
      { i: new Uint8Array(16), r: '', g: new Uint8Array(65).fill(27, 64) },
      signatureErrors.badReferralCode,
    ],
    ['no signature', { i: new Uint8Array(16) }, signatureErrors.absent],
  ])('with %s is unsigned and says why', (_name, m, error) => {
    expect(only(`${deposit}${schema2({ a: 'ours', m })}`)).toMatchObject({ attribution: 'unsigned', error })
  })

  test('covers the application code alone, not the wallet beside it', () => {
    const suffix = parseHex(`0x${signed()}`) ?? expect.fail()
    const metadata = only(`${deposit}${formatHex(suffix).slice(2)}`).readings[0]?.suffix
    const m = metadata && 'metadata' in metadata ? metadata.metadata : undefined
    const finding = only(`${deposit}${schema2({ a: 'ours', w: 'wallet', m })}`)
    expect(finding.candidates).toMatchObject([
      { code: 'ours', attribution: 'signed', error: '' },
      { code: 'wallet', attribution: 'unsigned', error: signatureErrors.otherCode },
    ])
  })
})

describe('which distributor', () => {
  const choose = (input: string, ...registered: string[]) =>
    chooseDistributor(only(input), (code) => registered.includes(code))?.code

  test('an application code of schema 2 comes before every other code, the outermost first', () => {
    const input = `${deposit}${schema2({ a: 'inner', w: 'w' })}${schema0('zero')}${schema2({ a: 'outer' })}`
    expect(choose(input, 'zero', 'inner', 'outer', 'w')).toBe('outer')
    expect(choose(input, 'zero', 'inner', 'w')).toBe('inner')
    expect(choose(input, 'zero', 'w')).toBe('zero')
    expect(choose(input, 'w')).toBe('w')
    expect(choose(input)).toBeUndefined()
  })

  test('codes are compared byte for byte', () =>
    expect(choose(`${deposit}${schema0('Y2Zi7KWy')}`, 'y2zi7kwy')).toBeUndefined())

  test('a code that cannot name a distributor is shown and never chosen', () => {
    const finding = only(`${deposit}${schema0(`a.b,${'x'.repeat(33)},ok`)}`)
    expect(finding.codes).toEqual(['a.b', 'x'.repeat(33), 'ok'])
    expect(finding.candidates.map(({ code }) => code)).toEqual(['ok'])
  })

  test('a code that stands there signed and unsigned counts as signed', () => {
    const finding = only(`${deposit}${signed()}${schema2({ a: 'ours' })}${schema0('ours')}`)
    expect(finding.candidates).toMatchObject([{ code: 'ours', attribution: 'signed', error: '' }])
  })

  test('a malformed suffix names nobody, nor does anything below it', () => {
    const finding = only(`${deposit}${schema0('inner')}${schema0('a b')}`)
    expect(finding).toMatchObject({ codes: [], candidates: [], attribution: 'unsigned' })
    expect(finding.readings.map(({ suffix }) => suffix.status)).toEqual(['malformed'])
  })
})

describe('a legacy tracker', () => {
  const payload = 'turtle:v1:legacy1:friend'
  const signature = formatHex(signDigest(hashPersonalMessage(formatUtf8(payload)), keyBytes)).slice(2)

  test('attributes as legacy, with or without a signature', () => {
    expect(only(`${deposit}${tracker(payload)}`)).toMatchObject({
      attribution: 'legacy',
      error: signatureErrors.absent,
      candidates: [{ code: 'legacy1', attribution: 'legacy' }],
      referralCode: 'friend',
    })
    expect(only(`${deposit}${tracker(payload, signature)}`)).toMatchObject({
      attribution: 'legacy',
      error: '',
      signer: signers[0]?.address,
    })
  })

  test('signed by a stranger says whose signature it is, and that it is not ours', () => {
    expect(only(`${deposit}${tracker(payload, signature)}`, { signers: [{ address: owner }] })).toMatchObject({
      error: signatureErrors.legacyMismatch,
      signer: signers[0]?.address,
    })
  })

  test('below an ERC-8021 suffix comes after it, and the call hash covers neither', () => {
    const finding = only(`${deposit}${tracker(payload)}${signed()}`)
    expect(finding).toMatchObject({ attribution: 'signed', codes: ['ours', 'legacy1'] })
    expect(only(`${deposit}${signed()}${tracker(payload)}`)).toMatchObject({
      attribution: 'signed',
      codes: ['legacy1', 'ours'],
    })
  })

  test('in an inner call or a user operation is found there', () => {
    const data: Hex = `${deposit}${tracker(payload)}`
    expect(only(execute(vault, data), { from: owner, to: account })).toMatchObject({
      placement: 'innerCall',
      codes: ['legacy1'],
    })
    const operations = handleOps7(operation7(account, `${execute(vault, deposit)}${tracker(payload)}`))
    expect(only(operations, { from: owner, to: entryPoint7 })).toMatchObject({
      placement: 'userOperation',
      codes: ['legacy1'],
    })
  })
})

describe('several frames', () => {
  test('each carry their own suffix, in the order of the calls', () => {
    const first: Hex = `${approve}${schema0('first')}`
    const second: Hex = `${deposit}${signed({ code: 'second' })}`
    const input = `${executeMode(
      '01',
      encodedCalls([
        { to: token, value: 0n, data: first },
        { to: vault, value: 0n, data: second },
      ]),
    )}${schema0('outer')}`
    const found = findings(input, { to: account })
    expect(found.map(({ placement, codes, attribution }) => [placement, codes[0], attribution])).toEqual([
      ['transaction', 'outer', 'unsigned'],
      ['innerCall', 'first', 'unsigned'],
      ['innerCall', 'second', 'signed'],
    ])
  })

  test('of a multicall belong to the outer caller', () => {
    const call: Hex = `${deposit}${signed({ target: library })}`
    expect(only(multicall(approve, call), { to: library })).toMatchObject({
      attribution: 'signed',
      placement: 'innerCall',
    })
  })
})

describe('transactions that carry nothing', () => {
  test('are known by a look at the bytes, and never decoded', () => {
    const recover = vi.fn()
    for (const input of [deposit, execute(vault, deposit), executeMode('01', encodedCalls(calls)), '0x'] as Hex[]) {
      expect(mayCarryAttribution(input)).toBe(false)
      expect(mayCarryAttribution(parseHex(input) ?? expect.fail())).toBe(false)
      expect(attribute({ chainId, from: account, to: vault, input, signers, entryPoints, recover }).groups).toEqual([])
    }
    expect(recover).not.toHaveBeenCalled()
  })

  test('a deployment and text that is not hex carry nothing', () => {
    expect(findings(`${deposit}${signed()}`, { to: null })).toEqual([])
    expect(findings(`${deposit}${signed()}0`)).toEqual([])
    expect(findings(`0xzz${signed()}`)).toEqual([])
  })

  test('upper-case hex and bytes read the same', () => {
    const input: Hex = `${deposit}${signed()}`
    const upper: Hex = `0x${input.slice(2).toUpperCase()}`
    expect(findings(upper)).toEqual(findings(input))
    expect(findings('0x', { input: Buffer.from(input.slice(2), 'hex') })).toEqual(findings(input))
  })
})
