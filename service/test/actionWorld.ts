import {
  asyncVaultAbi,
  asyncVaultBytecode,
  cancellableAsyncVaultBytecode,
  depositRouterAbi,
  depositRouterBytecode,
  epochAsyncVaultBytecode,
  noReturnTokenAbi,
  noReturnTokenBytecode,
  standardizedYieldAbi,
  standardizedYieldBytecode,
  testTokenAbi,
  testTokenBytecode,
  wrappedNativeAbi,
  wrappedNativeBytecode,
  yieldVaultAbi,
  yieldVaultBytecode,
} from '@openearn/contracts'
import {
  type Abi,
  type Address,
  concat,
  erc20Abi,
  type Hex,
  keccak256,
  type PrivateKeyAccount,
  pad,
  size,
  toHex,
} from 'viem'
import { type Anvil, account, startAnvil } from '../../contracts/test/anvil.js'
import { devAccount } from '../src/cli/dev/anvil.js'
import { scanInputs } from '../src/features/attribution/index.js'
import { bumpVersion } from '../src/features/catalogue/store.js'
import { recordSigner } from '../src/features/catalogue/storeSigners.js'
import { systemClock } from '../src/kernel/clock.js'
import type { Config } from '../src/kernel/config.js'
import { newId } from '../src/kernel/ids.js'
import { OutboundError } from '../src/kernel/outbound.js'
import { recordPeg } from '../src/prices/index.js'
import type { Chain, ChainSettings } from '../src/rpc/chains.js'
import { createNode } from '../src/rpc/node.js'
import { type Answer, type Earn, openEarn } from './harness.js'
import { createPipeline } from './pipeline.js'
import { createWatcher } from './sink.js'
import { verifyEveryPlan } from './verifyPlans.js'

/** The key the world signs attributions with: anvil's last public test account. */
export const attributionAccount = account(9)

export type World = Awaited<ReturnType<typeof openWorld>>
export type WorldVault = { opportunityId: string; address: Address; asset: Address; decimals: number }

const chainId = 31337

