import T from 'typebox'
import { maxUint256 } from 'viem'
import { parseRaw } from '../../kernel/amount.js'
import { invalidInput } from '../../kernel/errors.js'

/** Inputs common to all plans. */

/** A raw amount above 0; below 2^256 is checked when it is parsed. */
export const positiveRaw = (description: string) =>
  T.String({
    pattern: '^0*[1-9][0-9]*$',
    says: "must be a text of decimal digits, an integer above 0 in the token's smallest unit",
    maxLength: 78,
    format: 'uint256',
    description,
  })

/** An address, or `native` for the chain's own token. */
export const tokenInput = (options: { examples?: readonly string[] } = {}) =>
  T.String({
    pattern: '^(0[xX][0-9a-fA-F]{40}|native)$',
    says: 'must be a token address (0x and 40 hex digits) or native',
    description: 'Token, or native',
    ...options,
  })

export const DistributorId = T.String({ minLength: 1, maxLength: 64, description: 'Builder code' })

/** The slippage a caller may ask for, in hundredths of a percent. */
export const slippageBounds = { minimum: 1, maximum: 5000 }

/** A raw amount that passed its schema; at or above 2^256 it fits no token. */
export function parseAmount(text: string, path: string): bigint {
  const amount = parseRaw(text)
  if (amount === undefined) throw invalidInput([{ path, message: `must be at most ${maxUint256}` }])
  return amount
}
