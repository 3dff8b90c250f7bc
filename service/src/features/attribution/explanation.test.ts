import { describe, expect, it } from 'vitest'
import { type ExplanationFacts, explainAttribution } from './explanation.js'

const claim = {
  code: 'acme',
  registered: true,
  proven: true,
  signatureValid: true,
  error: '',
} as NonNullable<ExplanationFacts['claim']>

/** A deposit that counts, but is not in the ledger yet. */
const facts: ExplanationFacts = {
  chainName: 'Devnet',
  found: true,
  mined: { success: true, blockNumber: 100 },
  vaultEvents: ['Deposit'],
  attribution: { groups: [], frames: [], bundler: [], truncated: false },
  claim,
  distributor: { id: 'acme', activeFrom: new Date(0), signedOnly: false },
  blockAt: new Date('2026-11-20T12:00:00Z'),
  entries: [],
  watched: [{ distributorId: 'acme', problems: [], retracted: false }],
  confirmations: 1,
  headNumber: 100,
}

const explain = (changes: Partial<ExplanationFacts>) => explainAttribution({ ...facts, ...changes })

describe('the explanation', () => {
  it('ends with the ledger where the deposit counted', () => {
    const entries = [{ interaction: 'deposit', distributorId: 'acme', attribution: 'signed' }]
    const { attributed, lines } = explain({ entries })
    expect(attributed).toBe(true)
    expect(lines).toEqual([
      'ok: mined in block 100 of Devnet',
      'ok: vault events: Deposit',
      'ok: deposit credited to acme (signed)',
    ])
  })

  it.each<[string, Partial<ExplanationFacts>, RegExp]>([
    ['whose caller only calldata names', { claim: { ...claim, proven: false } }, /a trace would have to show it/],
    [
      'with several calls that can have made the event',
      { watched: [{ distributorId: null, problems: ['needs a trace'], retracted: false }] },
      /which of several calls/,
    ],
    [
      'with a code only one node tells of',
      { claim: undefined, watched: [{ distributorId: null, problems: ["one node's word"], retracted: false }] },
      /only one node says/,
    ],
    [
      'whose signature has counted, for a distributor that wants signatures',
      {
        distributor: { id: 'acme', activeFrom: new Date(0), signedOnly: true },
        watched: [{ distributorId: 'acme', problems: ['signature already used'], retracted: false }],
      },
      /has counted before/,
    ],
    ['unknown', { found: false }, /does not know this transaction/],
    ['pending', { mined: undefined }, /not mined yet/],
    ['reverted', { mined: { success: false, blockNumber: 1 } }, /reverted/],
    ['without a suffix', { claim: undefined }, /ends in no suffix/],
    [
      'with the suffix at the end of the bundle',
      { claim: undefined, attribution: { groups: [], frames: [], bundler: [{} as never], truncated: false } },
      /bundler's/,
    ],
    [
      'too deep to be read',
      { claim: undefined, attribution: { groups: [], frames: [], bundler: [], truncated: true } },
      /too many inner calls/,
    ],
    ['of a code nobody registered', { distributor: undefined }, /not a registered distributor/],
    [
      'older than the distributor',
      { distributor: { id: 'acme', activeFrom: new Date('2026-12-01T00:00:00Z'), signedOnly: false } },
      /counts from 2026-12-01/,
    ],
    [
      'unsigned for a distributor that wants signatures',
      {
        claim: { ...claim, signatureValid: false, error: 'no signature' },
        distributor: { id: 'acme', activeFrom: new Date(0), signedOnly: true },
      },
      /counts signed attributions only, and here: no signature/,
    ],
    ['without a vault', { vaultEvents: [] }, /without an event of a known vault/],
    ['taken back', { watched: [{ distributorId: 'acme', problems: [], retracted: true }] }, /reorganisation/],
    ['not watched yet', { watched: [] }, /has not read this block yet/],
    ['not deep enough', { confirmations: 12 }, /is 1 blocks deep and counts from 12 on/],
    [
      'derived before it was registered',
      { watched: [{ distributorId: null, problems: [], retracted: false }] },
      /re-derives/,
    ],
    ['of a stranger', {}, /neither sender nor owner/],
  ])('says what is wrong with a transaction %s', (_name, changes, line) => {
    const { attributed, lines } = explain(changes)
    expect(attributed).toBe(false)
    expect(lines.at(-1)).toMatch(line)
    expect(lines.at(-1)).toMatch(/^no: /)
  })
})