/** The service over a real chain, with a distributor, members who hold tokens, and verbs to act as they would. */
export async function openWorld(
  options: { verifyPlans?: boolean; config?: Partial<Config>; chain?: Partial<ChainSettings> } = {},
) {
  const anvil = await startAnvil({ timestamp: 1_795_000_000 })
  const { key } = keyOf(9)
  const earn = await openEarn({
    now: '2026-11-20T12:00:00Z',
    chains: [{ ...chainSettings(anvil.url), ...options.chain }],
    config: { attributionKey: key, ...options.config },
  })
  await earn.db`
    insert into chains (chain_id, name, slug, watched, reorg_recheck_seconds)
    values (${chainId}, 'Devnet', 'devnet', true, 0)`
  await recordSigner(earn.db, attributionAccount.address, new Date(0))
  const plans = options.verifyPlans === false ? [] : verifyEveryPlan(earn, anvil, [attributionAccount.address])
  const distributorId = await earn.distributor('acme')
  const refresh = async () => {
    await bumpVersion(earn.db)
    await earn.ctx.catalogue.refresh()
  }
  const world = {
    anvil,
    earn,
    chainId,
    distributorId,
    /** Every plan returned so far, each verified. */
    plans,
    refresh,
    owner: account(0),
    /** Makes a wallet a member. */
    join: (wallet: Address) => join(earn, wallet),
    /** Deploys a token; `old` returns nothing and wants its allowance reset. */
    token: (options: { decimals?: number; old?: boolean; pegUsd?: string } = {}) => deployToken(anvil, earn, options),
    /** Deploys the ERC-20 that wraps the native token and makes it the chain's. */
    wrappedNative: async (): Promise<Address> => {
      const address = await anvil.deploy({ abi: wrappedNativeAbi, bytecode: wrappedNativeBytecode, args: [] })
      await listToken(earn, { address, decimals: 18, symbol: 'WETH' })
      await earn.db`update chains set wrapped_native = ${address.toLowerCase()} where chain_id = ${chainId}`
      return address
    },
    /** Deploys the deposit router and makes it the chain's. */
    depositRouter: async (): Promise<Address> => {
      const address = await anvil.deploy({ abi: depositRouterAbi, bytecode: depositRouterBytecode, args: [] })
      await earn.db`update chains set deposit_router = ${address.toLowerCase()} where chain_id = ${chainId}`
      await refresh()
      return address
    },
    /** Deploys an ERC-4626 vault over a token and lists it. */
    vault: async (asset: Address, options: { name?: string; minDepositUsd?: string; old?: boolean } = {}) => {
      const vault = await deployVault(anvil, earn, asset, options)
      await refresh()
      return vault
    },
    /** Deploys an asynchronous vault over a token and lists it under its kind. */
    asyncVault: async (asset: Address, options: AsyncOptions = {}) => {
      const vault = await deployAsyncVault(anvil, earn, asset, options)
      await refresh()
      return vault
    },
    /** Deploys an ERC-5115 vault that takes two tokens and lists it with the first as its asset. */
    severalTokenVault: async (first: Address, second: Address) => {
      const abi = standardizedYieldAbi
      const address = await anvil.deploy({ abi, bytecode: standardizedYieldBytecode, args: [first, second] })
      const decimals = await anvil.client.readContract({ address: first, abi: erc20Abi, functionName: 'decimals' })
      const vault = await listVault(earn, { address, asset: first, decimals, kind: 'erc5115' })
      await earn.db`
        insert into opportunity_tokens (opportunity_id, chain_id, address, position)
        values (${vault.opportunityId}, ${chainId}, ${second.toLowerCase()}, 1)`
      await refresh()
      return vault
    },
    /** Makes a contract revert with these bytes in one of its functions, and be as it was in all others. */
    breakCall: (contract: Address, selector: Hex, returned: Hex) => breakCall(anvil, contract, selector, returned),
    /** The owner of an asynchronous vault settles all that is pending of a wallet under id 0. */
    settle: (vault: Address, controller: Address) =>
      write(anvil, vault, asyncVaultAbi, 'settleDeposit', [controller, 0n]),
    list: async (input: ListInput) => {
      const vault = await listVault(earn, input)
      await refresh()
      return vault
    },
    mint: (token: Address, to: Address, amount: bigint) => write(anvil, token, noReturnTokenAbi, 'mint', [to, amount]),
    write: (to: Address, abi: Abi, functionName: string, args: readonly unknown[], as?: PrivateKeyAccount) =>
      write(anvil, to, abi, functionName, args, as),
    balance: (token: Address, holder: Address) =>
      anvil.client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [holder] }),
    /** Signs and sends the transactions of a plan as a wallet would, each with the gas limit it was given. */
    send: (answer: Answer, as: PrivateKeyAccount) => send(anvil, answer, as),
    /** Watches until there is nothing new, and scans inputs where that is set. */
    sync: async () => {
      await sync(earn)
      await scanInputs(earn.ctx)
    },
    /** Lets both clocks pass an instant: the wall's, and the chain's by a block. */
    passBy: async (at: Date | string) => {
      const after = new Date(at).getTime() + 1_000
      earn.clock.advance(Math.max(0, after - earn.clock.now().getTime()))
      const { timestamp } = await anvil.client.getBlock()
      const next = BigInt(Math.ceil(after / 1_000))
      if (timestamp < next) await anvil.client.setNextBlockTimestamp({ timestamp: next })
      await anvil.client.mine({ blocks: 1 })
    },
    /** Runs while the node answers otherwise: `change` stands between the service and it. */
    withNode: <T>(change: (request: Request) => Request, run: () => Promise<T>) => withNode(earn, change, run),
    close: async () => {
      await earn.close()
      await anvil.stop()
    },
  }
  await refresh()
  return world
}

type Request = Chain['rpc']['request']

async function withNode<T>(earn: Earn, change: (request: Request) => Request, run: () => Promise<T>): Promise<T> {
  const rpcs = [earn.ctx.chains, earn.service.debugChains].flatMap((chains) => chains.get(chainId)?.rpc ?? [])
  const requests = rpcs.map(({ request }) => request)
  for (const rpc of rpcs) rpc.request = change(rpc.request)
  try {
    return await run()
  } finally {
    for (const [i, rpc] of rpcs.entries()) rpc.request = requests[i] ?? rpc.request
  }
}

