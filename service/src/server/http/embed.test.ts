import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn?.close())

const framedBy = async (...origins: string[]) => {
  const key = await earn.key({ kind: 'publishable', origins })
  const { statusCode, headers } = await earn.service.publicApp.inject({ method: 'GET', url: `/embed/${key}` })
  return [statusCode, /frame-ancestors (.*)$/.exec(String(headers['content-security-policy']))?.[1]]
}

describe('the page for the iframe of an app', () => {
  it('is framed by the origins of its key alone; a text that is none of a page never reaches the policy', async () => {
    expect(await framedBy('https://a.example', 'http://localhost:3000')).toEqual([
      ...[200, 'https://a.example http://localhost:3000'],
    ])
    expect(await framedBy()).toEqual([200, "'none'"])
    for (const text of ['https://a.example; script-src *', '*', 'https://*', 'https://a.example https://b.example', ''])
      expect([text, ...(await framedBy(text))]).toEqual([text, 200, "'none'"])
    expect(await framedBy('*', 'https://b.example')).toEqual([200, 'https://b.example'])
  })
})
