import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode, openWorld, type World } from '../../../test/actionWorld.js'
import type { Answer, CallInput } from '../../../test/harness.js'
import { newId } from '../../kernel/ids.js'

const user = account(1)
const usd = 1_000_000n
let world: World
let token: Address

/** An operation, the opportunity it is asked of, and what it is asked. */
type Action = { operationId: string; opportunityId: string; body: Record<string, unknown> }
const actions = new Map<string, Action>()
const names = [
  'CreateDepositInteraction',
  'CreateWithdrawInteraction',
  'CreateClaimDepositInteraction',
  'CreateCancelDepositInteraction',
] as const

beforeAll(async () => {
  world = await openWorld()
  const { distributorId } = world
  await world.join(user.address)
  token = await world.token({ pegUsd: '1' })
  await world.mint(token, user.address, 1_000_000n * usd)
  const userAddress = user.address
  const add = (operationId: string, opportunityId: string, body: Record<string, unknown> = {}) =>
    actions.set(operationId, { operationId, opportunityId, body: { userAddress, distributorId, ...body } })

  const vault = await world.vault(token)
  add('CreateDepositInteraction', vault.opportunityId, { tokenIn: token, amount: String(100n * usd) })
  add('CreateWithdrawInteraction', vault.opportunityId, { amount: String(10n ** 18n) })
  await world.send(await ask(action('CreateDepositInteraction')), user)
  // One deposit that is settled, to claim, and one that waits, to cancel.
  for (const [operationId, settled] of [
    ['CreateClaimDepositInteraction', true],
    ['CreateCancelDepositInteraction', false],
  ] as const) {
    const slow = await world.asyncVault(token)
    const deposit = { ...action('CreateDepositInteraction'), opportunityId: slow.opportunityId }
    await world.send(await ask(deposit), user)
    if (settled) await world.settle(slow.address, user.address)
    add(operationId, slow.opportunityId)
  }
})
afterAll(() => world.close())

const action = (name: string): Action => {
  const found = actions.get(name)
  if (!found) throw new Error(`no action ${name}`)
  return found
}
const ask = (
  { operationId, opportunityId, body }: Action,
  changes: Record<string, unknown> = {},
  options: Pick<CallInput, 'key' | 'headers'> = {},
): Promise<Answer> =>
  world.earn.call(operationId, { params: { opportunityId }, body: { ...body, ...changes }, ...options })

const countActions = async (): Promise<number> => {
  const [row] = await world.earn.db<{ count: number }[]>`select count(*)::int as count from actions`
  return row?.count ?? 0
}

describe.each(names)('%s with an Idempotency-Key', (name) => {
  it('answers the same plan again, and records one action', async () => {
    const before = await countActions()
    const headers = { 'idempotency-key': newId() }
    const first = await ask(action(name), {}, { headers })
    expect(first.status).toBe(200)
    const again = await ask(action(name), {}, { headers })
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(await countActions()).toBe(before + 1)
    const other = await ask(action(name), { simulate: false }, { headers })
    expect(other.body).toMatchObject({ code: 409, status: 'CONFLICT', context: { retryable: false } })
    expect(await countActions()).toBe(before + 1)
  })

  it('gives the plan of one distributor to no key of another, and to any key that may ask for it', async () => {
    const headers = { 'idempotency-key': newId() }
    const { distributorId } = world
    const first = await ask(action(name), { distributorId }, { headers })
    expect(first.status).toBe(200)
    const sibling = await world.earn.distributor()
    await world.refresh()
    const bound = await world.earn.key({ kind: 'publishable', distributorId: sibling })
    const refused = await ask(action(name), { distributorId }, { headers, key: bound })
    expect([refused.status, refused.headers['idempotency-replayed']]).toEqual([403, undefined])
    const own = await world.earn.key({ kind: 'publishable', distributorId })
    expect((await ask(action(name), { distributorId }, { headers, key: own })).body).toEqual(first.body)
  })

  it('builds one plan for 20 calls at once: the others wait their turn and get the same', async () => {
    const before = await countActions()
    const headers = { 'idempotency-key': newId() }
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(action(name), {}, { headers })))
    const done = answers.filter(({ status }) => status === 200)
    const waiting = answers.filter(({ status }) => status === 409)
    expect(done.length).toBeGreaterThanOrEqual(1)
    expect(done.length + waiting.length).toBe(20)
    for (const { body, headers } of waiting) {
      expect(body).toMatchObject({ status: 'CONFLICT', context: { retryable: true } })
      expect(headers['retry-after']).toBe('1')
    }
    const later = await Promise.all(waiting.map(() => ask(action(name), {}, { headers })))
    for (const { body } of [...done, ...later]) expect(body).toEqual(done[0]?.body)
    expect(await countActions()).toBe(before + 1)
  })

  it('lets the same key be used again after a failure that is not the caller’s', async () => {
    const headers = { 'idempotency-key': newId() }
    const failed = await world.withNode(goneNode, () => ask(action(name), {}, { headers }))
    expect(failed.status).toBe(503)
    expect((await ask(action(name), {}, { headers })).status).toBe(200)
  })
})

