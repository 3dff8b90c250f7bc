import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Abi,
  type Address,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  http,
  parseAbi,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { until } from '../../../contracts/test/until.js'
import { waitForReceipt } from '../../src/cli/dev/receipt.js'
import { type Json, openClient } from '../e2e/client.js'
import { type Dev, runOpenEarn } from '../e2e/process.js'

const require = createRequire(import.meta.url)
/** ABI and bytecode as published on npm. */
const published = (path: string): { abi: Abi; bytecode: Hex } => JSON.parse(readFileSync(require.resolve(path), 'utf8'))

export const entryPoint: Address = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'
export const vaultAbi = parseAbi([
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function mint(uint256 shares, address receiver) returns (uint256)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
  'function previewDeposit(uint256 assets) view returns (uint256)',
])
export const encode = {
  deposit: (amount: bigint, to: Address) =>
    encodeFunctionData({ abi: vaultAbi, functionName: 'deposit', args: [amount, to] }),
  mint: (shares: bigint, to: Address) =>
    encodeFunctionData({ abi: vaultAbi, functionName: 'mint', args: [shares, to] }),
  redeem: (shares: bigint, to: Address, owner: Address) =>
    encodeFunctionData({ abi: vaultAbi, functionName: 'redeem', args: [shares, to, owner] }),
  approve: (spender: Address) =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, 2n ** 255n] }),
  transfer: (to: Address, amount: bigint) =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
  transferFrom: (from: Address, to: Address, amount: bigint) =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [from, to, amount] }),
}

export type Call = { to: Address; data: Hex }

/** Code of a contract that, whatever it is called with, makes these calls; `passOn` hands its own calldata to an address. */
export function scriptCode(calls: readonly Call[] | { passOn: Address }): Hex {
  const hex = (value: number, bytes: number) => value.toString(16).padStart(bytes * 2, '0')
  const push3 = (value: number) => `62${hex(value, 3)}`
  const callTo = (to: Address, length: string, failed: number) =>
    `60006000${length}6000600073${to.slice(2)}5af115${push3(failed)}57`
  const wrap = (code: string) => {
    const size = code.length / 2
    return `0x${push3(size)}${push3(18)}600039${push3(size)}6000f3${code}` as Hex
  }
  const end = '005b60006000fd'
  if ('passOn' in calls) {
    const body = (failed: number) => `36600060003760006000366000600073${calls.passOn.slice(2)}5af115${push3(failed)}57`
    return wrap(`${body(body(0).length / 2 + 1)}${end}`)
  }
  const callSize = 52
  const failed = calls.length * callSize + 1
  const dataStart = failed + 6
  const places = new Map<Hex, number>()
  let data = ''
  for (const call of calls)
    if (!places.has(call.data)) {
      places.set(call.data, dataStart + data.length / 2)
      data += call.data.slice(2)
    }
  const code = calls.map((call) => {
    const size = call.data.length / 2 - 1
    const load = `${push3(size)}${push3(places.get(call.data) ?? 0)}600039`
    return `${load}${callTo(call.to, push3(size), failed)}`
  })
  return wrap(`${code.join('')}${end}${data}`)
}

