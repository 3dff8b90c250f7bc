import { signDigest } from '@openearn/attribution'
import { type Address, pad } from 'viem'
import { createOrderLook, type SolverLimits, usualLimits } from '../../src/features/solver/index.js'
import type { readOrders } from '../../src/features/solver/readOrders.js'
import { bytes16ToUuid } from '../../src/kernel/ids.js'
import { OutboundError } from '../../src/kernel/outbound.js'
import { recordPeg } from '../../src/prices/index.js'
import type { Chain } from '../../src/rpc/chains.js'
import { RpcError, type RpcRequest } from '../../src/rpc/rpc.js'
import { createKeySigner } from '../../src/rpc/signer.js'
import { chainSettings, listToken } from '../actionWorld.js'
import { openEarn } from '../harness.js'
import { readPublishedRuntime } from '../published.js'
import type { Random } from './random.js'

/** A chain as the solver sees it, played: what estimates say, what is mined and how, and what it costs whom. */

export const gasPrice = 18_000_000_000n
const secondsPerBlock = 12
const costMax = 20_000_000_000_000_000n
const usd = 10n ** 18n

const proxyCode = readPublishedRuntime(
  '@safe-global/safe-contracts/build/artifacts/contracts/proxies/SafeProxy.sol/SafeProxy.json',
)
/** Of the published version 1.4.1. */
const knownWallet = {
  singleton: '0x41675c099f32341bf84bfc5382af534df5c7461a',
  handler: '0xfd0732dc9e303f09fcef3a7388ad10a83459ec99',
} as const

/** How an order behaves. `passes`: it is simulated well; `reverts` then uses up its gas when it is mined. */
export type Behaviour = {
  kind: string
  estimate: bigint | 'reverts' | 'hangs'
  mined: 'filled' | { revertGas: bigint }
  /** Gas its owner pays each time it makes a settlement revert, or refills what was taken; shared: once a block for all. */
  turnGas: bigint
  isShared: boolean
  scheme: 'eip712' | 'eip1271'
  /** The code of a contract wallet: a published one, or one that nobody vouches for. */
  wallet: 'known' | 'unknown'
  pool: string
  isListed: boolean
  isSpeck: boolean
  worthUsd: number
}

export type Played = Behaviour & {
  id: string
  isHonest: boolean
  owner: string
  signature: string
  submittedAt: number
}

export type Model = Awaited<ReturnType<typeof openModel>>