describe.each(names)('%s says on every failure whether to try again', (name) => {
  const anyone = (changes: Partial<Action>): Action => ({ ...action(name), ...changes })

  it.each<[string, number, boolean, () => Promise<Answer>]>([
    ['no key', 401, false, () => ask(action(name), {}, { key: null })],
    ['a key with a typo', 401, false, () => ask(action(name), {}, { key: 'pk_live_nonsense' })],
    ['an unknown opportunity', 404, false, () => ask(anyone({ opportunityId: newId() }))],
    ['an unknown distributor', 404, false, () => ask(action(name), { distributorId: 'nobody' })],
    ['a wallet that is no member', 404, false, () => ask(action(name), { userAddress: account(5).address })],
    ['a malformed opportunity id', 400, false, () => ask(anyone({ opportunityId: 'nope' }))],
    ['a malformed wallet', 400, false, () => ask(action(name), { userAddress: 'me' })],
    ['no wallet', 400, false, () => ask(action(name), { userAddress: undefined })],
    ['a malformed distributor', 400, false, () => ask(action(name), { distributorId: '' })],
    ['a node that is gone', 503, true, () => world.withNode(goneNode, () => ask(action(name)))],
    ['a text that is no JSON', 400, false, () => post(name, '{')],
    ['a body over 64 KiB', 413, false, () => post(name, JSON.stringify({ more: 'x'.repeat(70_000) }))],
    ['another content type', 415, false, () => post(name, '<a/>', 'application/xml')],
  ])('%s', async (_name, status, retryable, run) => {
    const answer = await run()
    expect(answer.status).toBe(status)
    expect(answer.body.context).toMatchObject({ retryable })
  })

  it('a distributor of another organization', async () => {
    const foreign = await world.earn.distributor(undefined, await world.earn.organization())
    await world.refresh()
    const answer = await ask(action(name), { distributorId: foreign })
    expect(answer.body).toMatchObject({ code: 403, context: { retryable: false } })
  })

  it('a key bound to another distributor', async () => {
    const own = await world.earn.distributor()
    await world.refresh()
    const key = await world.earn.key({ kind: 'publishable', distributorId: own })
    expect((await ask(action(name), {}, { key })).body).toMatchObject({ code: 403, context: { retryable: false } })
  })

  it('a wallet that is a member of another ecosystem only', async () => {
    const { db } = world.earn
    const wallet = account(6).address
    await db`
      insert into memberships (ecosystem, address, user_id)
      select 'ton', ${wallet.toLowerCase()}, user_id from memberships limit 1 on conflict do nothing`
    const answer = await ask(action(name), { userAddress: wallet })
    expect(answer.body).toMatchObject({ code: 404, error: 'membership not found', context: { retryable: false } })
  })

  it('a budget that is used up', async () => {
    const key = await world.earn.key({ kind: 'publishable', hourlyUnits: 10 })
    expect((await ask(action(name), {}, { key })).status).toBe(200)
    const answer = await ask(action(name), {}, { key })
    expect(answer.body).toMatchObject({ code: 429, context: { limit: 'hourly', retryable: true } })
  })

  it('a database that is gone', async () => {
    const { db } = world.earn
    await db`alter table actions rename to actions_away`
    const answer = await ask(action(name))
    await db`alter table actions_away rename to actions`
    expect(answer.status).toBeGreaterThanOrEqual(500)
    expect(typeof answer.body.context.retryable).toBe('boolean')
  })
})

const post = (name: string, body: string, type = 'application/json') =>
  world.earn.request('POST', path(name), { body, headers: { 'content-type': type } })

const path = (name: string) => {
  const verb = {
    Deposit: 'deposit',
    Withdraw: 'withdraw',
    ClaimDeposit: 'claim-deposit',
    CancelDeposit: 'cancel-deposit',
  }
  const key = /^Create(\w+)Interaction$/.exec(name)?.[1] as keyof typeof verb
  return `/v2/actions/${verb[key]}/${action(name).opportunityId}`
}
