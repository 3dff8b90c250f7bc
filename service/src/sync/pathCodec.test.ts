import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PathCall } from '../rpc/callPaths.js'
import { packCalls, unpackCalls } from './pathCodec.js'

const bytes = (max: number) =>
  fc.uint8Array({ maxLength: max }).map((array) => `0x${Buffer.from(array).toString('hex')}`)
const address = fc.constantFrom(...['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}`))
const story = fc
  .record({ input: bytes(200), slices: fc.array(fc.tuple(fc.nat(200), fc.nat(200))) })
  .chain(({ input, slices }) =>
    fc.record({
      input: fc.constant(input),
      calls: fc
        .array(
          fc.record({
            back: fc.nat(5),
            kind: fc.constantFrom<PathCall['kind']>('call', 'delegatecall', 'callcode', 'create'),
            caller: address,
            target: address,
            input: fc.oneof(
              bytes(40),
              ...slices.map(([from, length]) =>
                fc.constant(`0x${input.slice(2).slice(from * 2, (from + length) * 2)}`),
              ),
            ),
            logs: fc.uniqueArray(fc.nat(100_000)),
            isWord: fc.boolean(),
          }),
          { minLength: 1, maxLength: 20 },
        )
        .map((all) =>
          all.map(
            ({ back, ...each }, at): PathCall => ({
              ...each,
              parent: at === 0 ? undefined : Math.max(0, at - 1 - back),
            }),
          ),
        ),
    }),
  )

describe('packed call paths', () => {
  it('are read as they were written, whatever they hold', () => {
    fc.assert(
      fc.property(story, ({ input, calls }) => {
        expect(unpackCalls(packCalls(calls, input), input)).toEqual(calls)
      }),
    )
  })

  it('keep no byte twice that stands in the transaction’s input', () => {
    const input = `0x${'5a'.repeat(4_000)}`
    const call: PathCall = {
      ...{ parent: undefined, kind: 'call', caller: `0x${'a'.repeat(40)}`, target: `0x${'b'.repeat(40)}` },
      ...{ input, logs: [3], isWord: false },
    }
    const made = { ...call, parent: 0, input: `0x${'77'.repeat(1_000)}`, isWord: true }
    expect(packCalls([call, { ...call, parent: 0 }], input).length / 2).toBeLessThan(80)
    expect(packCalls([call, made, made], input).length / 2).toBeLessThan(1_100)
  })

  it('are refused when they are cut off or of another version', () => {
    const call: PathCall = {
      ...{ parent: undefined, kind: 'call', caller: `0x${'a'.repeat(40)}`, target: `0x${'b'.repeat(40)}` },
      ...{ input: '0x1234', logs: [3], isWord: false },
    }
    const packed = packCalls([call], '0x')
    expect(() => unpackCalls(packed.slice(0, -2), '0x')).toThrow('end too early')
    expect(() => unpackCalls(`0x02${packed.slice(4)}`, '0x')).toThrow('another version')
  })
})
