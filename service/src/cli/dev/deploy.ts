import {
  cancellableAsyncVaultAbi,
  cancellableAsyncVaultBytecode,
  depositRouterAbi,
  depositRouterBytecode,
  noReturnTokenAbi,
  noReturnTokenBytecode,
  testTokenAbi,
  testTokenBytecode,
  yieldVaultAbi,
  yieldVaultBytecode,
} from '@openearn/contracts'
import { type Abi, type Address, encodeFunctionData, formatUnits, type Hex, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type DevChain, devAccount } from './anvil.js'
import { type DevExchange, deployExchange } from './exchange.js'
import { waitForReceipt } from './receipt.js'

/** Index of the devnet account that owns the contracts. */
export const deployerIndex = 0
/** Index of the devnet account that signs attributions. */
export const attributionIndex = 1
/** First of the accounts handed to users; the ones before it belong to the service. */
const userFirst = 5
const userCount = 12
/** Not estimated: a vault uses more gas when a second has passed since the estimate. */
const deployGas = 6_000_000n
const callGas = 1_000_000n

export type DevToken = {
  key: string
  address: Address
  symbol: string
  name: string
  decimals: number
  priceUsd: string
  approvalReset: boolean
}

export type DevVault = {
  slug: string
  name: string
  description: string
  kind: 'erc4626' | 'erc7540' | 'other'
  /** Nobody ever deposits: it has no reading of its share price. */
  isEmpty: boolean
  address: Address
  token: string
  shareSymbol: string
  shareDecimals: number
  startBlock: number
  aprPercent: number
}

/** `exchange`: absent where its packages are not installed. */
export type Deployment = {
  genesisHash: Hex
  tokens: DevToken[]
  vaults: DevVault[]
  exchange?: DevExchange
  depositRouter?: Address
}

const tokenPlans = [
  { key: 'usdc', symbol: 'USDC', name: 'Devnet USD Coin', decimals: 6, priceUsd: '1', approvalReset: false },
  { key: 'dai', symbol: 'DAI', name: 'Devnet Dai', decimals: 18, priceUsd: '1', approvalReset: false },
  { key: 'wbtc', symbol: 'WBTC', name: 'Devnet Wrapped Bitcoin', decimals: 8, priceUsd: '65000', approvalReset: false },
  { key: 'usdt', symbol: 'USDT', name: 'Devnet Tether USD', decimals: 6, priceUsd: '1', approvalReset: true },
] as const

type VaultPlan = {
  slug: string
  name: string
  token: string
  offset: number
  rate: string
  shareSymbol: string
  kind?: 'erc7540' | 'other'
  isEmpty?: true
}

const vaultPlans: readonly VaultPlan[] = [
  { slug: 'steady-usdc', name: 'Steady USDC', token: 'usdc', offset: 0, rate: '0.05', shareSymbol: 'oeUSDC' },
  { slug: 'growth-usdc', name: 'Growth USDC', token: 'usdc', offset: 12, rate: '0.085', shareSymbol: 'ogUSDC' },
  { slug: 'dai-savings', name: 'Dai Savings', token: 'dai', offset: 0, rate: '0.04', shareSymbol: 'oeDAI' },
  { slug: 'bitcoin-yield', name: 'Bitcoin Yield', token: 'wbtc', offset: 0, rate: '0.015', shareSymbol: 'oeWBTC' },
  { slug: 'tether-reserve', name: 'Tether Reserve', token: 'usdt', offset: 12, rate: '0.06', shareSymbol: 'oeUSDT' },
  { slug: 'prime-dai', name: 'Prime Dai', token: 'dai', offset: 0, rate: '0.07', shareSymbol: 'opDAI' },
  { slug: 'deep-bitcoin', name: 'Deep Bitcoin', token: 'wbtc', offset: 10, rate: '0.02', shareSymbol: 'odWBTC' },
  {
    slug: 'patient-usdc',
    name: 'Patient USDC',
    token: 'usdc',
    offset: 0,
    rate: '0',
    shareSymbol: 'owUSDC',
    kind: 'erc7540',
  },
]

/** Accounts for users of the devnet. */
export function userAccounts() {
  return Array.from({ length: userCount }, (_, index) => devAccount(userFirst + index))
}