/** The devnet as attackers and victims see it: by HTTP and RPC. */
export async function openCreditWorld(dev: Dev, dataDir: string) {
  const client = openClient(dev)
  const transport = http(dev.rpcUrl)
  const users = dev.accounts.map(({ privateKey }) => privateKeyToAccount(privateKey))
  const walletOf = (account: PrivateKeyAccount) => createWalletClient({ chain: foundry, transport, account })
  const done = (hash: Hex) => waitForReceipt(client.chain, hash)
  const send = async (account: PrivateKeyAccount, to: Address, data: Hex): Promise<Hex> => {
    const hash = await walletOf(account).sendTransaction({ to, data, gas: 15_000_000n })
    await done(hash)
    return hash
  }
  const deploy = async (bytecode: Hex, abi: Abi = [], args: unknown[] = []): Promise<Address> => {
    const [account] = users
    const hash = await walletOf(account!).deployContract({ abi, bytecode, args, gas: 15_000_000n } as never)
    return getAddress((await done(hash)).contractAddress!)
  }
  const [aurora, borealis] = dev.distributorIds as [string, string]
  const vaults = dev.opportunities.filter(({ kind }) => kind === 'erc4626')
  const entryPointCode = published('entry-point-07/artifacts/EntryPoint.json')
  const simpleAccount = published('entry-point-07/artifacts/SimpleAccount.json')

  /** Builds a plan nobody has asked the wallet's owner about, and answers the calldata of its last step. */
  const planDeposit = async (
    wallet: Address,
    vault: (typeof vaults)[number],
    amount: bigint,
    distributorId: string,
  ): Promise<Hex> => {
    const body = {
      userAddress: wallet,
      tokenIn: vault.asset.address,
      amount: String(amount),
      distributorId,
      simulate: false,
    }
    const plan = await client.call('POST', `/v2/actions/deposit/${vault.id}`, body)
    return plan.transactions.at(-1).transaction.data
  }
  const bundle = (...operations: Json[]): Hex =>
    encodeFunctionData({ abi: entryPointCode.abi, functionName: 'handleOps', args: [operations, users[0]!.address] })

  return {
    dev,
    client,
    users,
    aurora,
    borealis,
    vaults,
    send,
    deploy,
    planDeposit,
    bundle,
    /** Shares that so many assets are worth now. */
    sharesOf: ({ vaultAddress: address }: (typeof vaults)[number], assets: bigint): Promise<bigint> =>
      client.chain.readContract({ address, abi: vaultAbi, functionName: 'previewDeposit', args: [assets] }),
    /** An ERC-8021 suffix of one code, which anybody can write. */
    tag: (code: string) =>
      `${Buffer.from(code).toString('hex')}${code.length.toString(16).padStart(2, '0')}00${'8021'.repeat(8)}`,
    /** Puts the published EntryPoint 0.7 where it lies on every chain. */
    openEntryPoint: async () => {
      const code = await client.chain.getCode({ address: await deploy(entryPointCode.bytecode, entryPointCode.abi) })
      await client.request('anvil_setCode', [entryPoint, code])
    },
    /** Makes a user's account a smart account of its own key (EIP-7702), driven by itself and by the EntryPoint. */
    delegate: async (user: PrivateKeyAccount) => {
      const address = await deploy(simpleAccount.bytecode, simpleAccount.abi, [entryPoint])
      const nonce = await client.chain.getTransactionCount({ address: user.address })
      const authorization = await user.signAuthorization({ address, chainId: dev.chainId, nonce: nonce + 1 })
      const data = encodeFunctionData({ abi: simpleAccount.abi, functionName: 'initialize', args: [user.address] })
      const hash = await walletOf(user).sendTransaction({
        to: user.address,
        data,
        gas: 1_000_000n,
        authorizationList: [authorization],
      })
      await done(hash)
    },
    execute: ({ to, data }: Call): Hex =>
      encodeFunctionData({ abi: simpleAccount.abi, functionName: 'execute', args: [to, 0n, data] }),
    executeBatch: (calls: Call[]): Hex => {
      const args = [calls.map(({ to }) => to), calls.map(() => 0n), calls.map(({ data }) => data)]
      return encodeFunctionData({ abi: simpleAccount.abi, functionName: 'executeBatch', args })
    },
    /** A user operation signed by its account. */
    operation: async (user: PrivateKeyAccount, callData: Hex): Promise<Json> => {
      const read = (functionName: string, args: unknown[]) =>
        client.chain.readContract({ address: entryPoint, abi: entryPointCode.abi, functionName, args })
      const operation = {
        sender: user.address,
        nonce: await read('getNonce', [user.address, 0n]),
        initCode: '0x',
        callData,
        accountGasLimits: `0x${500_000n.toString(16).padStart(32, '0')}${2_000_000n.toString(16).padStart(32, '0')}`,
        preVerificationGas: 0n,
        gasFees: `0x${'00'.repeat(32)}`,
        paymasterAndData: '0x',
        signature: '0x',
      }
      const raw = (await read('getUserOpHash', [operation])) as Hex
      return { ...operation, signature: await user.signMessage({ message: { raw } }) }
    },
    /** The ledger's entries of a transaction, once the watcher has been there. */
    entriesOf: async (hash: Hex): Promise<Json[]> => {
      const { blockNumber } = await client.chain.getTransactionReceipt({ hash })
      await until(`block ${blockNumber} to be read`, async () => {
        const { chains } = await client.call('GET', '/v2/indexing-status/')
        return chains.find((chain: Json) => chain.chainId === dev.chainId).indexedBlock >= Number(blockNumber)
      })
      const lists = await Promise.all([aurora, borealis].map(client.listEntries))
      return lists.flat().filter(({ txHash }) => txHash === hash)
    },
    debug: (hash: Hex): Promise<Json> =>
      client.call('GET', `/v2/attribution/${hash}?chainId=${dev.chainId}`, undefined, null),
    /** USD-days a distributor has collected in a vault since an instant, by the operator's report. */
    usdDays: async (distributorId: string, name: string, from: Date): Promise<number> => {
      const words = [
        'report',
        'distributor',
        distributorId,
        '--from',
        from.toISOString(),
        '--to',
        '2099-01-01T00:00:00Z',
      ]
      const lines = (await runOpenEarn(words, { OPENEARN_DATA_DIR: dataDir })).split('\n')
      return Number(
        lines
          .find((line) => line.startsWith(name))
          ?.slice(name.length)
          .trim()
          .split(/\s+/)[0] ?? '0',
      )
    },
  }
}
