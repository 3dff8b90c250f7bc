import {
  type Address,
  concat,
  decodeFunctionData,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  hashTypedData,
  pad,
  parseAbi,
  parseGwei,
  toHex,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openSolverWorld, type SolverWorld } from '../../../test/chain/solverWorld.js'
import type { Answer } from '../../../test/harness.js'
import { deploySafeWorld, type SafeWorld } from '../../../test/safe.js'
import { parseConfig } from '../../kernel/config.js'
import type { Chain } from '../../rpc/chains.js'
import { readSolverLimits } from '../../server/sender.js'
import { createOrderLook, type OrderSettings, usualLimits } from './index.js'

/** Orders of contract wallets: which are filled while a stranger has used up what may be risked, and what a flip costs whom. */

type Safe = ReturnType<SafeWorld['plan']>

const safeAbi = parseAbi([
  'function swapOwner(address prevOwner, address oldOwner, address newOwner)',
  'function setFallbackHandler(address handler)',
])
const amountIn = 10_000_000n
const someone = account(5)

let s: SolverWorld
let safes: SafeWorld
let settings: OrderSettings
let salt = 0n
beforeAll(async () => {
  s = await openSolverWorld()
  safes = await deploySafeWorld(s.world.anvil.deploy)
  const config = parseConfig({ TRUSTED_WALLETS: `${safes.singleton}:${safes.fallbackHandler}` })
  const { wallets } = readSolverLimits(config, [])
  settings = { solver: s.signer, costMax: 10n ** 18n, limits: { ...usualLimits, riskPercent: 0 }, wallets }
  await s.world.mint(s.tokenIn, someone.address, 10n * amountIn)
})
afterAll(() => s?.world.close())

const send = async (call: { to: Address; data: Hex }): Promise<bigint> => {
  const { client, done } = s.world.anvil
  return (await done(client.sendTransaction({ account: someone, ...call }))).gasUsed
}
const mine = async () => {
  await s.world.anvil.client.mine({ blocks: 1 })
  await s.world.sync()
}
const show = async (orderId: string) => (await s.status(orderId)).body
const settlementsOf = (orderId: string) =>
  s.world.earn.db<object[]>`select from order_settlements where order_id = ${orderId}`

/** The funds of a wallet, as somebody has to send them. */
const fund = (wallet: Address) =>
  send({
    to: s.tokenIn,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [wallet, amountIn] }),
  })
const build = async (
  wallet: Address,
): Promise<{ built: Answer; digest: Hex; approvals: { to: Address; data: Hex }[] }> => {
  const built = await s.build({ userAddress: wallet, amountIn: String(amountIn), validForSeconds: 86_400 })
  const approvals: { to: Address; data: Hex }[] = built.body.approvals.map(
    ({ transaction: { to, data } }: { transaction: { to: Address; data: Hex } }) => ({ to, data }),
  )
  return { built, digest: hashTypedData(built.body.typedData), approvals }
}
const submit = async (built: Answer, signature: Hex): Promise<string> => {
  const submitted = await s.submit(built.body.orderId, signature)
  if (submitted.status !== 200) throw new Error(`the order was refused: ${submitted.text}`)
  return built.body.orderId
}

/** A Safe with an order, and the gas of whoever sets it up. */
async function openWallet(): Promise<{ safe: Safe; orderId: string; setUp: bigint }> {
  salt += 1n
  const safe = safes.plan(account(6), salt)
  let setUp = await send(safe.creation)
  setUp += await fund(safe.address)
  const { built, digest, approvals } = await build(safe.address)
  for (const approval of approvals) setUp += await send(await safe.execute(approval, 0n))
  return { safe, orderId: await submit(built, await safe.signBytes(digest)), setUp }
}

/** A look of another process than that of the world, and what it queues sent and mined. */
async function turn(changes: Partial<OrderSettings> = {}, ctx = s.world.earn.ctx) {
  await s.world.sync()
  await createOrderLook({ ...settings, ...changes })(ctx)
  for (let block = 0; block < 2; block++) {
    await s.send()
    await s.world.sync()
  }
}

