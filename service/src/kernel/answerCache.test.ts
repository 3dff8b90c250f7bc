import { describe, expect, it } from 'vitest'
import { createAnswerCache } from './answerCache.js'

const mebibyte = 1024 * 1024

describe('the answers kept', () => {
  it('take no more bytes than allowed under 10,000 different names, of all shelves together', () => {
    const cache = createAnswerCache(mebibyte)
    const shelves = [cache.shelf('a'), cache.shelf('b')]
    for (let index = 0; index < 10_000; index++) {
      const name = `${index}${'x'.repeat(index % 3 === 0 ? 60_000 : 100)}`
      shelves[index % 2]?.keep(name, { index }, index % 5 === 0 ? 20_000 : 0)
      expect(cache.byteLength()).toBeLessThanOrEqual(mebibyte)
    }
    expect(cache.byteLength()).toBeGreaterThan(mebibyte / 2)
  })

  it('count the bytes of a name once it is as short as its digest', () => {
    const cache = createAnswerCache(mebibyte)
    const shelf = cache.shelf('a')
    shelf.keep('x'.repeat(60_000), { one: 1 }, 0)
    expect(cache.byteLength()).toBeLessThan(1_000)
    expect(shelf.find('x'.repeat(60_000))).toEqual({ one: 1 })
    expect(shelf.find('x'.repeat(60_001))).toBeUndefined()
  })

  it('are those asked for last, and of one shelf never found on another', () => {
    const cache = createAnswerCache(10_000)
    const [shelf, other] = [cache.shelf<{ n: number }>('a'), cache.shelf('b')]
    shelf.keep('first', { n: 1 }, 4_000)
    shelf.keep('second', { n: 2 }, 4_000)
    expect(shelf.find('first')).toEqual({ n: 1 })
    shelf.keep('third', { n: 3 }, 4_000)
    expect([shelf.find('first'), shelf.find('second'), shelf.find('third')]).toEqual([{ n: 1 }, undefined, { n: 3 }])
    expect(other.find('first')).toBeUndefined()
    cache.forget()
    expect([shelf.find('first'), cache.byteLength()]).toEqual([undefined, 0])
  })

  it('do not include one larger than everything allowed', () => {
    const cache = createAnswerCache(1_000)
    cache.shelf('a').keep('name', {}, 2_000)
    expect(cache.byteLength()).toBe(0)
  })

  it('count their size, twice the length of their name and what an entry takes', () => {
    const cache = createAnswerCache(mebibyte)
    cache.shelf('a').keep('name', {}, 1_000.5)
    expect(cache.byteLength()).toBe(400 + 2 * 'a name'.length + 1_001)
    cache.shelf('b').keep('x'.repeat(256), {}, 0)
    expect(cache.byteLength()).toBe(1_413 + 400 + 2 * (2 + 256))
  })

  it('leave a third of the room to others, where one asks before it keeps more', () => {
    const cache = createAnswerCache(30_000)
    expect([cache.hasPlentyFor(20_000), cache.hasPlentyFor(20_001)]).toEqual([true, false])
    cache.shelf('a').keep('name', {}, 4_588)
    expect(cache.byteLength()).toBe(5_000)
    expect([cache.hasPlentyFor(15_000), cache.hasPlentyFor(15_001)]).toEqual([true, false])
  })

  it('have 48 MiB where nothing else is said', () => {
    const cache = createAnswerCache()
    expect([cache.hasPlentyFor(32 * mebibyte), cache.hasPlentyFor(32 * mebibyte + 1)]).toEqual([true, false])
  })

  it('are all forgotten but the lasting ones', () => {
    const cache = createAnswerCache(10_000)
    const [shelf, lasting] = [cache.shelf('a'), cache.shelf('verdict', { lasting: true })]
    lasting.keep('of a', { n: 1 }, 4_000)
    for (const _time of [1, 2]) shelf.keep('of a', { n: 2 }, 4_000)
    expect(shelf.find('of a')).toEqual({ n: 2 })
    cache.forget()
    expect([shelf.find('of a'), lasting.find('of a')]).toEqual([undefined, { n: 1 }])
  })

  it('are gone after their time', async () => {
    const cache = createAnswerCache(10_000)
    const shelf = cache.shelf('a')
    shelf.keep('short', { n: 1 }, 10, 1)
    shelf.keep('long', { n: 2 }, 10, 60_000)
    await expect.poll(() => shelf.find('short')).toBeUndefined()
    expect(shelf.find('long')).toEqual({ n: 2 })
  })
})
