import { describe, expect, it } from 'vitest'
import { compareEntries, type Entry } from './compareEntries.js'

const entry = (id: string, members: Entry['members'] = {}): Entry => ({ kind: 'product', id, name: `n${id}`, members })

describe('the differences of two states of the catalogue', () => {
  it('are what was added, changed and removed, with each member that differs before and after', () => {
    const before = [entry('a', { name: 'A', list: [1, 2] }), entry('b', { x: 1 }), entry('c')]
    const after = [entry('a', { name: 'A', list: [2, 1], fee: 3 }), entry('b', { x: 1 }), entry('d')]
    expect(compareEntries(before, after)).toEqual({
      differences: [
        {
          ...{ kind: 'product', id: 'a', name: 'na', change: 'changed' },
          members: { fee: { before: null, after: 3 }, list: { before: [1, 2], after: [2, 1] } },
        },
        { kind: 'product', id: 'd', name: 'nd', change: 'added', members: {} },
        { kind: 'product', id: 'c', name: 'nc', change: 'removed', members: {} },
      ],
      more: 0,
    })
    expect(compareEntries(before, before)).toEqual({ differences: [], more: 0 })
  })

  it('tell two entries of one id apart by their kind', () => {
    const tag: Entry = { ...entry('a'), kind: 'tag' }
    expect(compareEntries([entry('a')], [tag]).differences.map(({ kind, change }) => [kind, change])).toEqual([
      ['tag', 'added'],
      ['product', 'removed'],
    ])
  })

  it('are 500 at most and say how many more there are; a value above 300 characters is cut', () => {
    const many = Array.from({ length: 501 }, (_, at) => entry(`${at}`))
    const { differences, more } = compareEntries([], many)
    expect([differences.length, more]).toEqual([500, 1])
    const [long] = compareEntries([entry('a', { text: '' })], [entry('a', { text: 'W'.repeat(10_000) })]).differences
    expect(long?.members['text']).toEqual({ before: '', after: `"${'W'.repeat(299)}…` })
  })
})
