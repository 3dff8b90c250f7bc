import type { PlannedTransaction } from './types.js'

/** What a service answered may be anything: these say whether it has the shape of a plan, and never throw. */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether every one of some members is text. */
export function hasTexts(value: Record<string, unknown>, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === 'string')
}

export function isPlanned(value: unknown): value is PlannedTransaction {
  if (!isRecord(value) || typeof value['type'] !== 'string' || !isRecord(value['transaction'])) return false
  const { transaction } = value
  const { chainId, gasLimit } = transaction
  if (typeof chainId !== 'number' || !(gasLimit === undefined || typeof gasLimit === 'string')) return false
  return hasTexts(transaction, ['to', 'data', 'value'])
}

/** A list, or nothing where it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Whether an optional amount is one: a bigint that is not negative, or a raw integer as text. */
export function isAmount(value: unknown): boolean {
  return typeof value === 'bigint' ? value >= 0n : typeof value === 'string' && /^[0-9]{1,78}$/.test(value)
}
