import type { Provider } from '@openearn/sdk/flows'
import { attribution } from '@openearn/sdk/verify'
import {
  type Abi,
  type Address,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  hexToString,
  http,
  numberToHex,
  parseAbi,
  slice,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { waitForReceipt } from '../../src/cli/dev/receipt.js'
import { readPublished } from '../published.js'
import { deploySafeWorld } from '../safe.js'
import { type Json, openClient } from './client.js'
import type { Dev } from './started.js'

/** Wallets that are no plain accounts: what the page is told at once is no transaction, and somebody else sends that later. */
export type SmartWallet = {
  address: Address
  provider: Provider
  /** Its methods that were asked for, reads apart. */
  asked: string[]
  /** Requests it took and has not sent. */
  waiting(): number
  /** How many it took. */
  taken(): number
  /** Lets what waits be sent and mined; answers the hashes. */
  confirm(): Promise<Hex[]>
}

type Call = { to: Address; data: Hex; value?: string }
/** A request that was taken: the id that the page is told, and what sends it. */
type Taken = { id: Hex; send: () => Promise<Hex> }

const entryPoint: Address = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'
const noMethod = (method: string) => Object.assign(new Error(`no ${method}`), { code: -32_601 })

/** The devnet's chain as these wallets use it: an account that pays for others, and contracts as published. */
export function openPayer(dev: Dev) {
  const client = openClient(dev)
  const payer = privateKeyToAccount(dev.accounts[1]!.privateKey)
  const walletOf = (account: PrivateKeyAccount) =>
    createWalletClient({ chain: foundry, transport: http(dev.rpcUrl), account })
  const done = async (hash: Hex): Promise<Hex> => {
    const { status } = await waitForReceipt(client.chain, hash)
    if (status !== 'success') throw new Error(`the transaction ${hash} reverted`)
    return hash
  }
  const send = async (to: Address, data: Hex): Promise<Hex> =>
    done(await walletOf(payer).sendTransaction({ to, data, gas: 5_000_000n }))
  const deploy = async (input: { abi: Abi; bytecode: Hex; args: readonly unknown[] }): Promise<Address> => {
    const hash = await walletOf(payer).deployContract({ ...input, gas: 15_000_000n } as never)
    return (await waitForReceipt(client.chain, hash)).contractAddress!
  }
  /** Gives an account of a token of the devnet. */
  const fund = (token: Address, to: Address, amount: bigint) =>
    send(token, encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }))
  return { dev, client, payer, walletOf, done, send, deploy, fund }
}
type Payer = ReturnType<typeof openPayer>

type Kind = {
  address: Address
  /** Takes calls, which are one transaction. */
  take: (calls: readonly Call[]) => Promise<Taken>
  sign?: (text: string) => Promise<Hex>
  batches?: boolean
}

function openSmartWallet({ client, dev }: Payer, { address, take, sign, batches = false }: Kind): SmartWallet {
  const waiting: { taken: Taken; batchId: string | undefined }[] = []
  const mined = new Map<string, Hex>()
  const asked: string[] = []
  let count = 0
  const keep = async (calls: readonly Call[], batchId?: string): Promise<Hex> => {
    count++
    const taken = await take(calls)
    waiting.push({ taken, batchId })
    return taken.id
  }
  const readStatus = async (id: string) => {
    if (waiting.some(({ batchId }) => batchId === id)) return { status: 100 }
    const hash = mined.get(id)
    if (!hash) throw Object.assign(new Error('unknown id'), { code: 5730 })
    const { status } = await client.chain.getTransactionReceipt({ hash })
    const success = status === 'success'
    return { status: success ? 200 : 500, receipts: [{ transactionHash: hash, status: success ? '0x1' : '0x0' }] }
  }
  const methods: Record<string, (params: Json) => unknown> = {
    eth_accounts: () => [address],
    eth_requestAccounts: () => [address],
    eth_sendTransaction: ([{ to, data, value }]) => keep([{ to, data, value }]),
    ...(sign ? { personal_sign: ([text]: [Hex]) => sign(hexToString(text)) } : {}),
    ...(batches
      ? {
          wallet_getCapabilities: () => ({ [numberToHex(dev.chainId)]: { atomic: { status: 'supported' } } }),
          wallet_sendCalls: async ([{ id, calls }]: Json) => {
            await keep(calls, id)
            return { id }
          },
          wallet_getCallsStatus: ([id]: [string]) => readStatus(id),
        }
      : {}),
  }
  const request = async ({ method, params }: { method: string; params: Json }): Promise<unknown> => {
    if (!/^eth_(call|get|chainId|gasPrice|accounts|blockNumber)|^wallet_get/.test(method)) asked.push(method)
    const answer = methods[method]
    if (answer) return answer(params)
    if (/^wallet_|^personal_|sign/i.test(method)) throw noMethod(method)
    return client.request(method, params)
  }
  const confirm = async () => {
    const hashes: Hex[] = []
    for (const { taken, batchId } of waiting.splice(0)) {
      const hash = await taken.send()
      hashes.push(hash)
      if (batchId !== undefined) mined.set(batchId, hash)
    }
    return hashes
  }
  return { address, provider: { request }, asked, waiting: () => waiting.length, taken: () => count, confirm }
}