describe('an order of a contract wallet', { timeout: 60_000 }, () => {
  it('is filled where nothing may be risked, if its code is vouched for, and else is not', async () => {
    const { orderId, safe } = await openWallet()
    await turn({ wallets: [] })
    expect(await show(orderId)).toMatchObject({
      attempts: [{ outcome: 'tooDear', detail: 'what may be risked in a day is used up' }],
    })
    expect(await settlementsOf(orderId)).toHaveLength(0)
    await mine()
    await createOrderLook(settings)(s.world.earn.ctx)
    // Its settlement begins with the check of its code, which nobody but the solver can make, and nobody before it.
    const [row] = await s.world.earn.db<{ data: string }[]>`
      select '0x' || encode(o.data, 'hex') as data from outgoing_transactions o
      join order_settlements x on x.id = o.id where x.order_id = ${orderId}`
    const { args } = decodeFunctionData({ abi: s.settlement.abi, data: row?.data as Hex })
    const [[check]] = (args ?? [])[3] as [{ target: Address; callData: Hex }[]]
    const { target, callData } = check as { target: Address; callData: Hex }
    expect(callData.toLowerCase()).toContain(safe.address.slice(2).toLowerCase())
    const { client } = s.world.anvil
    const call = { to: target, data: callData }
    await expect(client.call({ account: someone.address, ...call })).rejects.toThrow('reverted')
    await client.call({ account: s.signer.address, ...call })
    await turn()
    expect((await show(orderId)).status).toBe('filled')
  })

  it('is a risk where the node does not tell of its code', async () => {
    const { orderId } = await openWallet()
    const { earn, chainId } = s.world
    const chain = earn.ctx.chains.get(chainId) as Chain
    const batch: Chain['rpc']['batch'] = async (requests) => {
      if (requests.some(({ method }) => method === 'eth_getStorageAt')) throw new Error('the node gave no answer')
      return chain.rpc.batch(requests)
    }
    await turn({}, { ...earn.ctx, chains: new Map([[chainId, { ...chain, rpc: { ...chain.rpc, batch } }]]) })
    expect(await settlementsOf(orderId)).toHaveLength(0)
    await turn()
    expect((await show(orderId)).status).toBe('filled')
  })

  it('is a risk where a contract that owns it signs: only what may be risked is paid for it', async () => {
    const { client } = s.world.anvil
    salt += 1n
    const inner = safes.plan(account(6), salt)
    const outer = safes.plan(account(6), salt, inner.address)
    for (const { creation } of [inner, outer]) await send(creation)
    await fund(outer.address)
    const { built, digest, approvals } = await build(outer.address)
    await client.impersonateAccount({ address: outer.address })
    await client.setBalance({ address: outer.address, value: 10n ** 18n })
    for (const approval of approvals)
      await s.world.anvil.done(client.sendTransaction({ account: outer.address, ...approval }))
    const own = await inner.signBytes(outer.encodeMessage(digest))
    const signature = concat([
      ...([pad(inner.address), toHex(65n, { size: 32 }), '0x00'] as const),
      ...[toHex(65n, { size: 32 }), own],
    ])
    const orderId = await submit(built, signature)
    await turn()
    expect(await settlementsOf(orderId)).toHaveLength(0)
    await turn({ limits: usualLimits })
    expect((await show(orderId)).status).toBe('filled')
  })
})

