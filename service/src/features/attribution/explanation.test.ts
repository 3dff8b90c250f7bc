import { describe, expect, it } from 'vitest'
import { type ExplanationFacts, explainAttribution, explainEvents, type ToldEvent } from './explanation.js'

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
  events: [],
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
    const entries = [{ logIndex: 3, interaction: 'deposit', distributorId: 'acme', attribution: 'signed' }]
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

describe('the explanation of each event', () => {
  const event: ToldEvent = { logIndex: 3, vault: '0xv', kind: 'deposit', isClaim: false, isOtherToken: false }
  const entry = { logIndex: 3, interaction: 'deposit', distributorId: 'acme', attribution: 'signed' }
  const explainOne = (changes: Partial<ToldEvent>, around: Partial<ExplanationFacts> = {}) =>
    explainEvents({ ...facts, ...around, events: [{ ...event, ...changes }] })[0]

  it('tells who an event is credited to, once where several wallets keep its shares', () => {
    expect(explainOne({}, { entries: [entry, entry] })).toMatchObject({ creditedTo: ['acme'], reason: null })
  })

  it('leaves no event of a transaction out that has another one in the ledger', () => {
    const told = explainEvents({ ...facts, entries: [entry], events: [event, { ...event, logIndex: 7 }] })
    expect(told.map(({ reason }) => reason)).toEqual([null, expect.stringMatching(/did not make this event/)])
  })

  it.each<[string, Partial<ToldEvent>, Partial<ExplanationFacts>, RegExp]>([
    ['a request', { kind: 'redeemRequest' }, {}, /^a request has no entry/],
    ['a cancellation', { kind: 'cancelDepositClaim' }, {}, /^a cancellation has no entry/],
    ['a deposit in another token', { isOtherToken: true }, {}, /^it is paid in another token/],
    ['a claim of a redemption', { kind: 'withdraw', isClaim: true }, {}, /^it claims a redemption/],
    ['a claim of a deposit', { isClaim: true }, { claim: undefined }, /^it claims a request .* ends in no suffix/],
    ['a deposit without a suffix', {}, { claim: undefined }, /^the calldata ends in no suffix/],
    ['a deposit of an unknown code', {}, { distributor: undefined }, /^acme is not a registered distributor/],
    [
      'a deposit whose call is in doubt beside one that is not',
      { logIndex: 7 },
      { entries: [entry], watched: [{ distributorId: 'acme', problems: ['needs a trace'], retracted: false }] },
      /^which of several calls/,
    ],
  ])('names the rule that left out %s', (_what, changes, around, rule) => {
    expect(explainOne(changes, around)).toMatchObject({ creditedTo: [], reason: expect.stringMatching(rule) })
  })
})
