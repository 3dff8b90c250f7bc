import type { Confirm } from '../wallet/reads.js'
import type { Problem } from './state.js'

/** Why a word about the least amount is needed: the code of the problem, and its sentence. */
const problems: Record<Confirm, Problem> = {
  'no-quote': {
    code: 'NO_QUOTE',
    text: 'there is no quote to compare the least amount with: read it in the sentences',
  },
  'below-quote': {
    code: 'BELOW_QUOTE',
    text: 'the least amount is below the quote of the known exchanges: read it in the sentences',
  },
}

export const tellConfirm = (confirm: Confirm | undefined): Problem | undefined => confirm && problems[confirm]

/** The reason that a problem told the user; undefined where it was about something else. */
export const readConfirm = (problem: Problem | undefined): Confirm | undefined =>
  (Object.keys(problems) as Confirm[]).find((confirm) => problems[confirm].code === problem?.code)
