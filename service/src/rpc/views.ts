import { type Address, type Hex, size, slice } from 'viem'
import type { Read } from './multicall.js'

/** A view of a contract. `word`: which word of how many is meant; absent: its only one. */
export type View = { target: string; data: string; word?: Word }
type Word = { at: number; of: number }

const onlyOne: Word = { at: 0, of: 1 }

/** The word that is meant; undefined where the view answers nothing, or another number of words. */
export function readView({ target, data, word: { at, of } = onlyOne }: View): Read<bigint | undefined> {
  return {
    reads: [{ target: target as Address, data: data as Hex }],
    answer: ([result]) =>
      result !== undefined && size(result) === 32 * of ? BigInt(slice(result, 32 * at, 32 * at + 32)) : undefined,
  }
}
