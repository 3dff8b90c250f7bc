import { describe, expect, it } from 'vitest'
import { createRoom, createRooms } from './room.js'

const full = () => new Error('full')

/** Works that end when told to. */
function works() {
  const ends: (() => void)[] = []
  let under = 0
  let most = 0
  return {
    start: async () => {
      under += 1
      most = Math.max(most, under)
      await new Promise<void>((resolve) => ends.push(resolve))
      under -= 1
    },
    endOne: () => ends.shift()?.(),
    started: () => ends.length,
    most: () => most,
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('a room', () => {
  it('holds as many as it is told, lets the next in when one leaves, in order, and refuses who finds the queue full', async () => {
    const work = works()
    const room = createRoom({ inFlight: 2, waiting: 2 })
    const order: number[] = []
    const runs = [0, 1, 2, 3].map((i) => room.run(work.start, full).then(() => order.push(i)))
    await expect(room.run(work.start, full)).rejects.toThrow('full')
    for (let i = 0; i < 4; i++) {
      await settle()
      work.endOne()
    }
    await Promise.all(runs)
    expect([order, work.most(), room.isEmpty()]).toEqual([[0, 1, 2, 3], 2, true])
  })

  it('refuses who waited too long, and keeps no place for them', async () => {
    const work = works()
    const room = createRoom({ inFlight: 1, waitMs: 5 })
    const first = room.run(work.start, full)
    await expect(room.run(work.start, full)).rejects.toThrow('full')
    await settle()
    work.endOne()
    await first
    expect(room.isEmpty()).toBe(true)
  })

  it('gives the place of a work that failed to the next', async () => {
    const room = createRoom({ inFlight: 1 })
    const failing = room.run(() => Promise.reject(new Error('broken')), full)
    const next = room.run(async () => 'next', full)
    await expect(failing).rejects.toThrow('broken')
    expect(await next).toBe('next')
  })
})

it('rooms of different names do not fill each other', async () => {
  const work = works()
  const rooms = createRooms({ inFlight: 1, waiting: 0 })
  const held = rooms.run('a', work.start, full)
  await expect(rooms.run('a', async () => 1, full)).rejects.toThrow('full')
  expect(await rooms.run('b', async () => 2, full)).toBe(2)
  await settle()
  work.endOne()
  await held
  expect(await rooms.run('a', async () => 3, full)).toBe(3)
})
