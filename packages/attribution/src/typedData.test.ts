import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { type Hex, hashTypedData, recoverAddress as viemRecoverAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { attributionDomain, attributionTypes } from './attributionTypes.js'
import { formatHex, lowerAddress, parseHex } from './calldata.js'
import { isCanonicalSignature } from './canonicalSignature.js'
import { recoverAddress, signerAddress } from './recover.js'
import {
  buildSuffix,
  formatActionId,
  hashAttribution,
  parseActionId,
  recoverAttributionSigner,
  signAttribution,
} from './typedData.js'

type Message = {
  code: string
  actionId: Hex
  chainId: number
  wallet: Hex
  target: Hex
  callHash: Hex
  referralCode: string
}
type Vector = { name: string; built?: { message: Message; digest: Hex; signature: Hex; suffix: Hex } }

const file = new URL('../../../service/test/vectors/attribution.json', import.meta.url)
const { vectors, types, signers } = JSON.parse(readFileSync(file, 'utf8')) as {
  vectors: Vector[]
  types: unknown
  signers: { address: string; state: string }[]
}
const built = vectors.flatMap(({ name, built }) => (built ? [[name, built] as const] : []))

// The public keys of the development chain; the second and third of its accounts sign, the fourth is retired.
const developmentKeys: Hex[] = [
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
]
const presentKey = developmentKeys[0] ?? expect.fail()

const bytesOf = (hex: string) => parseHex(hex) ?? expect.fail(`not hex: ${hex}`)
const messageOf = (message: Message) => ({
  ...message,
  actionId: bytesOf(message.actionId),
  callHash: bytesOf(message.callHash),
})

describe('the signed message', () => {
  test('has the published types', () => expect(attributionTypes).toEqual(types))

  test.each(built)('%s: digest and signer are the published ones', (_name, { message, digest, signature }) => {
    expect(formatHex(hashAttribution(messageOf(message)))).toBe(digest)
    const known = signers.find(({ address }) => {
      const key = developmentKeys.find((key) => privateKeyToAccount(key).address === address) ?? expect.fail(address)
      return formatHex(signAttribution(messageOf(message), bytesOf(key))) === signature
    })
    const signer = recoverAttributionSigner(messageOf(message), bytesOf(signature))
    if (known) expect(signer).toBe(lowerAddress(known.address))
    else expect(signers.map(({ address }) => lowerAddress(address))).not.toContain(signer)
  })

  test('hashes as viem does, whatever it says', () => {
    const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((b) => formatHex(b))
    const message = fc.record({
      code: fc.string(),
      actionId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      chainId: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
      wallet: address,
      target: address,
      callHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      referralCode: fc.string({ unit: fc.constantFrom('a', ':', '"', '\n', '\0', 'é', '€', '𐀀', '\uFEFF') }),
    })
    fc.assert(
      fc.property(message, (message) => {
        const wanted = hashTypedData({
          domain: attributionDomain,
          types: attributionTypes,
          primaryType: 'Attribution',
          message: {
            ...message,
            actionId: formatHex(message.actionId),
            chainId: BigInt(message.chainId),
            callHash: formatHex(message.callHash),
          },
        })
        expect(formatHex(hashAttribution(message))).toBe(wanted)
      }),
      { numRuns: 40 },
    )
  })
})

describe('buildSuffix', () => {
  const deposit: Hex = `0x6e553f65${'0'.repeat(58)}0f4240000000000000000000000000${'70997970c51812dc3a010c7d01b50e0d17dc79c8'}`

  test.each(['direct deposit', 'direct deposit with referral code'])('%s: writes the published bytes', (name) => {
    const [, { message, suffix }] = built.find(([found]) => found === name) ?? expect.fail(name)
    const { callHash: _callHash, ...rest } = message
    expect(buildSuffix({ ...rest, data: deposit, privateKey: presentKey })).toBe(suffix)
    const asUuid = formatActionId(bytesOf(message.actionId))
    expect(buildSuffix({ ...rest, actionId: asUuid, data: deposit, privateKey: presentKey })).toBe(suffix)
  })

  test('signs the call below a suffix that is already there', () => {
    const [, { message, suffix }] = built.find(([found]) => found === 'direct deposit') ?? expect.fail()
    const privy = '7072697679050080218021802180218021802180218021'
    expect(buildSuffix({ ...message, data: `${deposit}${privy}`, privateKey: presentKey })).toBe(suffix)
  })

  test.each([
    ['an action id that is not one', { actionId: '12' }],
    ['a short key', { privateKey: '0x12' as Hex }],
    ['a wallet that is no address', { wallet: '0x12' as Hex }],
    ['a code that cannot be a distributor', { code: 'a,b' }],
  ])('refuses %s', (_name, wrong) => {
    const [, { message }] = built[0] ?? expect.fail()
    expect(() => buildSuffix({ ...message, data: deposit, privateKey: presentKey, ...wrong })).toThrow(RangeError)
  })
})

describe('signatures', () => {
  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })

  test('are recovered as viem recovers them, or not at all', async () => {
    const signature = fc.tuple(bytes32, bytes32, fc.constantFrom(27, 28))
    await fc.assert(
      fc.asyncProperty(bytes32, signature, async (digest, [r, s, v]) => {
        const bytes = Uint8Array.from([...r, ...s, v])
        const wanted = await viemRecoverAddress({ hash: formatHex(digest), signature: formatHex(bytes) }).catch(
          () => undefined,
        )
        expect(recoverAddress(digest, bytes)).toBe(wanted && lowerAddress(wanted))
      }),
      { numRuns: 20 },
    )
  })

  test('by a key recover to its address and are canonical; the mirrored form is not', () => {
    fc.assert(
      fc.property(bytes32, bytes32, (digest, seed) => {
        const key = Uint8Array.from(seed)
        key[0] = 1
        const account = privateKeyToAccount(formatHex(key))
        expect(signerAddress(key)).toBe(lowerAddress(account.address))
        const message = { ...messageOf((built[0] ?? expect.fail())[1].message), callHash: digest }
        const signature = signAttribution(message, key)
        expect(isCanonicalSignature(signature)).toBe(true)
        expect(recoverAttributionSigner(message, signature)).toBe(lowerAddress(account.address))
        const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
        const mirrored = (order - BigInt(formatHex(signature, 32, 64))).toString(16).padStart(64, '0')
        const other = Uint8Array.from([
          ...signature.subarray(0, 32),
          ...bytesOf(`0x${mirrored}`),
          55 - (signature[64] ?? 0),
        ])
        expect(isCanonicalSignature(other)).toBe(false)
      }),
      { numRuns: 10 },
    )
  })

  test('an action id is a uuid or 16 bytes of hex', () => {
    const id = '248df4b7-aa70-47b8-a036-33ac447e668d'
    expect(formatActionId(parseActionId(id))).toBe(id)
    expect(formatActionId(parseActionId(`0x${id.replaceAll('-', '').toUpperCase()}`))).toBe(id)
  })
})
