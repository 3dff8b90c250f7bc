import type { Place } from '../wallet/ask.js'
import { ask, type Provider } from '../wallet/provider.js'
import { addressOf, read } from '../wallet/reads.js'

/** Transactions and accounts, as the wallet's node has them. */

export type Receipt = { hash: string; success: boolean }

/** The receipt of a mined transaction; undefined while it is not mined, or not known. */
export async function readReceipt(provider: Provider, hash: string): Promise<Receipt | undefined> {
  const answer = (await ask(provider, 'eth_getTransactionReceipt', [hash])) as Record<string, unknown> | null
  if (typeof answer !== 'object' || answer === null || !answer['blockNumber']) return undefined
  return { hash: String(answer['transactionHash'] ?? hash), success: Number(answer['status']) === 1 }
}

/** How many transactions of an account are mined. */
export async function readNonce(provider: Provider, account: string, block = 'latest'): Promise<number> {
  const nonce = Number(await ask(provider, 'eth_getTransactionCount', [account, block]))
  if (!Number.isSafeInteger(nonce)) throw new TypeError('the node tells no nonce')
  return nonce
}

/** After this number of looks a transaction is lost that no longer waits. */
export const lostAfterLooks = 10

/** Whether the node knows a transaction that is not mined, and its number is still free. */
export async function isWaiting(
  provider: Provider,
  { hash, wallet, place }: { hash: string; wallet: string; place: Place | undefined },
): Promise<boolean> {
  if ((await ask(provider, 'eth_getTransactionByHash', [hash])) == null) return false
  return place === undefined || (await readNonce(provider, wallet)) <= Number(place.nonce)
}

/** Whether an account allows what the call of an approval would allow. */
export async function isAllowed(
  provider: Provider,
  account: string,
  { to, data }: { to: string; data: string },
): Promise<boolean> {
  const words = (data.slice(10).match(/.{64}/g) ?? []).map((each) => BigInt(`0x${each}`))
  const [spender, amount] = [addressOf(words[0]), words[1]]
  if (!spender || amount === undefined) return false
  const [allowance] = (await read(provider, to, 'allowance(address,address)', account, spender)) ?? []
  return allowance !== undefined && (amount === 0n ? allowance === 0n : allowance >= amount)
}

const hex = (value: bigint | number) => `0x${value.toString(16)}`

/**
 * The place of the next transaction of a plain account, with its fees; undefined for a contract, or an account with delegated
 * code, whose wallet decides by itself how it is sent. The same request again is the same transaction, or takes its place.
 * `earlier`: the place of a request that nobody saw. Its number is taken while it is not mined, with fees that a node takes in
 * exchange for the earlier ones.
 */
export async function takePlace(provider: Provider, account: string, earlier?: Place): Promise<Place | undefined> {
  const [code, mined, pending, price, block] = await Promise.all([
    ask(provider, 'eth_getCode', [account, 'latest']),
    readNonce(provider, account),
    readNonce(provider, account, 'pending'),
    ask(provider, 'eth_gasPrice'),
    ask(provider, 'eth_getBlockByNumber', ['latest', false]),
  ])
  if (typeof code === 'string' && code.length > 2) return undefined
  const kept = earlier && readNumber(earlier.nonce)
  const isOpen = kept !== undefined && kept >= BigInt(mined) && kept <= BigInt(pending)
  const nonce = hex(isOpen ? kept : pending)
  const raised = (name: Exclude<keyof Place, 'nonce'>, fee: bigint) => {
    const before = isOpen ? readNumber(earlier?.[name] ?? earlier?.gasPrice) : undefined
    const least = before === undefined ? 0n : (before * 9n) / 8n + 1n
    return hex(fee > least ? fee : least)
  }
  const base = (block as { baseFeePerGas?: unknown } | null)?.baseFeePerGas
  const now = BigInt(String(price))
  if (base === undefined || base === null) return { nonce, gasPrice: raised('gasPrice', now) }
  const baseFee = BigInt(String(base))
  const tip = now > baseFee ? now - baseFee : 1n
  return {
    nonce,
    maxFeePerGas: raised('maxFeePerGas', 2n * baseFee + tip),
    maxPriorityFeePerGas: raised('maxPriorityFeePerGas', tip),
  }
}

/** A number that storage may have kept otherwise. */
const readNumber = (text: unknown): bigint | undefined =>
  typeof text === 'string' && /^0x[0-9a-f]{1,16}$/i.test(text) ? BigInt(text) : undefined

/** Whether the wallet takes several calls of a chain at once, or none of them. */
export async function canBatch(provider: Provider, account: string, chainId: number): Promise<boolean> {
  try {
    const chain = hex(chainId)
    const answer = await ask(provider, 'wallet_getCapabilities', [account, [chain]])
    const of = (answer as Record<string, { atomic?: { status?: unknown } }> | null)?.[chain]
    return of?.atomic?.status === 'supported' || of?.atomic?.status === 'ready'
  } catch {
    // An older wallet.
    return false
  }
}

export type BatchState =
  | { state: 'pending' }
  | { state: 'mined'; hash: string | undefined; success: boolean; partly: boolean }
  | { state: 'failed' }
  | { state: 'unknown' }

/** The outcome of a batch, by its id; `unknown` where the wallet does not say. */
export async function readBatch(provider: Provider, batchId: string): Promise<BatchState> {
  let answer: { status?: unknown; receipts?: unknown } | null
  try {
    answer = (await ask(provider, 'wallet_getCallsStatus', [batchId])) as typeof answer
  } catch {
    return { state: 'unknown' }
  }
  const code = Number(answer?.status)
  const receipts = Array.isArray(answer?.receipts) ? (answer.receipts as Record<string, unknown>[]) : []
  const hash = receipts.at(-1)?.['transactionHash']
  if (code >= 100 && code < 200) return { state: 'pending' }
  if (code >= 400 && code < 500) return { state: 'failed' }
  if (!(code >= 200 && code < 700)) return { state: 'unknown' }
  return {
    state: 'mined',
    hash: typeof hash === 'string' ? hash : undefined,
    success: code < 300 && receipts.every(({ status }) => status === undefined || Number(status) === 1),
    partly: code >= 600,
  }
}
