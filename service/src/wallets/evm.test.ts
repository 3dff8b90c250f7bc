import { SigningKey, Wallet } from 'ethers'
import { getAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { rpcOf } from '../../test/rpcOf.js'
import { readSiwe } from '../../test/siwe.js'
import { readVectors } from '../../test/vectors.js'
import type { Chain } from '../rpc/chains.js'
import { RpcError } from '../rpc/rpc.js'
import { verifyEvmSignature } from './evm.js'

type Vector = {
  name: string
  message: string
  signature: string
  expect?: { domain: string; uri: string; nonce: string; chainId: number; address: string; now: string }
  result?: { valid: boolean; reason?: string }
}

const vectors = readVectors('siwe.json')
const key = vectors.testKeys.account0PrivateKey
const address = vectors.testKeys.account0.toLowerCase()
const message = 'Link this wallet: zażółć 🐢\n\nNonce: 1'

const verify = async (signature: string, over = message, of = address) =>
  (await verifyEvmSignature(undefined, { address: of, message: over, signature })) === 'signed'

describe('EIP-4361 vectors', () => {
  it.each<Vector>(vectors.vectors)('$name', async (vector) => {
    const expected = vector.result ?? { valid: false, reason: 'signature-format' }
    expect(await judge(vector)).toBe(expected.valid ? 'valid' : expected.reason)
  })

  it('are 34', () => expect(vectors.vectors).toHaveLength(34))
})

describe('signatures of keys', () => {
  it('of viem and ethers are accepted, with v as 0, 1, 27 or 28 and hex in any case', async () => {
    const { signature, flipped } = await sign()
    expect(await new Wallet(key).signMessage(message)).toBe(signature)
    for (const form of [signature, flipped, `0X${signature.slice(2).toUpperCase()}`])
      expect(await verify(form)).toBe(true)
  })

  it('of another key or over another text are refused', async () => {
    const { signature } = await sign()
    expect(await verify(signature, `${message} `)).toBe(false)
    expect(await verify(signature, message, vectors.testKeys.account1.toLowerCase())).toBe(false)
  })

  it('in compact form, mirrored, cut, lengthened or without 0x are refused', async () => {
    const { signature, mirrored, compact } = await sign()
    const forms = [compact, mirrored, signature.slice(0, -2), `${signature}00`, signature.slice(2), '', '0x', 'junk']
    for (const form of forms) expect(await verify(form), form).toBe(false)
    for (const v of ['02', '1a', '1d', '25', 'ff']) expect(await verify(signature.slice(0, -2) + v), v).toBe(false)
  })

  it('with r or s out of range are refused', async () => {
    const { signature } = await sign()
    const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
    const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)]
    for (const [badR, badS] of [
      ['0'.repeat(64), s],
      [r, '0'.repeat(64)],
      [order, s],
      [r, order],
      ['f'.repeat(64), s],
    ])
      expect(await verify(`0x${badR}${badS}${v}`)).toBe(false)
  })
})

describe('the failure of a wallet’s contract', () => {
  const judge = (code: number, text: string) => {
    const request = async () => {
      throw new RpcError(code, text, undefined)
    }
    const chain = { chainId: 1, name: 'Test', rpc: rpcOf(request) } as unknown as Chain
    return verifyEvmSignature(chain, { address, message, signature: '0x0b' })
  }

  it.each([
    [3, 'no words'],
    [-32015, 'no words'],
    [-32000, 'execution reverted'],
    [-32000, 'out of gas'],
  ])('is a no, and not the node’s, where a node says so by %i or in words (%s)', async (code, text) => {
    expect(await judge(code, text)).toBe('contract-failed')
  })

  it('is not what any other error says: that is a 503', async () => {
    for (const code of [-32000, -32603, -32014, 2, 4])
      await expect(judge(code, 'no words')).rejects.toMatchObject({ code: 503 })
  })
})

/** Judges a vector as a party would that reads messages: format, what it expects, times, and our signature check last. */
async function judge(vector: Vector): Promise<string> {
  const fields = readSiwe(vector.message)
  if (!fields || !isChecksummed(fields.address)) return 'malformed'
  const expected = vector.expect
  if (expected) {
    const now = Date.parse(expected.now)
    if (fields.domain !== expected.domain) return 'domain'
    if (fields.uri !== expected.uri) return 'uri'
    if (fields.nonce !== expected.nonce) return 'nonce'
    if (fields.chainId !== String(expected.chainId)) return 'chainId'
    if (fields.address.toLowerCase() !== expected.address.toLowerCase()) return 'address'
    if (fields.expirationTime !== undefined && now >= Date.parse(fields.expirationTime)) return 'expired'
    if (fields.notBefore !== undefined && now < Date.parse(fields.notBefore)) return 'not-before'
  }
  const claim = { ...vector, address: fields.address.toLowerCase() }
  if ((await verifyEvmSignature(undefined, claim)) === 'signed') return 'valid'
  return isProperForm(vector.signature) ? 'signature' : 'signature-format'
}

function isChecksummed(text: string): boolean {
  return getAddress(text.toLowerCase()) === text
}

/** 65 bytes with r and s in range and s low. */
function isProperForm(signature: string): boolean {
  const half = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
  const s = BigInt(`0x${signature.slice(66, 130) || '0'}`)
  return signature.length === 132 && s > 0n && s <= half
}

async function sign(): Promise<{ signature: string; flipped: string; mirrored: string; compact: string }> {
  const signature = await privateKeyToAccount(key).signMessage({ message })
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), Number(`0x${signature.slice(130)}`)]
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const twin = (order - BigInt(`0x${s}`)).toString(16).padStart(64, '0')
  const { compactSerialized } = new SigningKey(key).sign(new Uint8Array(32))
  expect(compactSerialized).toHaveLength(130)
  const yParityAndS = (BigInt(`0x${s}`) | (BigInt(v - 27) << 255n)).toString(16).padStart(64, '0')
  return {
    signature,
    flipped: signature.slice(0, -2) + (v === 27 ? '00' : '01'),
    mirrored: `0x${r}${twin}${v === 27 ? '1c' : '1b'}`,
    compact: `0x${r}${yParityAndS}`,
  }
}
