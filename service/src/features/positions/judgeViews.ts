import type { HolderEvent } from '../../vaults/holders/index.js'

/** Another amount than the derived one, and how many urls told it. */
export type Contradiction = { said: bigint; urls: number }

/**
 * Judges the answers of the urls of a chain about one account at one block; undefined: a url cannot tell. Where there are
 * several, two of them must agree, and outnumber all others together with the derived amount: a node that lies or lags alone
 * contradicts nothing. Pure.
 */
export function judgeViews(derived: bigint, said: readonly (bigint | undefined)[]): Contradiction | undefined {
  const told = said.filter((each) => each !== undefined)
  const other = told.find((each) => each !== derived && told.filter((own) => own === each).length * 2 > told.length)
  if (other === undefined) return undefined
  const urls = told.filter((each) => each === other).length
  if (said.length === 1) return { said: other, urls }
  return urls >= 2 && urls > told.length - urls + 1 ? { said: other, urls } : undefined
}

/** The sum of a holder's events for an account, whether or not each has its Transfer. Pure. */
export function sumEvents(events: readonly HolderEvent[], account: string): bigint {
  return events.reduce((sum, event) => {
    if (event.kind === 'upgrade') return sum
    const came = event.kind === 'in' ? event.account : event.kind === 'move' ? event.to : undefined
    const left = event.kind === 'in' ? undefined : event.account
    return sum + (came === account ? event.shares : 0n) - (left === account ? event.shares : 0n)
  }, 0n)
}
