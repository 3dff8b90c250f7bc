import { describe, expect, it } from 'vitest'
import { cutCalldata } from './calldata.js'

describe('calldata', () => {
  it('is cut at the suffix by the bytes that the service told', () => {
    expect(cutCalldata('0xaabbCCDDee', { suffix: '0xccdd', start: 2, end: 4 })).toEqual({
      ...{ before: '0xaabb', suffix: 'CCDD', after: 'ee' },
    })
  })

  it('is not cut where other bytes stand there, or where nothing was told', () => {
    const told = { suffix: '0xccdd', start: 1, end: 3 }
    for (const input of ['0xaabbccddee', '0x', 'aabbccdd', '0xabc', '<img>'])
      expect(cutCalldata(input, told), input).toBeUndefined()
    expect(cutCalldata('0xccdd', { suffix: null, start: null, end: null })).toBeUndefined()
  })
})