/** Deploys tokens, vaults and exchanges, funds the users with every token, and lets the owner make first deposits. */
export async function deployDevnet(chain: DevChain): Promise<Deployment> {
  const owner = privateKeyToAccount(devAccount(deployerIndex).privateKey)
  const { client, wallet } = chain
  const mined = (hash: Hex) => waitForReceipt(client, hash)
  const deploy = async (abi: Abi, bytecode: Hex, args: unknown[]): Promise<{ address: Address; block: number }> => {
    const receipt = await mined(
      await wallet.deployContract({ account: owner, abi, bytecode, args, gas: deployGas } as never),
    )
    if (!receipt.contractAddress) throw new Error('a deployment gave no contract')
    return { address: receipt.contractAddress, block: Number(receipt.blockNumber) }
  }
  const write = async (address: Address, abi: Abi, functionName: string, args: unknown[]) =>
    mined(await wallet.writeContract({ account: owner, address, abi, functionName, args, gas: callGas } as never))

  const tokens: DevToken[] = []
  for (const plan of tokenPlans) {
    const args = [plan.name, plan.symbol, plan.decimals]
    const { address } = plan.approvalReset
      ? await deploy(noReturnTokenAbi as Abi, noReturnTokenBytecode, args)
      : await deploy(testTokenAbi as Abi, testTokenBytecode, args)
    const worth = plan.priceUsd === '1' ? '1000000' : '20'
    for (const holder of [owner.address, ...userAccounts().map((user) => user.address)])
      await write(address, testTokenAbi as Abi, 'mint', [holder, parseUnits(worth, plan.decimals)])
    tokens.push({ ...plan, address })
  }

  const vaults: DevVault[] = []
  for (const plan of vaultPlans) {
    const token = tokens.find(({ key }) => key === plan.token)
    if (!token) throw new Error(`no devnet token ${plan.token}`)
    const first = parseUnits(token.priceUsd === '1' ? '100000' : '2', token.decimals)
    if (plan.kind === 'erc7540') {
      const settings = { asyncDeposit: true, asyncRedeem: true, separateIds: false, decimalsOffset: plan.offset }
      const args = [token.address, plan.name, plan.shareSymbol, settings]
      const abi = cancellableAsyncVaultAbi as Abi
      const { address, block } = await deploy(abi, cancellableAsyncVaultBytecode, args)
      await write(token.address, testTokenAbi as Abi, 'approve', [address, first])
      await write(address, abi, 'requestDeposit', [first, owner.address, owner.address])
      await write(address, abi, 'settleDeposit', [owner.address, 0n])
      await write(address, abi, 'deposit', [first, owner.address, owner.address])
      vaults.push(describe(plan, token, address, block))
      continue
    }
    const mintsYield = !token.approvalReset
    const args = [token.address, plan.name, plan.shareSymbol, plan.offset, parseUnits(plan.rate, 18), mintsYield]
    const { address, block } = await deploy(yieldVaultAbi as Abi, yieldVaultBytecode, args)
    if (mintsYield) await write(token.address, testTokenAbi as Abi, 'setMinter', [address, true])
    if (plan.isEmpty) {
      vaults.push(describe(plan, token, address, block))
      continue
    }
    const reserve = mintsYield ? 0n : first
    await write(token.address, testTokenAbi as Abi, 'approve', [address, first + reserve])
    if (reserve > 0n) await write(address, yieldVaultAbi as Abi, 'fundReserve', [reserve])
    await write(address, yieldVaultAbi as Abi, 'deposit', [first, owner.address])
    vaults.push(describe(plan, token, address, block))
  }
  const exchange = await deployExchange(chain, owner.address, tokens, ({ address }, amount) => {
    const args = [owner.address, amount] as const
    return { to: address, data: encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args }) }
  })
  const genesis = await client.getBlock({ blockNumber: 0n })
  const { address: depositRouter } = await deploy(depositRouterAbi as Abi, depositRouterBytecode, [])
  return { genesisHash: genesis.hash, tokens, vaults, depositRouter, ...(exchange ? { exchange } : {}) }
}

function describe(plan: VaultPlan, token: DevToken, address: Address, startBlock: number): DevVault {
  const percent = formatPercent(plan.rate)
  const description = plan.isEmpty
    ? `Holds nothing yet: the price of its shares is no reading, so its yield is withheld.`
    : plan.kind === 'erc7540'
      ? `Takes deposits and redemptions of ${token.symbol} as requests, settled half a minute later.`
      : plan.kind === 'other'
        ? `Listed and watched only: nothing is built for it, and the price of its shares is not indexed.`
        : `Earns ${percent} % a year on ${token.symbol}, block by block.`
  return {
    slug: plan.slug,
    name: plan.name,
    description,
    kind: plan.kind ?? 'erc4626',
    isEmpty: plan.isEmpty === true,
    address,
    token: plan.token,
    shareSymbol: plan.shareSymbol,
    shareDecimals: token.decimals + plan.offset,
    startBlock,
    aprPercent: Number(percent),
  }
}

/** A rate like 0.085 in percent: 8.5. */
function formatPercent(rate: string): string {
  return formatUnits(parseUnits(rate, 18), 16)
}
