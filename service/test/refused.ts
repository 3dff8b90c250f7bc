import { expect } from 'vitest'
import type { Answer } from './harness.js'

/** Expects a 400 with this reason that says whether to try again; answers its body. */
export function refused(answer: Answer, reason: string | undefined, retryable = false): Answer['body'] {
  expect(answer.body).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', context: { retryable } })
  expect(answer.body.reason).toBe(reason)
  return answer.body
}
