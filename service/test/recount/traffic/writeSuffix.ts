import { secp256k1 } from '@noble/curves/secp256k1.js'
import { type Hex, hashTypedData } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { type Digits, hashOf } from '../bytes.js'

const marker = '80218021802180218021802180218021'
const keys = ['07', '08', '09'].map((byte) => byte.repeat(32))
/** Our keys: one present, one retired; the third is a stranger's. */
export const signers: readonly string[] = keys.slice(0, 2).map((key) => privateKeyToAddress(`0x${key}`).toLowerCase())

const ascii = (text: string): Digits => Buffer.from(text, 'utf8').toString('hex')
const byte = (value: number, wide = 1): Digits => value.toString(16).padStart(2 * wide, '0')

export const schema0 = (...codes: string[]): Digits =>
  `${ascii(codes.join(','))}${byte(codes.join(',').length)}00${marker}`
export const schema1 = (code: string): Digits => `${'cc'.repeat(20)}210502${ascii(code)}${byte(code.length)}01${marker}`
export const legacy = (code: string): Digits => `deadbeef${ascii(`turtle:v1:${code}:`)}`
export const malformed = (code: string): Digits => `${ascii(code)}ff00${marker}`

const text = (value: string): Digits =>
  (value.length < 24 ? byte(0x60 + value.length) : `78${byte(value.length)}`) + ascii(value)
const map = (...entries: [string, Digits][]): Digits =>
  byte(0xa0 + entries.length) + entries.map(([key, value]) => text(key) + value).join('')
const wrap = (cbor: Digits): Digits => `${cbor}${byte(cbor.length / 2, 2)}02${marker}`

export const schema2 = (code: string, wallet?: string): Digits =>
  wrap(wallet === undefined ? map(['a', text(code)]) : map(['w', text(wallet)], ['a', text(code)]))

export type Signing = {
  code: string
  actionId: Digits
  wallet: string
  target: string
  data: Digits
  chainId: number
  swaps?: boolean
  key?: 0 | 1 | 2
  referralCode?: string
}

/** What this service writes behind a call. `data` is the call without it. */
export function signedSuffix({
  code,
  actionId,
  wallet,
  target,
  data,
  chainId,
  swaps,
  key = 0,
  referralCode = '',
}: Signing): Digits {
  const digest = hashTypedData({
    domain: { name: 'OpenEarn Attribution', version: '1' },
    primaryType: 'Attribution',
    types: {
      Attribution: [
        { name: 'code', type: 'string' },
        { name: 'actionId', type: 'bytes16' },
        { name: 'chainId', type: 'uint256' },
        { name: 'wallet', type: 'address' },
        { name: 'target', type: 'address' },
        { name: 'callHash', type: 'bytes32' },
        { name: 'referralCode', type: 'string' },
      ],
    },
    message: {
      code,
      actionId: `0x${actionId}`,
      chainId: BigInt(chainId),
      wallet: wallet as Hex,
      target: target as Hex,
      callHash: hashOf(data),
      referralCode,
    },
  })
  const bytes = secp256k1.sign(Buffer.from(digest.slice(2), 'hex'), Buffer.from(keys[key]!, 'hex'), {
    prehash: false,
    format: 'recovered',
  })
  const signature = `${Buffer.from(bytes.slice(1)).toString('hex')}${byte(27 + bytes[0]!)}`
  const m: [string, Digits][] = [['i', `50${actionId}`]]
  if (referralCode !== '') m.push(['r', text(referralCode)])
  if (swaps) m.push(['s', 'f5'])
  m.push(['g', `5841${signature}`])
  return wrap(map(['a', text(code)], ['m', map(...m)]))
}
