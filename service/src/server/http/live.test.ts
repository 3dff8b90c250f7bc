import { afterEach, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { formatHint, revokeKey } from '../../features/auth/index.js'

let earn: Earn
afterEach(async () => {
  await earn?.close()
})

const start = async (key: string) => {
  const baseUrl = await earn.service.publicApp.listen({ host: '127.0.0.1', port: 0 })
  const response = await fetch(`${baseUrl}/v2/events/live?subject=wallet:0x${'ab'.repeat(20)}`, {
    headers: { 'X-API-Key': key },
  })
  let text = ''
  const ended = (async () => {
    for await (const part of response.body ?? []) text += Buffer.from(part).toString()
    return text
  })()
  return { text: () => text, ended }
}

describe('a live stream', () => {
  it('says first how long to wait before it is opened again, and shows every 15 s that it is open', async () => {
    earn = await openEarn()
    const { text } = await start(earn.publishable)
    await expect.poll(text).toMatch(/^retry: [1-5][0-9]{3}\n\n$/)
    earn.clock.advance(15_000)
    await expect.poll(text).toMatch(/\n\n:\n\n$/)
  })

  it('ends after ten minutes', async () => {
    earn = await openEarn()
    const { ended } = await start(earn.publishable)
    earn.clock.advance(600_000)
    expect(await ended).toMatch(/^retry: /)
  })

  it('ends when its key is revoked', async () => {
    earn = await openEarn()
    const key = await earn.key({ kind: 'publishable' })
    const { ended } = await start(key)
    expect(await revokeKey(earn.db, formatHint(key), earn.clock.now())).toHaveLength(1)
    earn.clock.advance(15_000)
    expect(await ended).toMatch(/^retry: /)
  })

  it('costs a unit more each minute, and ends when the budget is used up', async () => {
    earn = await openEarn()
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 2 })
    const { ended, text } = await start(key)
    earn.clock.advance(60_000)
    await expect.poll(text).toContain(':\n\n')
    earn.clock.advance(60_000)
    await ended
    const answer = await earn.call('GetChains', { key })
    expect(answer.status).toBe(429)
  })

  it('ends at a stop', async () => {
    earn = await openEarn()
    const { ended } = await start(earn.publishable)
    await earn.service.publicApp.close()
    expect(await ended).toMatch(/^retry: /)
  })
})
