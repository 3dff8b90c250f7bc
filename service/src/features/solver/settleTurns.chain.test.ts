import { erc20Abi, maxUint256 } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openSolverWorld, type SolverWorld } from '../../../test/chain/solverWorld.js'
import { RpcError } from '../../rpc/rpc.js'
import { createOrderLook, usualLimits } from './index.js'

/** What orders wait for each other, and what they do not. */

const usd = 10n ** 6n

let s: SolverWorld
beforeAll(async () => {
  s = await openSolverWorld()
})
afterAll(() => s?.world.close())

const show = async (orderId: string) => (await s.status(orderId)).body

/** As many orders like another, submitted before it and never to be settled: their signature is nobody's. */
async function refuseBefore(orderId: string, count: number): Promise<void> {
  await s.world.earn.db`
    insert into swap_orders
    select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(),
      'signature', '\\x' || encode(set_byte(o.signature, 40, get_byte(o.signature, 40) # 1), 'hex'),
      'uid', '\\x' || encode(substr(o.uid, 1, 52) || int4send(n), 'hex'),
      'created_at', o.created_at - interval '1 hour', 'submitted_at', o.submitted_at - interval '1 hour'))).*
    from swap_orders o, generate_series(1, ${count}) n where o.id = ${orderId}`
}
const removeRefused = (orderId: string) => s.world.earn.db`
  delete from swap_orders w using swap_orders o where o.id = ${orderId} and w.app_data = o.app_data and w.id <> o.id`

it.each([
  { count: 1, turns: 1 },
  { count: 8, turns: 2 },
  { count: 20, turns: 3 },
])(
  '$count orders whose settlement would revert keep a later one of their pair waiting for no more than $turns blocks',
  {
    timeout: 60_000,
  },
  async ({ count, turns }) => {
    const { orderId } = await s.open()
    await refuseBefore(orderId, count)
    await s.world.write(s.tokenIn, erc20Abi, 'approve', [s.settlement.relayer, maxUint256], s.user)
    for (let turn = 0; turn < turns; turn++) await s.turn()
    expect((await show(orderId)).status).toBe('filled')
    await removeRefused(orderId)
  },
)

it('whose settlements were mined three times and reverted is tried no more, and said so once; the others are', {
  timeout: 60_000,
}, async () => {
  const { client } = s.world.anvil
  const { sender, ctx } = s.openParts()
  const said: unknown[][] = []
  const log = Object.assign(Object.create(ctx.log), { warn: (...words: unknown[]) => said.push(words) })
  const look = s.openParts({ ...ctx, log })
  const { orderId } = await s.open({ validForSeconds: 86_400 })
  await s.world.sync()
  const code = await client.getCode({ address: s.settlement.authenticator })
  const countReverted = async () =>
    (
      await s.world.earn.db<object[]>`
        select from order_settlements s join outgoing_transactions o on o.id = s.id
        where s.order_id = ${orderId} and o.state = 'reverted'`
    ).length
  for (let attempt = 1; attempt <= 5; attempt++) {
    // Longer than it waits after a revert.
    await s.later(3 * 3_600 + 1)
    await look.look(look.ctx)
    await client.setAutomine(false)
    await sender.step()
    // Once it is sent the chain says that nobody may settle.
    await client.setCode({ address: s.settlement.authenticator, bytecode: '0xfe' })
    await client.mine({ blocks: 1 })
    await client.setCode({ address: s.settlement.authenticator, bytecode: code ?? '0x' })
    await client.setAutomine(true)
    await s.world.sync()
    await sender.step()
    // From the look that sees its end on it waits.
    await client.mine({ blocks: 1 })
    await s.world.sync()
    await look.look(look.ctx)
    expect(await countReverted()).toBe(Math.min(attempt, 3))
  }
  expect((await show(orderId)).status).toBe('open')
  expect(said).toEqual([[{ chainId: s.world.chainId, orderId }, expect.stringContaining('settled no more')]])
  // Others are: those of its owner a day later.
  const other = await s.openOf(account(6))
  await s.turn()
  expect((await show(other)).status).toBe('filled')
  const own = await s.open({ amountIn: String(999n * usd), validForSeconds: 86_400 })
  await s.world.write(s.tokenIn, erc20Abi, 'approve', [s.settlement.relayer, maxUint256], s.user)
  await s.turn()
  expect((await show(own.orderId)).status).toBe('open')
  await s.later(86_300)
  await s.turn()
  await s.later(60)
  await s.turn()
  expect((await show(own.orderId)).status).toBe('filled')
})

