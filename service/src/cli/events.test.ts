import { describe, expect, it } from 'vitest'
import { events } from './events.js'

const to = ['--to', 'nats://127.0.0.1:4222']

describe('openearn events forward', () => {
  it.each([
    [[], /say forward/],
    [['back'], /say forward/],
    [['forward'], /--to/],
    [['forward', '--to', 'nats://'], /--to must be nats:/],
    [['forward', '--to', 'http://me:hidden@127.0.0.1'], /--to must be nats:/],
    [['forward', '--to', 'nats://me:%hidden@127.0.0.1'], /--to must be nats:/],
    [['forward', ...to, '--stream', 'two words'], /--stream: letters/],
    [['forward', ...to, '--prefix', 'a..b'], /--prefix: words/],
    [['forward', ...to, '--prefix', 'a.>'], /--prefix: words/],
    [['forward', ...to, '--creds', '/nowhere/file'], /--creds: \/nowhere\/file cannot be read/],
  ])('refuses %j before it opens anything, in a sentence without a password', async (words, sentence) => {
    const refused = events.run(words)
    await expect(refused).rejects.toThrow(sentence)
    await expect(refused).rejects.not.toThrow(/hidden/)
  })
})
