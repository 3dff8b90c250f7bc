import type { Provider } from '@openearn/sdk/flows'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { openClient } from './client.js'
import type { Dev } from './process.js'

/** A wallet in Node: it signs by its key, and asks the devnet's node for all else. */
export function openWallet(dev: Dev, at: number): { provider: Provider; address: Hex; asked: string[] } {
  const { privateKey, address } = dev.accounts[at]!
  const account = privateKeyToAccount(privateKey)
  const node = openClient(dev)
  const asked: string[] = []
  // biome-ignore lint/suspicious/noExplicitAny: requests of every shape
  const request = async ({ method, params }: { method: string; params: any }): Promise<unknown> => {
    if (!/^eth_(call|get|chainId|gasPrice|accounts|blockNumber)/.test(method)) asked.push(method)
    switch (method) {
      case 'eth_accounts':
      case 'eth_requestAccounts':
        return [address]
      case 'personal_sign':
        return account.signMessage({ message: { raw: params[0] } })
      case 'eth_signTypedData_v4': {
        const { types, ...data } = JSON.parse(params[1])
        return account.signTypedData({ ...data, types })
      }
      case 'eth_sendTransaction': {
        const { from: _, chainId, gas, nonce, ...rest } = params[0]
        const limit = BigInt(gas ?? (await node.request('eth_estimateGas', params)))
        const signed = await account.signTransaction({
          ...{ ...rest, type: 'eip1559', chainId: Number(chainId), gas: limit, nonce: Number(nonce) },
          value: BigInt(rest.value),
          maxFeePerGas: BigInt(rest.maxFeePerGas),
          maxPriorityFeePerGas: BigInt(rest.maxPriorityFeePerGas),
        })
        return node.request('eth_sendRawTransaction', [signed])
      }
      case 'wallet_getCapabilities':
        throw Object.assign(new Error('no such method'), { code: -32_601 })
      default:
        return node.request(method, params)
    }
  }
  return { provider: { request }, address, asked }
}
