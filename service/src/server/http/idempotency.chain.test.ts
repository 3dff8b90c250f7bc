import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWorld, type World } from '../../../test/actionWorld.js'

let world: World
let nodeIsDown = false
beforeAll(async () => {
  world = await openWorld()
}, 60_000)
afterAll(() => (nodeIsDown ? world.earn.close() : world?.close()))

/** A member with tokens and a vault for them; what it gives asks for one deposit under the key. */
async function prepareDeposit(userAddress: Address, key: string) {
  const asset = await world.token({ pegUsd: '1' })
  const { opportunityId } = await world.vault(asset)
  await world.join(userAddress)
  await world.mint(asset, userAddress, 1_000_000n)
  return () =>
    world.earn.call('CreateDepositInteraction', {
      params: { opportunityId },
      body: { userAddress, tokenIn: asset, amount: '5', distributorId: world.distributorId },
      headers: { 'idempotency-key': key },
    })
}

describe('one Idempotency-Key under 50 concurrent deposits', () => {
  it('stores one action; every answer is that one or says to come back, and later all get it', async () => {
    const deposit = await prepareDeposit(account(3).address, 'deposit-once')
    const answers = await Promise.all(Array.from({ length: 50 }, deposit))
    const served = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 409)
    expect(served.length + refused.length).toBe(50)
    expect(served.length).toBeGreaterThan(0)
    for (const { headers } of refused) expect(headers['retry-after']).toBe('1')
    const later = await deposit()
    expect(later.headers['idempotency-replayed']).toBe('true')
    expect(new Set([...served, later].map(({ text }) => text)).size).toBe(1)
    const actions = await world.earn.db<{ id: string }[]>`select id from actions`
    expect(actions.map(({ id }) => id)).toEqual([later.body.actionId])
  })

  it('with the node down: 503 with Retry-After, and the key is free', async () => {
    const deposit = await prepareDeposit(account(4).address, 'node-down')
    await world.anvil.stop()
    nodeIsDown = true
    const down = await deposit()
    expect([down.status, down.body.status]).toEqual([503, 'UNAVAILABLE'])
    expect(down.body.context.retryable).toBe(true)
    expect(Number(down.headers['retry-after'])).toBeGreaterThan(0)
    const again = await deposit()
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([503, undefined])
  })
})
