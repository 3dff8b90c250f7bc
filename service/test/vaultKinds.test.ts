import { describe, expect, it } from 'vitest'
import type { ContractBeside, PlannedKind, VaultKind } from '../src/vaults/kind.js'
import { erc4626Answers } from './kinds/erc4626.js'
import { lists } from './kinds/lists.js'
import { type Lists, listGaps } from './kinds/walk.js'

const change = (name: string, how: (kind: PlannedKind) => Partial<VaultKind>): Lists => ({
  ...lists,
  kinds: lists.kinds.map((kind) => (kind.name === name ? { ...kind, ...how(kind as PlannedKind) } : kind)),
})
const without = <T>(record: Readonly<Record<string, T>>, name: string) =>
  Object.fromEntries(Object.entries(record).filter(([each]) => each !== name))

describe('the vault kinds', () => {
  it('are each whole: events, calls, plans, figures, recognition, what the sdk expects, a fixture and a row in the docs', () => {
    expect(listGaps(lists)).toEqual([])
  })
})

describe('the walk over the vault kinds itself', () => {
  const gaps: [what: string, lists: Lists, gap: string][] = [
    [
      'its fixture',
      { ...lists, fixtures: lists.fixtures.filter(({ kind }) => kind !== 'erc5115') },
      'there is no fixture of it',
    ],
    [
      'what the sdk expects',
      { ...lists, expected: without(lists.expected, 'erc5115') },
      'the sdk does not know its calls',
    ],
    [
      'its row in the docs',
      { ...lists, docs: lists.docs.replace('| `erc5115` |', '') },
      'docs/vault-kinds.md has no row of it',
    ],
    ['all it emits', change('erc5115', () => ({ emits: [] })), 'nothing it emits is a deposit'],
    ['an event', change('erc5115', ({ emits }) => ({ emits: emits.slice(0, 1) })), 'nothing it emits is a withdraw'],
    ['its calls', change('erc5115', () => ({ calls: [] })), 'no call is said to make its deposit'],
    [
      'a call',
      change('erc5115', ({ calls }) => ({ calls: calls.slice(0, 1) })),
      'no call is said to make its withdraw',
    ],
    [
      'the meaning of an event',
      change('erc5115', ({ emits }) => ({ emits: emits.map((each) => ({ ...each, read: () => undefined })) })),
      'its Deposit means nothing',
    ],
    ['its topics', { ...lists, topics: [] }, 'its Deposit is not asked of a node'],
    ['its decoder', { ...lists, decode: () => [] }, 'the debugger does not decode its Deposit'],
    ['its figures', change('erc5115', () => ({ readFigures: undefined })), 'the figures of its vaults are not read'],
    [
      'the answer its figures follow from',
      change('erc5115', () => ({
        readFigures: () => ({ reads: [], answer: () => ({ figures: undefined, maxDeposit: undefined }) }),
      })),
      'its vaults answer, and yet have no figures',
    ],
    [
      'how it is recognised',
      change('erc5115', () => ({ recognise: () => ({ reads: [], answer: () => undefined }) })),
      'a vault of the kind is not recognised',
    ],
    [
      'the trial',
      change('erc5115', ({ plans: { trial, ...plans } }) => ({ plans })),
      'what completes at once is not tried',
    ],
    ['a side that waits', change('erc5115', () => ({ asyncRedeem: true })), 'nothing it emits is a redeemRequest'],
    ['several tokens', change('erc5115', () => ({ severalTokens: false })), 'the sdk counts its tokens otherwise'],
    [
      'where the sdk looks for its calls',
      {
        ...lists,
        expected: { ...lists.expected, erc5115: { ...lists.expected['erc5115']!, contracts: { deposit: 'queue' } } },
      },
      'the sdk expects its deposit at another contract',
    ],
    [
      'what the sdk takes for a deposit',
      { ...lists, expected: { ...lists.expected, erc5115: { ...lists.expected['erc5115']!, isDeposit: () => false } } },
      'the sdk does not expect its deposit',
    ],
    [
      'all plans',
      change('erc5115', () => ({ plans: undefined })),
      'the sdk expects calls of it, but nothing is built for it',
    ],
    [
      'a contract beside the vault',
      change('erc5115', () => ({ beside: { queue: { summary: '', emits: [], calls: [] } satisfies ContractBeside } })),
      'a vault of the kind is recognised without its queue',
    ],
  ]

  it.each(gaps)('says what is missing where a kind is listed without %s', (_what, changed, gap) => {
    expect(listGaps(changed)).toContain(`erc5115: ${gap}`)
  })

  it('says which plan is refused where a vault answers as the fixture does, and so is not looked at', () => {
    const idle = lists.fixtures.map((each) => (each.kind === 'erc7540' ? { ...each, answers: erc4626Answers } : each))
    expect(listGaps({ ...lists, fixtures: idle })).toContain('erc7540: its fixture is refused its cancelDeposit')
  })

  it('says which kind the service does not list, which is listed twice, and for which another is taken', () => {
    expect(listGaps({ ...lists, kinds: lists.kinds.filter(({ name }) => name !== 'lagoon') })).toEqual([
      'lagoon: the sdk expects calls of it, but the service does not list it',
      'lagoon: it has a fixture, but the service does not list it',
    ])
    expect(listGaps({ ...lists, kinds: [...lists.kinds, ...lists.kinds.slice(0, 1)] })).toContain(
      'erc4626: two kinds have this name',
    )
    const greedy = change('erc7540', () => ({
      recognise: () => ({ reads: [], answer: () => ({ asset: '0x', receiptToken: '0x' }) }),
    }))
    expect(listGaps(greedy)).toContain('erc4626: a vault of the kind is taken for erc7540')
  })
})