/** A Safe of two owners: the page is told the id that Safe's own programs know, and it is sent once the second one signs. */
export async function openSharedSafe(payer: Payer, owners: readonly PrivateKeyAccount[], saltNonce: bigint) {
  const safe = (await deploySafeWorld(payer.deploy)).planShared(owners, saltNonce)
  await payer.send(safe.creation.to, safe.creation.data)
  let nonce = 0n
  return openSmartWallet(payer, {
    address: safe.address,
    sign: (text) => safe.signText(text),
    take: async ([call]) => {
      const at = nonce++
      const send = async () => {
        const { to, data } = await safe.execute(call!, at)
        return payer.send(to, data)
      }
      return { id: safe.idOf(call!, at), send }
    },
  })
}

/** Makes a plain account delegate to code (EIP-7702), by a transaction of its own that also calls it. */
async function delegate({ client, done, walletOf, payer }: Payer, owner: PrivateKeyAccount, to: Address, data: Hex) {
  const { address } = owner
  await done(await walletOf(payer).sendTransaction({ to: address, value: 10n ** 18n }))
  const nonce = (await client.chain.getTransactionCount({ address })) + 1
  const authorization = await owner.signAuthorization({ address: to, chainId: foundry.id, nonce })
  const call = { to: address, data, gas: 500_000n, authorizationList: [authorization] }
  await done(await walletOf(owner).sendTransaction(call))
}

/**
 * An account of ERC-4337 (EntryPoint 0.7): the page is told the hash of the operation, which a bundler mines. The published
 * account signs no texts as a contract, so that it is the code of its owner's address.
 */
export async function openAccount4337(payer: Payer, owner: PrivateKeyAccount) {
  const { client, deploy, send } = payer
  const { abi, bytecode } = readPublished('entry-point-07/artifacts/EntryPoint.json')
  const account = readPublished('entry-point-07/artifacts/SimpleAccount.json')
  // Where it lies on every chain.
  const code = await client.chain.getCode({ address: await deploy({ abi, bytecode, args: [] }) })
  await client.request('anvil_setCode', [entryPoint, code])
  const { address } = owner
  const initialize = encodeFunctionData({ abi: account.abi, functionName: 'initialize', args: [address] })
  await delegate(payer, owner, await deploy({ ...account, args: [entryPoint] }), initialize)
  const read = (functionName: string, args: readonly unknown[]) =>
    client.chain.readContract({ address: entryPoint, abi, functionName, args })
  return openSmartWallet(payer, {
    address,
    sign: (text) => owner.signMessage({ message: text }),
    take: async ([call]) => {
      const { to, data } = call!
      const operation = {
        sender: address,
        nonce: await read('getNonce', [address, 0n]),
        ...{ initCode: '0x', preVerificationGas: 0n, gasFees: numberToHex(0, { size: 32 }), paymasterAndData: '0x' },
        accountGasLimits: numberToHex((500_000n << 128n) | 2_000_000n, { size: 32 }),
        callData: encodeFunctionData({ abi: account.abi, functionName: 'execute', args: [to, 0n, data] }),
        signature: '0x',
      }
      const id = (await read('getUserOpHash', [operation])) as Hex
      const signed = { ...operation, signature: await owner.signMessage({ message: { raw: id } }) }
      const args = [[signed], payer.payer.address]
      const bundle = encodeFunctionData({ abi, functionName: 'handleOps', args })
      return { id, send: () => send(entryPoint, bundle) }
    },
  })
}

const batchAbi = parseAbi([
  'struct Call { address target; uint256 value; bytes data; }',
  'function executeBatch(Call[] calls)',
])

/** The call without what stands behind it. */
const cut = (data: Hex): Hex => {
  const start = attribution.decode(data).at(-1)?.start
  return start === undefined ? data : slice(data, 0, start)
}

/**
 * A plain account that delegates to a smart one (EIP-7702), whose wallet takes batches (ERC-5792). `strips`: it encodes the
 * calls that it knows anew, and loses what is behind them.
 */
export async function openAccount7702(payer: Payer, owner: PrivateKeyAccount, strips = false) {
  const { deploy, done, walletOf } = payer
  const code = await deploy({ ...readPublished('entry-point-08/artifacts/Simple7702Account.json'), args: [] })
  await delegate(payer, owner, code, '0x')
  const run = async (calls: readonly Call[]): Promise<Hex> => {
    const list = calls.map(({ to, data, value = '0x0' }) => ({
      target: to,
      value: BigInt(value),
      data: strips ? cut(data) : data,
    }))
    const data = encodeFunctionData({ abi: batchAbi, args: [list] })
    return done(await walletOf(owner).sendTransaction({ to: owner.address, data, gas: 3_000_000n }))
  }
  let count = 0
  return openSmartWallet(payer, {
    address: owner.address,
    batches: true,
    sign: (text) => owner.signMessage({ message: text }),
    take: async (calls) => ({ id: numberToHex(++count, { size: 32 }), send: () => run(calls) }),
  })
}
