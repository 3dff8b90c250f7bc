import type { Address, Hex } from 'viem'
import { expect } from 'vitest'
import { type AttributionInput, attribute, type Finding } from '../src/attribute.js'
import { concatBytes, formatUtf8 } from '../src/bytes.js'
import { formatHex, parseHex } from '../src/calldata.js'
import { encodeCbor } from '../src/cbor.js'
import { marker } from '../src/erc8021.js'
import { signerAddress } from '../src/recover.js'
import { buildSuffix } from '../src/typedData.js'
import { account, deposit, entryPoints, vault } from './wrapping.js'

/** Suffixes and trackers written by a key of the tests, without the 0x, and what is read back from them. */

export const chainId = 31337
export const privateKey: Hex = `0x${'07'.repeat(32)}`
export const keyBytes = parseHex(privateKey) ?? expect.fail()
export const signers = [{ address: signerAddress(keyBytes) }]
export const actionId = '248df4b7-aa70-47b8-a036-33ac447e668d'

export const signed = (
  input: { code?: string; wallet?: Address; target?: Address; data?: Hex; referralCode?: string } = {},
): string =>
  buildSuffix({
    code: 'ours',
    actionId,
    chainId,
    wallet: account,
    target: vault,
    data: deposit,
    privateKey,
    ...input,
  }).slice(2)
export const schema0 = (code: string) =>
  formatHex(concatBytes(formatUtf8(code), Uint8Array.of(code.length, 0), marker)).slice(2)
export const schema2 = (map: object) => {
  const cbor = encodeCbor(map)
  return formatHex(concatBytes(cbor, Uint8Array.of(cbor.length >> 8, cbor.length & 0xff, 2), marker)).slice(2)
}
export const tracker = (payload: string, signature = '') =>
  `deadbeef${formatHex(formatUtf8(payload)).slice(2)}${signature}`

export function findings(input: string, more: Partial<AttributionInput> = {}): Finding[] {
  const transaction = { chainId, from: account, to: vault, input: input as Hex, signers, entryPoints, ...more }
  return attribute(transaction).groups.flatMap((group) => group.findings)
}
export const only = (...args: Parameters<typeof findings>): Finding => {
  const [finding, ...others] = findings(...args)
  return finding && others.length === 0 ? finding : expect.fail(`${others.length} more findings`)
}