it('waits while the solver cannot pay for its settlement, and is filled once it can', { timeout: 60_000 }, async () => {
  const { client } = s.world.anvil
  const held = await client.getBalance({ address: s.signer.address })
  const { orderId } = await s.open()
  await client.setBalance({ address: s.signer.address, value: 1n })
  await s.turn()
  expect(await s.world.earn.db`select from order_settlements where order_id = ${orderId}`).toHaveLength(0)
  await client.setBalance({ address: s.signer.address, value: held })
  await s.turn()
  expect((await show(orderId)).status).toBe('filled')
})

it('whose settlement costs more than the solver holds keeps no other waiting', { timeout: 60_000 }, async () => {
  const { earn, chainId } = s.world
  const chain = earn.ctx.chains.get(chainId)
  if (!chain) throw new Error('the world has a chain')
  await s.world.write(s.tokenIn, erc20Abi, 'approve', [s.settlement.relayer, maxUint256], s.user)
  const dear = await s.open()
  const other = await s.open({ amountIn: String(998n * usd) })
  const [{ signature } = { signature: '' }] = await earn.db<{ signature: string }[]>`
    update swap_orders set submitted_at = submitted_at - interval '1 minute', created_at = created_at - interval '1 minute'
    where id = ${dear.orderId} returning encode(signature, 'hex') as signature`
  const request: typeof chain.rpc.request = async (asked) => {
    const [call] = (asked.params ?? []) as [{ data?: string; gasPrice?: string }?]
    if (asked.method !== 'eth_estimateGas' || !call?.data?.includes(signature)) return chain.rpc.request(asked)
    if (call.gasPrice) throw new RpcError(-32000, 'gas required exceeds allowance', undefined)
    return '0xffffffffffff'
  }
  const ctx = { ...earn.ctx, chains: new Map([[chainId, { ...chain, rpc: { ...chain.rpc, request } }]]) }
  await s.world.sync()
  await s.openParts(ctx).look(ctx)
  await s.send()
  await s.world.sync()
  expect((await show(other.orderId)).status).toBe('filled')
  expect((await show(dear.orderId)).status).toBe('open')
  await s.turn()
  await s.turn()
  expect((await show(dear.orderId)).status).toBe('filled')
})

it('waits while a settlement of its pools is queued that the chain does not show yet, and no longer', {
  timeout: 60_000,
}, async () => {
  const { client } = s.world.anvil
  const other = account(7)
  await s.world.mint(s.tokenIn, other.address, 2_000n * usd)
  const settlementsOf = (orderId: string) =>
    s.world.earn.db<object[]>`select from order_settlements where order_id = ${orderId}`
  const lookAgain = async () => {
    await client.mine({ blocks: 1 })
    await s.world.sync()
    // Another process than the one that queued the first.
    await s.openParts().look(s.world.earn.ctx)
  }
  const first = await s.open({ amountIn: String(2_000n * usd), partiallyFillable: true })
  await s.world.sync()
  await s.look()
  expect(await settlementsOf(first.orderId)).toHaveLength(1)
  const built = await s.build({ userAddress: other.address })
  await s.settlement.approve(built, other)
  const { orderId } = built.body
  expect((await s.submit(orderId, await s.sign(built, other))).status).toBe(200)
  await lookAgain()
  expect(await settlementsOf(orderId)).toHaveLength(0)
  // It is mined; that it is over the sender has not said yet.
  await s.send()
  await lookAgain()
  expect((await show(first.orderId)).status).toBe('filled')
  expect(await settlementsOf(orderId)).toHaveLength(1)
  await s.turn()
  expect((await show(orderId)).status).toBe('filled')
})

it('of an owner without a fill waits while the day’s loss is used up, and those of one with a fill are settled', {
  timeout: 60_000,
}, async () => {
  const owner = account(8)
  const limits = { ...usualLimits, lossPercent: 0 }
  const look = createOrderLook({ solver: s.signer, costMax: 10n ** 18n, limits })
  const settlementsOf = (orderId: string) =>
    s.world.earn.db<object[]>`select from order_settlements where order_id = ${orderId}`
  const first = await s.openOf(owner)
  await s.world.sync()
  await look(s.world.earn.ctx)
  expect(await settlementsOf(first)).toHaveLength(0)
  const waits = { outcome: 'tooDear', detail: 'the daily limit of reverted settlements is used up' }
  expect((await show(first)).attempts).toMatchObject([waits])
  await s.turn()
  await s.turn()
  expect((await show(first)).status).toBe('filled')
  const second = await s.openOf(owner)
  await s.world.anvil.client.mine({ blocks: 1 })
  await s.world.sync()
  await look(s.world.earn.ctx)
  expect(await settlementsOf(second)).toHaveLength(1)
})