/** A node that cannot be reached. */
export const goneNode = (): Request => async () => {
  throw new OutboundError('network', 'gone')
}

async function sync(earn: Earn): Promise<void> {
  const chain = earn.ctx.chains.get(chainId)
  if (!chain) throw new Error('the world has a chain')
  const ctx = { db: earn.db, clock: systemClock, log: earn.ctx.log }
  const sink = createPipeline(ctx, { chainId })
  const watcher = createWatcher({ chain, node: createNode(chain.rpc), sink, clock: systemClock, log: earn.ctx.log })
  for (let turn = 0; turn < 500; turn++) if ((await watcher.step()) !== 'progress') return
  throw new Error('the watcher never came to rest')
}

export function chainSettings(url: string): ChainSettings {
  return {
    chainId,
    name: 'Devnet',
    nativeSymbol: 'ETH',
    rpcUrls: [url],
    confirmations: 1,
    finalityDepth: 64,
    pollIntervalMs: 100,
    reorgRecheckSeconds: 0,
    entryPoints: [],
    clock: 'chain',
  }
}

export const keyOf = (index: number): { key: Hex } => ({ key: devAccount(index).privateKey })

export async function join(earn: Earn, wallet: Address): Promise<void> {
  const userId = newId()
  await earn.db`insert into users (id) values (${userId})`
  await earn.db`
    insert into memberships (ecosystem, address, user_id) values ('evm', ${wallet.toLowerCase()}, ${userId})`
}

async function deployToken(
  anvil: Anvil,
  earn: Earn,
  options: { decimals?: number; old?: boolean; pegUsd?: string },
): Promise<Address> {
  const decimals = options.decimals ?? 6
  const abi = options.old ? noReturnTokenAbi : testTokenAbi
  const bytecode = options.old ? noReturnTokenBytecode : testTokenBytecode
  const address = await anvil.deploy({ abi, bytecode, args: ['Test Dollar', 'TUSD', decimals] })
  await listToken(earn, { address, decimals, symbol: 'TUSD', approvalReset: options.old === true })
  if (options.pegUsd !== undefined)
    await recordPeg(earn.ctx, { chainId, address: address.toLowerCase() }, options.pegUsd)
  return address
}

export async function listToken(
  earn: Earn,
  token: { address: Address; decimals: number; symbol: string; approvalReset?: boolean },
): Promise<void> {
  const { address, decimals, symbol, approvalReset } = token
  await earn.db`
    insert into tokens (chain_id, address, decimals, symbol, name, approval_reset)
    values (${chainId}, ${address.toLowerCase()}, ${decimals}, ${symbol}, ${symbol}, ${approvalReset === true})
    on conflict do nothing`
}

async function deployVault(
  anvil: Anvil,
  earn: Earn,
  asset: Address,
  options: { name?: string; minDepositUsd?: string; old?: boolean },
): Promise<WorldVault> {
  const decimals = await anvil.client.readContract({ address: asset, abi: erc20Abi, functionName: 'decimals' })
  const args = [asset, 'Yield', 'yTUSD', 18 - decimals, 50_000_000_000_000_000n, !options.old]
  const address = await anvil.deploy({ abi: yieldVaultAbi, bytecode: yieldVaultBytecode, args })
  if (!options.old) await write(anvil, asset, testTokenAbi, 'setMinter', [address, true])
  return listVault(earn, { address, asset, decimals, kind: 'erc4626', ...options })
}

export type AsyncOptions = {
  kind?: 'erc7540' | 'erc7540-deposit' | 'erc7540-redeem' | 'lagoon'
  /** Deposits cannot be cancelled. */
  final?: boolean
  separateIds?: boolean
  name?: string
}

