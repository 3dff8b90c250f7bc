import type { Hex } from 'viem'
import type { RpcRequest } from '../../rpc/rpc.js'
import { answers } from '../../rpc/wire.js'
import type { Offer } from './book.js'
import { daySeconds } from './guard.js'
import type { Look } from './look.js'
import { listReverted } from './storeBook.js'
import { findForeignPart, judgeWallet, type KnownWallet, type WalletState, walletSlots } from './wallets.js'

/** Wallets read at one block, and in one batch of requests. */
const walletsMax = 200
const perBatch = 50
/** Seconds of the chain's time after which a wallet that is a risk is read again. */
const riskSeconds = 600
/** Seconds during which a wallet is a risk after a settlement of it reverted. */
const revertSeconds = 30 * daySeconds

/**
 * The wallets that cannot burn the solver's gas, by the ids of their orders. They are read at the look's block; one
 * that is not read, as where the node fails, is a risk.
 */
export async function findVouched(given: Look, offers: readonly Offer[]): Promise<ReadonlyMap<string, KnownWallet>> {
  const { ctx, chain, head, turns, settings } = given
  const orders = offers.flatMap(({ live: { order } }) => {
    const signature = order.submission?.scheme === 'eip1271' ? (order.submission.signature as Hex) : undefined
    const isDue = (turns.risky.get(order.id) ?? -riskSeconds) + riskSeconds <= head.timestamp
    return signature !== undefined && isDue && findForeignPart(signature) === undefined ? [{ ...order, signature }] : []
  })
  if (orders.length === 0) return new Map()
  const since = new Date((head.timestamp - revertSeconds) * 1_000)
  const reverted = await listReverted(ctx.db, {
    chainId: chain.chainId,
    since,
    owners: orders.map(({ owner }) => owner),
  })
  const owners = [...new Set(orders.map(({ owner }) => owner))].filter((owner) => !reverted.has(owner))
  const states = await readWallets(given, owners.slice(0, walletsMax))
  const vouched = new Map<string, KnownWallet>()
  for (const { id, owner, signature } of orders) {
    const state = states.get(owner)
    if (!state) continue
    const verdict = judgeWallet(state, signature, settings.trustedWallets)
    if ('known' in verdict) {
      vouched.set(id, verdict.known)
      continue
    }
    turns.risky.set(id, head.timestamp)
    ctx.log.info({ chainId: chain.chainId, orderId: id, why: verdict.risk }, 'an order of a contract wallet is risky')
  }
  return vouched
}

async function readWallets({ ctx, chain, head }: Look, owners: readonly string[]): Promise<Map<string, WalletState>> {
  const at = { blockHash: head.hash }
  const states = new Map<string, WalletState>()
  for (let start = 0; start < owners.length; start += perBatch) {
    const own = owners.slice(start, start + perBatch)
    const requests = own.flatMap((owner): RpcRequest[] => [
      { method: 'eth_getCode', params: [owner, at] },
      { method: 'eth_getStorageAt', params: [owner, walletSlots.singleton, at] },
      { method: 'eth_getStorageAt', params: [owner, walletSlots.handler, at] },
    ])
    try {
      const words = (await chain.rpc.batch(requests)).map((each) => answers.bytes.parse(each))
      for (const [index, owner] of own.entries()) {
        const [code, singleton, handler] = words.slice(3 * index) as [Hex, Hex, Hex]
        states.set(owner, { code, singleton, handler })
      }
    } catch (error) {
      ctx.log.warn({ err: error, chainId: chain.chainId, wallets: own.length }, 'contract wallets could not be read')
    }
  }
  return states
}
