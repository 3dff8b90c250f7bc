import { describe, expect, it } from 'vitest'
import type { Client } from './client.js'
import { createLending } from './lending.js'

/** Clients that only remember whether they are closed. */
function openLending(max: number) {
  const opened: { isClosed: boolean }[] = []
  const lending = createLending(async (onSpent) => {
    const state = { isClosed: false }
    opened.push(state)
    let close: () => void = () => undefined
    const closed = new Promise<void>((resolve) => {
      close = () => {
        if (state.isClosed) return
        state.isClosed = true
        onSpent(client)
        resolve()
      }
    })
    const client = { isSpent: () => state.isClosed, close, destroy: close, closed } as unknown as Client
    return client
  }, max)
  return { lending, count: () => opened.filter(({ isClosed }) => !isClosed).length }
}

describe('clients that nobody takes', () => {
  it('are closed after two rests, and those that were taken meanwhile stay', async () => {
    const { lending, count } = openLending(3)
    const lent = await Promise.all([1, 2, 3].map(() => lending.take()))
    for (const client of lent) lending.giveBack(client)
    lending.rest()
    expect(count()).toBe(3)
    lending.giveBack(await lending.take())
    lending.rest()
    expect(count()).toBe(1)
    const held = await lending.take()
    lending.rest()
    lending.rest()
    expect(count()).toBe(1)
    lending.giveBack(held)
    lending.rest()
    lending.rest()
    expect(count()).toBe(0)
    lending.giveBack(await lending.take())
    expect(count()).toBe(1)
    await lending.end(0)
    expect(count()).toBe(0)
  })
})