async function deployAsyncVault(anvil: Anvil, earn: Earn, asset: Address, options: AsyncOptions): Promise<WorldVault> {
  const kind = options.kind ?? 'erc7540'
  const decimals = await anvil.client.readContract({ address: asset, abi: erc20Abi, functionName: 'decimals' })
  const settings = {
    asyncDeposit: kind !== 'erc7540-redeem',
    asyncRedeem: kind !== 'erc7540-deposit',
    separateIds: options.separateIds === true || kind === 'lagoon',
    decimalsOffset: 18 - decimals,
  }
  const bytecode =
    kind === 'lagoon' ? epochAsyncVaultBytecode : options.final ? asyncVaultBytecode : cancellableAsyncVaultBytecode
  const address = await anvil.deploy({ abi: asyncVaultAbi, bytecode, args: [asset, 'Async', 'aTUSD', settings] })
  return listVault(earn, { address, asset, decimals, kind, ...(options.name ? { name: options.name } : {}) })
}

export type ListInput = {
  address: Address
  asset: Address
  /** Of the asset. */
  decimals: number
  kind: string
  name?: string
  minDepositUsd?: string
  receiptToken?: Address
  /** Of the receipt token; 18 where nothing is said. */
  receiptDecimals?: number
  contracts?: Record<string, Address>
}

export async function listVault(earn: Earn, input: ListInput): Promise<WorldVault> {
  const { address, asset, decimals } = input
  const opportunityId = newId()
  const vault = address.toLowerCase()
  const receipt = (input.receiptToken ?? address).toLowerCase()
  const { db } = earn
  const { receiptDecimals = 18 } = input
  await listToken(earn, { address: input.receiptToken ?? address, decimals: receiptDecimals, symbol: 'yTUSD' })
  const contracts = Object.entries(input.contracts ?? {}).map(([name, contract]) => [name, contract.toLowerCase()])
  await db`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, contracts, active_from)
    values (${chainId}, ${vault}, ${input.kind}, ${asset.toLowerCase()}, ${decimals}, ${receipt}, ${receiptDecimals},
      ${db.json(Object.fromEntries(contracts))}, 'epoch')`
  await db`
    insert into opportunities (id, slug, name, type, chain_id, vault_address, min_deposit_amount_usd)
    values (${opportunityId}, ${opportunityId}, ${input.name ?? 'Yield vault'}, 'vault', ${chainId}, ${vault},
      ${input.minDepositUsd ?? '0'})`
  await db`
    insert into opportunity_tokens (opportunity_id, chain_id, address, position)
    values (${opportunityId}, ${chainId}, ${asset.toLowerCase()}, 0)`
  return { opportunityId, address, asset, decimals }
}

async function write(
  anvil: Anvil,
  to: Address,
  abi: Abi,
  functionName: string,
  args: readonly unknown[],
  as: PrivateKeyAccount = account(0),
) {
  return anvil.done(anvil.client.writeContract({ address: to, abi, functionName, args, account: as }))
}

/** The contract's code moves elsewhere and is delegated to; in its place stands what looks at the selector first. */
async function breakCall({ client }: Anvil, contract: Address, selector: Hex, returned: Hex): Promise<void> {
  const code = await client.getCode({ address: contract })
  if (!code) throw new Error('there is no code to break')
  const elsewhere: Address = `0x${keccak256(concat([contract, selector])).slice(26)}`
  const length = pad(toHex(size(returned)), { size: 2 })
  const isBroken = concat(['0x60003560e01c63', selector, '0x14604557'])
  const delegate = concat([
    '0x3660006000376000600036600073',
    elsewhere,
    '0x5af43d600060003e604057',
    '0x3d6000fd5b3d6000f3',
  ])
  const fail = concat(['0x5b61', length, '0x60546000', '0x3961', length, '0x6000fd', returned])
  await client.setCode({ address: elsewhere, bytecode: code })
  await client.setCode({ address: contract, bytecode: concat([isBroken, delegate, fail]) })
}

type Wire = { transaction: { to: Address; data: Hex; value: string; gasLimit: string } }

async function send(anvil: Anvil, answer: Answer, as: PrivateKeyAccount) {
  if (answer.status !== 200) throw new Error(`no plan to send: ${answer.text}`)
  const receipts = []
  for (const { transaction } of answer.body.transactions as Wire[]) {
    const { to, data, value, gasLimit } = transaction
    const hash = anvil.client.sendTransaction({ account: as, to, data, value: BigInt(value), gas: BigInt(gasLimit) })
    receipts.push(await anvil.done(hash))
  }
  return receipts
}