describe('a contract wallet that flips in the block of its settlement', { timeout: 120_000 }, () => {
  /** Has the settlement of a wallet mined behind its flip: the gas of both. */
  async function flip(
    { safe, orderId }: { safe: Safe; orderId: string },
    change: { to: Address; data: Hex } | undefined,
    alter?: () => Promise<unknown>,
  ) {
    const { client, mined } = s.world.anvil
    await s.world.sync()
    await createOrderLook(settings)(s.world.earn.ctx)
    expect(await settlementsOf(orderId)).toHaveLength(1)
    const call = change ? await safe.execute(change, 1n) : { to: someone.address }
    await client.setAutomine(false)
    const fees = { maxFeePerGas: parseGwei('400'), maxPriorityFeePerGas: parseGwei('300') }
    // The settlement waits in the pool when its owner, who pays more, comes before it.
    const { sender } = s.openParts()
    await sender.step()
    const sent = await client.sendTransaction({ account: someone, gas: 200_000n, ...fees, ...call })
    await alter?.()
    await client.mine({ blocks: 1 })
    await client.setAutomine(true)
    const { transactions } = await client.getBlock({ includeTransactions: true })
    const own = transactions.find(({ from }) => from.toLowerCase() === s.signer.address.toLowerCase())
    if (!own) throw new Error('the settlement was not mined')
    const [flipped, settled] = [await mined(sent), await mined(own.hash)]
    expect(flipped.status).toBe('success')
    expect(settled.status).toBe('reverted')
    expect(flipped.blockNumber).toBe(settled.blockNumber)
    for (let block = 0; block < 3; block++) {
      await client.mine({ blocks: 1 })
      await s.world.sync()
      await sender.step()
    }
    // A look closes it: its revert counts from then on.
    await createOrderLook(settings)(s.world.earn.ctx)
    return { turn: flipped.gasUsed, revert: settled.gasUsed, limit: own.gas }
  }
  const encode = (functionName: 'swapOwner' | 'setFallbackHandler', args: readonly Address[]) =>
    encodeFunctionData({ abi: safeAbi, functionName, args } as never)
  const encodeTransfer = () =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [someone.address, amountIn] })

  it('costs its owner more than the solver, whatever he changes, and is a risk for long after it', async () => {
    // All gas that is given to it is gone at once.
    const burner = account(8).address
    await s.world.anvil.client.setCode({ address: burner, bytecode: '0xfe' })
    const first: Address = '0x0000000000000000000000000000000000000001'
    const flips: [string, (safe: Safe) => { to: Address; data: Hex }][] = [
      [
        'owner',
        ({ address }) => ({ to: address, data: encode('swapOwner', [first, account(6).address, account(7).address]) }),
      ],
      ['funds', () => ({ to: s.tokenIn, data: encodeTransfer() })],
      [
        'handler that uses up all gas',
        ({ address }) => ({ to: address, data: encode('setFallbackHandler', [burner]) }),
      ],
    ]
    const costs: Awaited<ReturnType<typeof flip>>[] = []
    let last: Awaited<ReturnType<typeof openWallet>> | undefined
    for (const [name, make] of flips) {
      last = await openWallet()
      const cost = await flip(last, make(last.safe))
      costs.push(cost)
      console.log(
        `a Safe: set-up ${last.setUp} gas, flip of its ${name} ${cost.turn}; settlement ${cost.revert} of ${cost.limit}`,
      )
      expect(last.setUp + cost.turn).toBeGreaterThan(2n * cost.revert)
      expect(cost.revert).toBeLessThan((cost.limit * 2n) / 3n)
    }
    expect(costs).toHaveLength(3)

    // The same for the code it delegates to, by the slot itself.
    const moved = await openWallet()
    const { client } = s.world.anvil
    const slot = { address: moved.safe.address, index: 0, value: pad(burner) }
    const { revert, limit } = await flip(moved, undefined, () => client.setStorageAt(slot))
    console.log(`a Safe with another singleton: settlement ${revert} of ${limit}`)
    expect(revert).toBeLessThan(limit / 3n)

    // Back as it was, a day and an hour later, with a new order.
    const { safe } = last as NonNullable<typeof last>
    await send(
      await safe.execute({ to: safe.address, data: encode('setFallbackHandler', [safes.fallbackHandler]) }, 2n),
    )
    await s.later(90_000)
    const { built, digest } = await build(safe.address)
    const orderId = await submit(built, await safe.signBytes(digest))
    await turn()
    expect(await settlementsOf(orderId)).toHaveLength(0)
    expect(await show(orderId)).toMatchObject({
      attempts: [{ outcome: 'tooDear', detail: 'what may be risked in a day is used up' }],
    })
  })
})
