import { batchAccountAbi, batchAccountBytecode } from '@openearn/contracts'
import type { Provider } from '@openearn/sdk/flows'
import {
  createWalletClient,
  encodeAbiParameters,
  type Hex,
  http,
  type PrivateKeyAccount,
  parseAbiParameters,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { waitForReceipt } from '../../src/cli/dev/receipt.js'
import { openClient } from './client.js'
import type { Dev } from './process.js'

export type WalletOptions = {
  /** A contract that runs batches on the account which delegates to it: the wallet then takes several calls at once. */
  batcher?: Hex | undefined
}

/** A wallet in Node: it signs by its key, and asks the devnet's node for all else. */
export function openWallet(
  dev: Dev,
  at: number,
  { batcher }: WalletOptions = {},
): { provider: Provider; address: Hex; asked: string[] } {
  const { privateKey, address } = dev.accounts[at]!
  const account = privateKeyToAccount(privateKey)
  const node = openClient(dev)
  const asked: string[] = []
  const batches = new Map<string, Hex>()
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
        if (batcher) return { [`0x${dev.chainId.toString(16)}`]: { atomic: { status: 'supported' } } }
        throw Object.assign(new Error('no such method'), { code: -32_601 })
      case 'wallet_sendCalls': {
        const [{ id, calls }] = params
        batches.set(id, await sendBatch(dev, account, calls))
        return { id }
      }
      case 'wallet_getCallsStatus': {
        const hash = batches.get(params[0])
        if (!hash) throw Object.assign(new Error('no such batch'), { code: 5730 })
        const receipt = await node.request('eth_getTransactionReceipt', [hash])
        return receipt ? { status: receipt.status === '0x1' ? 200 : 500, receipts: [receipt] } : { status: 100 }
      }
      default:
        return node.request(method, params)
    }
  }
  return { provider: { request }, address, asked }
}

type BatchedCall = { to: Hex; data: Hex; value: string }

/** ERC-7821: one call after another, all of them or none. */
const atomic = `0x01${'00'.repeat(31)}` as const

/** All calls in one transaction of an account to itself. */
function sendBatch(dev: Dev, account: PrivateKeyAccount, calls: readonly BatchedCall[]): Promise<Hex> {
  const wallet = createWalletClient({ chain: foundry, transport: http(dev.rpcUrl), account })
  const listed = calls.map(({ to, data, value }) => ({ to, data, value: BigInt(value) }))
  const executions = encodeAbiParameters(parseAbiParameters('(address to, uint256 value, bytes data)[]'), [listed])
  const call = { abi: batchAccountAbi, functionName: 'execute', args: [atomic, executions] } as const
  return wallet.writeContract({ ...call, address: account.address, gas: 3_000_000n })
}

/** Lets an account of a devnet delegate to a contract that runs batches (EIP-7702). Returns the contract. */
export async function delegate(dev: Dev, at: number): Promise<Hex> {
  const account = privateKeyToAccount(dev.accounts[at]!.privateKey)
  const wallet = createWalletClient({ chain: foundry, transport: http(dev.rpcUrl), account })
  const deployed = await wallet.deployContract({ abi: batchAccountAbi, bytecode: batchAccountBytecode, args: [] })
  const { chain } = openClient(dev)
  const { contractAddress } = await waitForReceipt(chain, deployed)
  const authorization = await wallet.signAuthorization({ contractAddress: contractAddress!, executor: 'self' })
  const hash = await wallet.sendTransaction({ to: account.address, authorizationList: [authorization] })
  await waitForReceipt(chain, hash)
  return contractAddress!
}
