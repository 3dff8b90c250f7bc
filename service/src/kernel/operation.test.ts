import { describe, expect, it } from 'vitest'
import { anonymous, isWritten, written } from './operation.js'

describe('the caller of a public operation', () => {
  it('has no key, acts for nobody and may nothing', () => {
    expect(anonymous).toStrictEqual({
      keyId: '',
      kind: 'publishable',
      organizationId: '',
      distributorId: null,
      permissions: [],
    })
  })
})

describe('what an operation that writes returns', () => {
  it('is told from every body, one with the same members included', () => {
    const write = async () => undefined
    const result = written({ isMember: true }, write)
    expect(isWritten(result)).toBe(true)
    expect([result.body, result.write]).toEqual([{ isMember: true }, write])
    for (const body of [
      { body: { isMember: true }, write },
      { ...JSON.parse(JSON.stringify(result)), write },
    ])
      expect(isWritten(body)).toBe(false)
    for (const body of [undefined, null, 'text', 1, [], {}, () => undefined]) expect(isWritten(body)).toBe(false)
  })
})
