import { encodeAbiParameters, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { readToken } from './readToken.js'

const address = `0x${'ab'.repeat(20)}`
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
const text = (value: string): Hex => encodeAbiParameters([{ type: 'string' }], [value])

/** What a contract says of itself, by the call that asks it; the balance and length of its code for no call. */
const usual: Record<string, Hex> = {
  '0x': `0x${'0'.repeat(64)}${word(1_000n).slice(2)}`,
  '0x313ce567': word(18n),
  '0x18160ddd': word(5n),
  '0x95d89b41': text('TOK'),
  '0x06fdde03': text('Token'),
}

function read(told: Record<string, Hex | undefined>) {
  const { reads, answer } = readToken(1, address)
  const all: Record<string, Hex | undefined> = { ...usual, ...told }
  return answer(reads.map(({ data }) => all[data]))
}

describe('a token that nobody listed', () => {
  it('is shown, as one that is there, with what it says of itself', () => {
    expect(read({})).toMatchObject({ chainId: 1, address, decimals: 18, symbol: 'TOK', name: 'Token', active: true })
  })

  it('has as many as 36 decimals, and is none with one more', () => {
    expect(read({ '0x313ce567': word(36n) })?.decimals).toBe(36)
    expect(read({ '0x313ce567': word(37n) })).toBeUndefined()
  })

  it.each([
    ['code', { '0x': `0x${'0'.repeat(128)}` as Hex }],
    ['decimals', { '0x313ce567': undefined }],
    ['a supply', { '0x18160ddd': undefined }],
  ])('is none without %s', (_name, told) => {
    expect(read(told)).toBeUndefined()
  })

  it('is called by its symbol where it has no name, and by a question mark where it has neither', () => {
    expect(read({ '0x06fdde03': undefined })).toMatchObject({ symbol: 'TOK', name: 'TOK' })
    expect(read({ '0x06fdde03': undefined, '0x95d89b41': undefined })).toMatchObject({ symbol: '?', name: '?' })
  })
})
