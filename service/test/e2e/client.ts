import { type Account, createPublicClient, createWalletClient, type Hex, http, type PublicClient } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { until } from '../../../contracts/test/until.js'
import { waitForReceipt } from '../../src/cli/dev/receipt.js'
import type { Dev } from './started.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export type Json = any

export type Prepared = {
  type: string
  transaction: { to: Hex; data: Hex; value: string; gasLimit: string; chainId: number }
}

/** A client that knows the service by HTTP and the chain by RPC, and nothing else. */
export function openClient(dev: Pick<Dev, 'baseUrl' | 'rpcUrl' | 'keys'>) {
  const transport = http(dev.rpcUrl)
  const chain = createPublicClient({ chain: foundry, transport, cacheTime: 0, pollingInterval: 20 }) as PublicClient

  const fetchAnswer = async (
    method: string,
    path: string,
    body?: unknown,
    key: string | null = dev.keys.publishable,
  ) => {
    const headers: Record<string, string> = {}
    if (key !== null) headers['X-API-Key'] = key
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${dev.baseUrl}${path}`, init)
    return { status: response.status, headers: response.headers, body: (await response.json()) as Json }
  }
  const call = async (method: string, path: string, body?: unknown, key?: string | null): Promise<Json> => {
    const answer = await fetchAnswer(method, path, body, key)
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  const join = async (privateKey: Hex, distributorId?: string): Promise<void> => {
    const account = privateKeyToAccount(privateKey)
    const { address } = account
    const body = { address, walletEcosystem: 'evm', url: 'https://app.example.com/earn', chainId: '31337' }
    const { message, nonce } = await call('POST', '/v2/membership/agreement', body)
    const signature = await account.signMessage({ message })
    await call('POST', '/v2/membership/', {
      ...{ address, walletEcosystem: 'evm', signature, nonce },
      ...(distributorId ? { distributorId } : {}),
    })
  }

  const send = async (account: Account, { to, data, value, gasLimit }: Prepared['transaction']) => {
    const wallet = createWalletClient({ chain: foundry, transport, account })
    const hash = await wallet.sendTransaction({ to, data, value: BigInt(value), gas: BigInt(gasLimit) })
    return waitForReceipt(chain, hash)
  }
  const sendAll = async (account: Account, transactions: Prepared[]) => {
    const receipts = []
    for (const { transaction } of transactions) receipts.push(await send(account, transaction))
    const last = receipts.at(-1)
    if (!last) throw new Error('a plan without transactions')
    return last
  }

  /** All entries of a distributor, page by page. */
  const listEntries = async (distributorId: string): Promise<Json[]> => {
    const entries: Json[] = []
    for (let page = 1; ; page++) {
      const answer = await call('GET', `/v2/interactions/?distributorId=${distributorId}&limit=100&page=${page}`)
      entries.push(...answer.data)
      if (page >= answer.pagination.totalPages) return entries
    }
  }
  const waitForEntry = (distributorId: string, txHash: Hex): Promise<Json> =>
    until(`the ledger entry of ${txHash}`, async () =>
      (await listEntries(distributorId)).find((entry) => entry.txHash === txHash),
    )
  const request = (method: string, params: unknown[]): Promise<Json> =>
    chain.request({ method: method as never, params: params as never })

  return { chain, fetchAnswer, call, join, send, sendAll, listEntries, waitForEntry, request }
}
