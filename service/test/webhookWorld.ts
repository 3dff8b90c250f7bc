import { Webhook } from 'standardwebhooks'
import { vi } from 'vitest'
import { startDeliveries, tell } from '../src/features/events/index.js'
import type { Config } from '../src/kernel/config.js'
import type { Fact } from '../src/postgres/context.js'
import { inTransaction } from '../src/postgres/pool.js'
import { type Earn, openEarn } from './harness.js'
import { openReceiver, type Received, type Receiver } from './receiver.js'

export type WebhookWorld = {
  earn: Earn
  receiver: Receiver
  /** A secret key that may manage webhooks. */
  key: string
  /** Makes a webhook at the receiver. */
  create(input?: Record<string, unknown>, key?: string): Promise<{ id: string; secret: string }>
  /** Tells facts; each is a name, or has more members. */
  tell(...facts: (string | (Partial<Fact> & { id: string }))[]): Promise<void>
  /** Begins to deliver; a second time in another process. */
  start(): { stop(): Promise<void> }
  close(): Promise<void>
}

const subject = { kind: 'wallet', id: '0x00000000000000000000000000000000000000A1' } as const

/** A service that delivers to a real receiver on loopback. Its clock stands still until it is set. */
export async function openWebhookWorld(config: Partial<Config> = {}): Promise<WebhookWorld> {
  const receiver = await openReceiver()
  const secretsKey = 'a key of the operator for tests only'
  const earn = await openEarn({ config: { secretsKey, webhooksAllowed: [receiver.place], ...config } })
  const key = await earn.key({ kind: 'secret', permissions: ['organization:webhooks'] })
  const running: { stop(): Promise<void> }[] = []
  return {
    earn,
    receiver,
    key,
    create: async (input = {}, by = key) => {
      const answer = await earn.call('CreateWebhook', { body: { url: `${receiver.url}/hook`, ...input }, key: by })
      if (answer.status !== 200) throw new Error(answer.text)
      return answer.body
    },
    tell: async (...facts) => {
      const told = facts.map((given): Fact => {
        const { id, ...more } = typeof given === 'string' ? { id: given } : given
        const own = { type: 'interaction.confirmed', at: earn.clock.now(), chainId: 31337, subject, data: { id } }
        return { ...own, ...more }
      })
      await inTransaction(earn.db, (tx) => tell(tx, told))
    },
    start: () => {
      const { sealing, config: own } = earn.ctx
      if (!sealing) throw new Error('there is no key for secrets')
      const one = startDeliveries(earn.ctx, { tell, sealing, allowed: own.webhooksAllowed })
      running.push(one)
      return one
    },
    close: async () => {
      await Promise.all(running.map(({ stop }) => stop()))
      await earn.close()
      await receiver.close()
    },
  }
}

/** The names of the facts that were received, in order. */
export const namesOf = (received: readonly Received[]): string[] => received.map(({ body }) => body.data.id)

/** Throws where a request is not signed with the secret, by the published library. */
export function verify({ text, headers }: Received, secret: string): unknown {
  const signed = { 'webhook-id': '', 'webhook-timestamp': '', 'webhook-signature': '' }
  for (const name of Object.keys(signed) as (keyof typeof signed)[]) signed[name] = String(headers[name])
  // The library refuses a time that is not the present one.
  const present = vi.spyOn(Date, 'now').mockReturnValue(Number(signed['webhook-timestamp']) * 1_000)
  try {
    return new Webhook(secret).verify(text, signed)
  } finally {
    present.mockRestore()
  }
}
