import { type Abi, type Address, encodeFunctionData, getAddress, type Hex, numberToHex } from 'viem'
import { expect } from 'vitest'
import type { World } from './actionWorld.js'
import type { seeded } from './catalogueWorld.js'

/** Random addresses, whose first bytes count from a number, so that no two are the same. */
export const drawWallets = (random: ReturnType<typeof seeded>, count: number, from: number): Address[] =>
  Array.from({ length: count }, (_, at) => {
    const words = Array.from({ length: 4 }, () => random.integer(2 ** 32))
    return getAddress(`0x${[from + at, ...words].map((word) => word.toString(16).padStart(8, '0')).join('')}`)
  })

export type PlayedCall = { from: Address; to: Address; data?: Hex; value?: Hex }

/** A call of a function, as a wallet without a known key may make it. */
export const callOf = (
  from: Address,
  to: Address,
  abi: unknown,
  functionName: string,
  args: readonly unknown[],
): PlayedCall => ({ from, to, data: encodeFunctionData({ abi: abi as Abi, functionName, args }) })

/** Lets any address send transactions, many in one block. */
export async function letAllSend({ client }: World['anvil']): Promise<void> {
  await client.request({ method: 'anvil_autoImpersonateAccount', params: [true] } as never)
  await client.request({ method: 'evm_setBlockGasLimit', params: [numberToHex(10n ** 10n)] } as never)
}

/** Sends calls of many senders, all mined in one block; each has to succeed. */
export async function playCalls({ client, url }: World['anvil'], calls: readonly PlayedCall[]): Promise<void> {
  const nonces = new Map<Address, number>()
  const body = []
  for (const [id, call] of calls.entries()) {
    const nonce = nonces.get(call.from) ?? (await client.getTransactionCount({ address: call.from }))
    nonces.set(call.from, nonce + 1)
    const sent = { gas: '0x1e8480', ...call, nonce: numberToHex(nonce) }
    body.push({ jsonrpc: '2.0', id, method: 'eth_sendTransaction', params: [sent] })
  }
  await client.setAutomine(false)
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const told = (await answer.json()) as { result: Hex; error?: unknown }[]
  await client.mine({ blocks: 1 })
  await client.setAutomine(true)
  const last = told.map(({ result, error }) => {
    if (error) throw new Error(JSON.stringify(error))
    return result
  })
  const receipts = await Promise.all(last.map((hash) => client.getTransactionReceipt({ hash })))
  expect(receipts.every(({ status }) => status === 'success')).toBe(true)
}
