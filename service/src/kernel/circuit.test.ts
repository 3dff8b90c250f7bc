import { describe, expect, it } from 'vitest'
import { createCircuit } from './circuit.js'
import { fakeClock } from './clock.js'

const open = (clock = fakeClock('2026-01-01T00:00:00Z')) => ({ clock, circuit: createCircuit('node.example', clock) })
const fail = (circuit: ReturnType<typeof createCircuit>, times: number) => {
  for (let time = 0; time < times; time++) circuit.onFailure()
}

describe('a circuit', () => {
  it('opens for 5 s after 5 failures in a row, names nothing but the host, and says how long it stays so', () => {
    const { circuit, clock } = open()
    fail(circuit, 4)
    expect(circuit.findRefusal()).toBeUndefined()
    circuit.onFailure()
    clock.advance(2_000)
    expect(circuit.findRefusal()).toMatchObject({
      kind: 'open',
      retryAfterMs: 3_000,
      message: 'node.example failed 5 times in a row; not asked again yet',
    })
    clock.advance(3_000)
    expect(circuit.findRefusal()).toBeUndefined()
  })

  it('opens again at the first failure after that, and forgets all failures at an answer', () => {
    const { circuit, clock } = open()
    fail(circuit, 5)
    clock.advance(5_000)
    circuit.onFailure()
    expect(circuit.findRefusal()).toBeDefined()
    circuit.onAnswer()
    fail(circuit, 4)
    expect(circuit.findRefusal()).toBeUndefined()
  })

  it('knows nothing of another to the same host: each url and purpose has one of its own', () => {
    const { circuit, clock } = open()
    const other = createCircuit('node.example', clock)
    fail(circuit, 5)
    expect(circuit.findRefusal()).toBeDefined()
    expect(other.findRefusal()).toBeUndefined()
    expect(other.failures()).toBe(0)
  })
})
