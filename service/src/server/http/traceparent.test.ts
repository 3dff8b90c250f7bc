import { expect, it } from 'vitest'
import { readTraceId } from './traceparent.js'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'

it('reads the trace of a traceparent, of a later version too', () => {
  expect(readTraceId(`00-${trace}-${parent}-01`)).toBe(trace)
  expect(readTraceId(`cc-${trace}-${parent}-01-what-comes`)).toBe(trace)
  // A trace whose first half is empty, as 64-bit tracers make them.
  const short = `${'0'.repeat(16)}a3ce929d0e0e4736`
  expect(readTraceId(`00-${short}-${parent}-01`)).toBe(short)
})

it('takes nothing that the standard calls invalid', () => {
  for (const header of [
    undefined,
    '',
    `ff-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace}-${parent}-01-more`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-01\n`,
    [`00-${trace}-${parent}-01`, `00-${trace}-${parent}-01`],
  ])
    expect(readTraceId(header), String(header)).toBeUndefined()
})
