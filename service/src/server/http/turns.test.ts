import { describe, expect, it } from 'vitest'
import { createTurns } from './turns.js'

const of = (key: string) => ({ key, caller: `text of ${key}` })
/** The order in which turns begin. */
function openTurns(most: number) {
  const turns = createTurns(most)
  const began: string[] = []
  const gone = new Map<string, () => void>()
  const failed: string[] = []
  const take = (key: string, name: string) => {
    const taken = turns.take(of(key), (leave) => void gone.set(name, leave))
    taken.then(
      () => began.push(name),
      (error) => failed.push(`${name}: ${error.code}`),
    )
    return taken
  }
  const settle = () => new Promise(setImmediate)
  return { turns, began, failed, take, settle, leave: (name: string) => gone.get(name)?.() }
}

describe('turns of heavy requests', () => {
  it('let each key run so many at once, its next ones in their order, and keep nobody waiting for another key', async () => {
    const { began, take, settle } = openTurns(2)
    const first = await take('a', 'a1')
    await take('a', 'a2')
    void take('a', 'a3')
    void take('a', 'a4')
    const other = await take('b', 'b1')
    await settle()
    expect(began).toEqual(['a1', 'a2', 'b1'])
    other()
    await settle()
    expect(began).toHaveLength(3)
    first()
    await settle()
    expect(began.slice(3)).toEqual(['a3'])
  })

  it('pass over a caller that is gone, who is told so, and ignore that one has gone whose turn began', async () => {
    const { began, failed, take, settle, leave } = openTurns(1)
    const first = await take('a', 'a1')
    void take('a', 'a2').catch(() => undefined)
    const third = take('a', 'a3')
    leave('a1')
    leave('a2')
    await settle()
    expect(failed).toEqual(['a2: 408'])
    first()
    const end = await third
    leave('a3')
    end()
    await take('a', 'a4')
    expect(began).toEqual(['a1', 'a3', 'a4'])
  })

  it('tell who has one, and who had one since they were last read', async () => {
    const { turns, take } = openTurns(0)
    const [one, two] = [await take('a', '1'), await take('a', '2')]
    const three = await take('b', '3')
    one()
    three()
    expect(turns.peekHolders()).toEqual(['text of a', 'text of b'])
    expect(turns.readHolders()).toEqual(['text of a', 'text of b'])
    expect(turns.readHolders()).toEqual(['text of a'])
    two()
    expect(turns.readHolders()).toEqual(['text of a'])
    expect(turns.readHolders()).toEqual([])
  })

  it('run any number at once where there is no limit', async () => {
    const { began, take } = openTurns(0)
    await Promise.all(Array.from({ length: 50 }, (_, index) => take('a', String(index))))
    expect(began).toHaveLength(50)
  })
})
