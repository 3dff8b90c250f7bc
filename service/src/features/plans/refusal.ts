import { type EarnError, invalidArgument, type Reason } from '../../kernel/errors.js'

/** A 400 that names why an action cannot be built, in a word for programs and a sentence for people. */
export function refuse(reason: Reason, message: string, context: Record<string, unknown> = {}): EarnError {
  return invalidArgument(message, { reason, context })
}
