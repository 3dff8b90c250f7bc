import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { flushEvents } from '../../../test/flushEvents.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import type { StateNow } from '../../postgres/context.js'
import { tellStates } from './index.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn?.close())

const subject = { kind: 'chain', id: '1' } as const
const at = new Date('2026-11-20T12:00:00Z')
const states = (given: Record<string, string>): StateNow[] =>
  Object.entries(given).map(([id, state]) => ({
    ...{ id, state },
    facts: (before) => [
      { type: 'chain.resumed', at, chainId: 1, subject, data: { id, before: before ?? null, state } },
    ],
  }))
const told = async () => {
  await flushEvents(earn.db)
  const rows = await earn.db<{ data: object }[]>`select data from feed order by position`
  return rows.map(({ data }) => data)
}

describe('states of a group', () => {
  it('are not told at the first look, and later once for each change, new ones too', async () => {
    await tellStates(earn.db, 'g', async () => states({ a: '1', b: '1' }))
    expect(await told()).toEqual([])
    await tellStates(earn.db, 'g', async () => states({ a: '1', b: '2' }))
    await tellStates(earn.db, 'g', async () => states({ a: '1', b: '2', c: '1' }))
    await tellStates(earn.db, 'g', async () => states({ a: '1', b: '2', c: '1' }))
    expect(await told()).toEqual([
      { id: 'b', before: '1', state: '2' },
      { id: 'c', before: null, state: '1' },
    ])
  })

  it('are told after a first look at nothing', async () => {
    const before = await told()
    await tellStates(earn.db, 'empty', async () => [])
    await tellStates(earn.db, 'empty', async () => states({ x: '1' }))
    expect((await told()).slice(before.length)).toEqual([{ id: 'x', before: null, state: '1' }])
  })

  it('are told once by eight processes at the same time', async () => {
    const before = await told()
    const look = () => tellStates(earn.db, 'empty', async () => states({ x: '2' }))
    await Promise.all(Array.from({ length: 8 }, look))
    expect((await told()).slice(before.length)).toEqual([{ id: 'x', before: '1', state: '2' }])
  })

  it('stay untold where their reader fails, and are told by the next look', async () => {
    const before = await told()
    const failing = tellStates(earn.db, 'empty', async () => {
      throw new Error('broken')
    })
    await expect(failing).rejects.toThrow('broken')
    await tellStates(earn.db, 'empty', async () => states({ x: '3' }))
    expect(await told()).toHaveLength(before.length + 1)
  })
})
