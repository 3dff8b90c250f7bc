import { buildSuffix } from '@openearn/attribution'
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { RawLog } from '../../src/rpc/raw.js'
import type { ModelFrame } from './model.js'

export const signerKey: Hex = `0x${'07'.repeat(32)}`
const marker = '80218021802180218021802180218021'
const hexText = (text: string) => Buffer.from(text).toString('hex')

export type Word = string | bigint
export const pad = (value: Word): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')

const selectors = {
  deposit: ['6e553f65', '94bf804d'],
  claim: ['2e2d2984', 'da39b3e7'],
  withdraw: ['b460af94', 'ba087652'],
  requestDeposit: ['85b77f45'],
  requestRedeem: ['7d41c86e'],
} as const

/** The data of a call without any suffix; one that makes nothing we know of differs by `salt`. */
export function bodyOf(makes: ModelFrame['makes'], salt: bigint): Hex {
  if (makes === null) return `0x5eed0001${pad(salt)}`
  if (makes === 'nothing') return `0xa9059cbb${pad(`0x${'9'.repeat(40)}`)}${pad(0n)}`
  const { kind, of, amount, owner, controller } = makes
  const name = kind === 'deposit' && controller !== undefined ? 'claim' : kind
  const selector = selectors[name as keyof typeof selectors][of]
  const words =
    name === 'deposit'
      ? [owner]
      : name === 'claim'
        ? [owner, controller ?? '']
        : name === 'withdraw'
          ? [owner, owner]
          : [controller ?? '', owner]
  return `0x${selector}${pad(amount)}${words.map(pad).join('')}`
}

/** The end of calldata that names a frame's code, without 0x. */
export function suffixOf(
  frame: Pick<ModelFrame, 'caller' | 'target' | 'code' | 'how'>,
  data: Hex,
  chainId: number,
): string {
  const { code, how } = frame
  if (code === null) return ''
  if (how === 'legacy') return `deadbeef${hexText(`turtle:v1:${code}:`)}`
  if (how === 'unsigned') return `${hexText(code)}${code.length.toString(16).padStart(2, '0')}00${marker}`
  const [wallet, target] = [frame.caller as Address, frame.target as Address]
  const actionId = `0x${'11'.repeat(16)}`
  return buildSuffix({ code, actionId, chainId, wallet, target, data, privateKey: signerKey }).slice(2)
}

const abi = parseAbi(['struct Call { address to; uint256 value; bytes data; }', 'function executeBatch(Call[] calls)'])

/** Calls of an account, in one. */
export function batch(calls: { to: Address; value: bigint; data: Hex }[]): string {
  return encodeFunctionData({ abi, functionName: 'executeBatch', args: [calls] }).toLowerCase()
}

/** A log of a transaction; the first topic is the event's. */
export function toLog(
  place: { block: number; index: number; hash: string },
  logIndex: number,
  address: string,
  [first = '', ...indexed]: readonly Word[],
  data: readonly Word[],
): RawLog {
  return {
    blockNumber: place.block,
    logIndex,
    transactionIndex: place.index,
    transactionHash: place.hash,
    address,
    topics: [String(first), ...indexed.map((value) => `0x${pad(value)}`)],
    data: `0x${data.map(pad).join('')}`,
  }
}
