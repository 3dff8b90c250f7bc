import type { types } from '@openearn/sdk'

export type Found = types.GetAttributionResult
export type Inspection = NonNullable<Found['calldata']>

/** The verdict of a look-up in one sentence. */
export function toVerdict(found: Found): { text: string; kind: 'good' | 'bad' | 'plain' } {
  const { attributed, distributorId, source, calldata, interactions } = found
  if (attributed && source === 'interaction')
    return {
      ...{ kind: 'good' },
      text: `Credited to ${distributorId}: ${interactions.length === 1 ? 'one entry' : `${interactions.length} entries`} of the ledger${signatureOf(interactions)}.`,
    }
  if (attributed && source === 'watcher')
    return {
      kind: 'plain',
      text: `It carries the code ${distributorId}; the ledger has no verified entry of it (yet).`,
    }
  if (attributed)
    return { kind: 'plain', text: `Its calldata carries the code ${distributorId ?? ''}; nothing was credited.` }
  if (calldata?.problems.includes('transaction not found'))
    return { kind: 'bad', text: 'The chain has no transaction of this hash, or its node does not know it yet.' }
  return {
    ...{ kind: 'bad' },
    text: 'Nobody is credited: no code of a distributor was found. A suffix (ERC-8021) at the end of its calldata would name one.',
  }
}

/** An entry without a signature counts as one with it: who sends a transaction decides which code stands in it. */
const signatureOf = (rows: Found['interactions']): string =>
  rows.every(({ attribution }) => attribution === 'signed') ? ', signed' : ', not signed by this service'

/** The parts of a suffix from its last byte backwards, by the form of it (ERC-8021). */
export const formTexts: Readonly<Record<string, string>> = {
  'erc8021-0':
    'From its end: the marker (the number of the standard, eight times), the number of the form in a byte, the length of the codes in a byte, and the codes in ASCII.',
  'erc8021-1':
    'From its end: the marker (the number of the standard, eight times), the number of the form in a byte, the length of the codes in a byte, the codes in ASCII, the length of the chain id in a byte, that id, and the address of the registry.',
  'erc8021-2':
    'From its end: the marker (the number of the standard, eight times), the number of the form in a byte, the length of the data in two bytes, and the data in CBOR: the code, the plan that it is of, and the signature.',
}

/** Steps that an integration has to take, each with whether it was taken: the first that was not is what is missing. */
export function toChecks(found: Found, code: string): { text: string; isMet: boolean }[] {
  const { calldata, interactions, watched, codes } = found
  const isKnown = calldata !== null && !calldata.problems.includes('transaction not found')
  const allCodes = new Set([...codes, ...(calldata?.codes ?? [])])
  const isCredited = interactions.some(({ distributorId }) => distributorId === code)
  return [
    { text: 'the transaction is in a block', isMet: isKnown || watched.length > 0 || interactions.length > 0 },
    { text: 'a suffix stands in its calldata', isMet: calldata?.found === true || allCodes.size > 0 },
    { text: `the suffix names ${code}`, isMet: allCodes.has(code) },
    {
      text: 'the suffix is signed by this service',
      isMet: calldata?.signature.valid === true || interactions.some(({ attribution }) => attribution === 'signed'),
    },
    { text: `a deposit or withdrawal of it is verified and credited to ${code}`, isMet: isCredited },
  ]
}
