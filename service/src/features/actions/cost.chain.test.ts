import { Client } from 'pg'
import type { Address } from 'viem'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openWorld, type World, type WorldVault } from '../../../test/actionWorld.js'

const user = account(1)
const runs = 20
let world: World
let token: Address
let vault: WorldVault

beforeAll(async () => {
  world = await openWorld({ verifyPlans: false })
  await world.join(user.address)
  token = await world.token({ pegUsd: '1' })
  vault = await world.vault(token)
  await world.mint(token, user.address, 10n ** 12n)
})
afterAll(() => world.close())

const deposit = () =>
  world.earn.call('CreateDepositInteraction', {
    params: { opportunityId: vault.opportunityId },
    body: { userAddress: user.address, tokenIn: token, amount: '1000000', distributorId: world.distributorId },
  })

/** Statements of one deposit: 9 for key, budget, membership, signers and the row of the action, and a few of other work. */
const statementsMax = 12

it('builds a deposit in three requests and two round trips, and few statements', async () => {
  const chain = world.earn.ctx.chains.get(world.chainId)!
  const { request } = chain.rpc
  /** Places in the order of what began and what ended. */
  const spans: { from: number; to: number }[] = []
  let place = 0
  chain.rpc.request = async (asked) => {
    const from = ++place
    try {
      return await request(asked)
    } finally {
      spans.push({ from, to: ++place })
    }
  }
  // The first one opens connections, and other services of this process have databases of their own.
  await deposit()
  const [{ name } = { name: '' }] = await world.earn.db<{ name: string }[]>`select current_database() as name`
  const asked = vi.spyOn(Client.prototype, 'query')
  const databaseOf = (client: unknown) => (client as { database?: string }).database
  const countOwn = () => asked.mock.contexts.filter((client) => databaseOf(client) === name).length
  for (let run = 0; run < runs; run++) {
    spans.length = 0
    asked.mockClear()
    const answer = await deposit()
    expect(answer.status).toBe(200)
    expect(spans).toHaveLength(3)
    expect(countOwn()).toBeGreaterThan(0)
    expect(countOwn()).toBeLessThanOrEqual(statementsMax)
    const last = Math.max(...spans.map((span) => span.from))
    // The first two are under way together; the simulation starts when both have answered.
    expect(spans.filter((span) => span.from < last && span.to <= last)).toHaveLength(2)
  }
  asked.mockRestore()
  chain.rpc.request = request
}, 60_000)