export async function openModel(random: Random, limits: Partial<SolverLimits>) {
  const earn = await openEarn({ now: '2026-11-20T12:00:00Z' })
  const { db } = earn
  const settings = chainSettings('http://127.0.0.1:1')
  const { chainId } = settings
  const bytes = (count: number) =>
    `0x${Array.from({ length: count }, () => random.int(0, 255).toString(16).padStart(2, '0')).join('')}` as const
  const [settlement, relayer, weth] = [bytes(20), bytes(20), bytes(20)]
  await db`
    insert into chains (chain_id, name, slug, watched, reorg_recheck_seconds, wrapped_native, swap)
    values (${chainId}, 'Model', 'model', true, 0, ${weth},
      ${JSON.stringify({ orders: { settlement, relayer, authenticator: bytes(20) } })}::text::jsonb)`
  const list = async (address: Address, priceUsd: string): Promise<string> => {
    await listToken(earn, { address, decimals: 18, symbol: 'T' })
    await recordPeg(earn.ctx, { chainId, address }, priceUsd)
    return address
  }
  await list(weth, '2000')
  const listed = [await list(bytes(20), '1'), await list(bytes(20), '1')] as const
  const unlisted = [bytes(20), bytes(20)] as const
  await earn.ctx.catalogue.refresh()
  const organizations: { id: string; distributorId: string }[] = []
  const addOrganization = async () => {
    const id = await earn.organization()
    organizations.push({ id, distributorId: await earn.distributor(undefined, id) })
  }

  const orders = new Map<string, Played>()
  const bySignature = new Map<string, Played>()
  /** Contract wallets by their address. */
  const wallets = new Map<string, Behaviour['wallet']>()
  let number = 1
  let timestamp = Math.floor(earn.clock.now().getTime() / 1_000)
  const hashOf = (at: number) => `0x${at.toString(16).padStart(64, '0')}`
  const find = (data: string) => [...bySignature].find(([signature]) => data.includes(signature.slice(2)))?.[1]
  const request = async ({ method, params }: RpcRequest): Promise<unknown> => {
    if (method === 'eth_getBlockByNumber')
      return {
        ...{ number: `0x${number.toString(16)}`, hash: hashOf(number), parentHash: hashOf(number - 1) },
        timestamp: `0x${timestamp.toString(16)}`,
      }
    if (method === 'eth_gasPrice') return `0x${gasPrice.toString(16)}`
    if (method === 'eth_getCode') {
      const [address] = params as [string]
      return wallets.has(address) ? (wallets.get(address) === 'known' ? proxyCode : '0x00') : '0x'
    }
    if (method === 'eth_getStorageAt') {
      const [address, slot] = params as [string, string]
      if (wallets.get(address) !== 'known') return pad('0x')
      return pad(BigInt(slot) === 0n ? knownWallet.singleton : knownWallet.handler)
    }
    if (method === 'eth_getBalance') return '0xffffffffffffffffffffff'
    if (method !== 'eth_estimateGas') throw new Error(`the model does not answer ${method}`)
    const [call] = params as [{ data: string; gas: string }]
    const estimate = find(call.data)?.estimate ?? 'reverts'
    if (estimate === 'hangs') throw new OutboundError('timeout', 'the node did not answer in time')
    if (estimate === 'reverts' || estimate > BigInt(call.gas)) throw new RpcError(3, 'execution reverted', '0x')
    return `0x${estimate.toString(16)}`
  }
  const batch = (requests: readonly RpcRequest[]) => Promise.all(requests.map(request))
  const rpc = { request, batch, as: () => rpc } as unknown as Chain['rpc']
  const chain: Chain = { ...settings, rpc, headUrls: [] }
  const solver = createKeySigner(`0x${'11'.repeat(32)}`, signDigest)
  const read: typeof readOrders = async (_given, live, isTried) => ({
    ...{ lacking: [], fit: [], others: [] },
    offers: live.filter(isTried).map((each) => {
      const { pool, isSpeck } = orders.get(each.order.id) as Played
      const [from, to] = pool.split(' ').map((address) => ({ address }))
      const amount = isSpeck ? 1n : each.remaining
      const quote = { route: [{ from, to }], build: () => ({ to: settlement, data: '0x', value: 0n }) }
      return { live: each, amountIn: amount, amountOut: amount, quote: quote as never }
    }),
  })
  const look = createOrderLook({ solver, costMax, limits: { ...usualLimits, ...limits } }, read)
  const ctx = { ...earn.ctx, chains: new Map([[chainId, chain]]) }

  /** Solver's gas in wei for orders of strangers and for honest ones; the strangers' own gas. */
  const paid = { onStrangers: 0n, onRisky: 0n, onHonest: 0n, byStrangers: 0n, reverts: 0 }
  const filledAt = new Map<string, number>()

  /** What is queued is sent, as far as its own cap and the day let it, and mined in one block. */
  const mine = async () => {
    number += 1
    timestamp += secondsPerBlock
    earn.clock.set(new Date(timestamp * 1_000))
    const queued = await db<{ id: string; orderId: string; costMax: string; amountIn: string; isRisky: boolean }[]>`
      select s.is_risky as "isRisky", o.id, s.order_id as "orderId", s.cost_max as "costMax", s.amount_in as "amountIn"
      from outgoing_transactions o join order_settlements s on s.id = o.id
      where o.state = 'queued' order by o.created_at, o.id`
    let isSharedPaid = false
    for (const [index, each] of queued.slice(0, 8).entries()) {
      const order = orders.get(each.orderId) as Played
      const estimate = order.estimate as bigint
      if (((estimate * 5n) / 4n) * gasPrice > BigInt(each.costMax)) continue
      const isFilled = order.mined === 'filled'
      const gas = order.mined === 'filled' ? estimate : order.mined.revertGas
      if (!order.isHonest && (order.turnGas > 0n || order.isShared)) {
        if (!order.isShared || !isSharedPaid) paid.byStrangers += order.turnGas * gasPrice
        isSharedPaid ||= order.isShared
      }
      const cost = gas * gasPrice
      if (order.isHonest) paid.onHonest += cost
      else {
        paid.onStrangers += cost
        if (each.isRisky) paid.onRisky += cost
      }
      if (!isFilled) paid.reverts += 1
      await db`
        update outgoing_transactions set state = ${isFilled ? 'confirmed' : 'reverted'}, cost = ${String(cost)},
          nonce = ${number * 100 + index}, gas_limit = ${String(gas)}, reserved = ${String(cost)},
          reserved_at = ${earn.clock.now()}, transaction_hash = ${Buffer.from(bytes(32).slice(2), 'hex')},
          block_number = ${number}
        where id = ${each.id}`
      if (!isFilled) continue
      await db`
        insert into order_events (chain_id, block_number, block_timestamp, log_index, order_id, kind, transaction_hash,
          amount_in, amount_out)
        values (${chainId}, ${number}, to_timestamp(${timestamp}), ${index}, ${order.id}, 'trade',
          ${Buffer.from(bytes(32).slice(2), 'hex')}, ${each.amountIn}, ${each.amountIn})`
      filledAt.set(order.id, number)
    }
  }

  return {
    ...{ earn, paid, filledAt, organizations, addOrganization, listed, unlisted, addressOf: () => bytes(20) },
    number: () => number,
    look: () => look(ctx),
    mine,
    /** Keeps a submitted order of an organization. */
    add: async (
      behaviour: Behaviour,
      of: { isHonest: boolean; organization: number; owner?: string },
    ): Promise<Played> => {
      const id = bytes16ToUuid(bytes(16))
      const order: Played = {
        ...{ ...behaviour, id, isHonest: of.isHonest, submittedAt: number },
        ...{ owner: of.owner ?? bytes(20), signature: `${bytes(64)}1b` },
      }
      if (behaviour.scheme === 'eip1271') wallets.set(order.owner, behaviour.wallet)
      orders.set(id, order)
      bySignature.set(order.signature, order)
      const organization = organizations[of.organization % organizations.length]
      if (!organization) throw new Error('the model has an organization')
      const [tokenIn, tokenOut] = behaviour.isListed ? listed : unlisted
      const amount = String(BigInt(behaviour.worthUsd) * usd)
      const at = earn.clock.now()
      await db`
        insert into swap_orders (id, organization_id, distributor_id, chain_id, settlement, relayer, uid, owner, token_in,
          token_out, amount_in, min_amount_out, partially_fillable, app_data, app_data_hash, expires_at, signature, scheme,
          venue, submitted_at, created_at)
        values (${id}, ${organization.id}, ${organization.distributorId}, ${chainId}, ${settlement}, ${relayer},
          ${Buffer.from(bytes(56).slice(2), 'hex')}, ${order.owner}, ${tokenIn}, ${tokenOut}, ${amount}, 1,
          ${behaviour.isSpeck}, '', ${Buffer.from(bytes(32).slice(2), 'hex')},
          ${new Date(at.getTime() + 86_400_000)}, ${Buffer.from(order.signature.slice(2), 'hex')}, ${behaviour.scheme},
          'local', ${at}, ${at})`
      return order
    },
    close: () => earn.close(),
  }
}
