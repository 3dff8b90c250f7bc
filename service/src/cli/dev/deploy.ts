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
import { type DevLending, deployLending, lendingCalls } from './lending.js'
import { type DevOrders, deploySettlement } from './orders.js'
import { waitForReceipt } from './receipt.js'
import { type DevStreams, deployStreams } from './streams.js'

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

/** Why the yield of a vault is not served: the reason of the answer, or its status where it has none. */
export type Withheld = 'INDEXING_NOT_STARTED' | 'INDEXING_STALLED' | 'PROTOCOL_UNSUPPORTED' | 'FAILED_PRECONDITION'

export type DevVault = {
  slug: string
  name: string
  description: string
  kind: 'erc4626' | 'erc7540' | 'other'
  /** Why its yield is withheld; absent: it is served. */
  withheld?: Withheld
  address: Address
  token: string
  shareSymbol: string
  shareDecimals: number
  startBlock: number
  aprPercent: number
}

/** `exchange`, `lending`, `orders`: absent where their packages are not installed; `streams`: absent on a devnet of an earlier version. */
export type Deployment = {
  genesisHash: Hex
  tokens: DevToken[]
  vaults: DevVault[]
  exchange?: DevExchange
  lending?: DevLending
  orders?: DevOrders
  depositRouter?: Address
  streams?: DevStreams
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
  withheld?: Withheld
}

const exhibit = { token: 'usdt', offset: 0, rate: '0.03' } as const
/** Fewer shares than a price is read of. */
const dustShares = 999n

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
  // One for each reason.
  { ...exhibit, slug: 'unmapped-usdt', name: 'Unmapped USDT', shareSymbol: 'xmUSDT', withheld: 'INDEXING_NOT_STARTED' },
  { ...exhibit, slug: 'dust-usdt', name: 'Dust USDT', shareSymbol: 'xdUSDT', withheld: 'INDEXING_STALLED' },
  {
    ...{ ...exhibit, slug: 'listed-usdt', name: 'Listed USDT', shareSymbol: 'xlUSDT', kind: 'other' },
    withheld: 'PROTOCOL_UNSUPPORTED',
  },
  { ...exhibit, slug: 'twofold-usdt', name: 'Twofold USDT', shareSymbol: 'xtUSDT', withheld: 'FAILED_PRECONDITION' },
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
    const isDust = plan.withheld === 'INDEXING_STALLED'
    const assets = isDust ? dustShares : first
    const reserve = mintsYield || isDust ? 0n : first
    await write(token.address, testTokenAbi as Abi, 'approve', [address, assets + reserve])
    if (reserve > 0n) await write(address, yieldVaultAbi as Abi, 'fundReserve', [reserve])
    await write(address, yieldVaultAbi as Abi, 'deposit', [assets, owner.address])
    vaults.push(describe(plan, token, address, block))
  }
  const exchange = await deployExchange(chain, owner.address, tokens, ({ address }, amount) => {
    const args = [owner.address, amount] as const
    return { to: address, data: encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args }) }
  })
  const genesis = await client.getBlock({ blockNumber: 0n })
  const { address: depositRouter } = await deploy(depositRouterAbi as Abi, depositRouterBytecode, [])
  const [, reward] = tokens
  if (!reward) throw new Error('the devnet has a second token')
  const streams = await deployStreams(chain, owner.address, reward.address, deploy)
  const lending = await openLending(chain, owner, tokens, mined)
  // Last: earlier deployments keep their addresses.
  const orders = exchange && (await deploySettlement(chain, owner.address, { deploy, write }))
  const beside = {
    ...{ ...(exchange ? { exchange } : {}), ...(lending ? { lending } : {}), ...(orders ? { orders } : {}) },
  }
  return { genesisHash: genesis.hash, tokens, vaults, depositRouter, streams, ...beside }
}

/** Creating the tokens of several reserves. */
const lendingGas = 16_000_000n

/** A market of Aave V3 for the dollars, where two users lend one and owe the other. */
async function openLending(
  { client, wallet }: DevChain,
  owner: ReturnType<typeof privateKeyToAccount>,
  tokens: readonly DevToken[],
  mined: (hash: Hex) => Promise<{ contractAddress?: Address | null | undefined }>,
): Promise<DevLending | undefined> {
  const send = async (account: typeof owner, to: Address | undefined, data: Hex) =>
    mined(await wallet.sendTransaction({ account, ...(to ? { to } : {}), data, gas: lendingGas } as never))
  const [usdc, dai] = ['usdc', 'dai'].map((key) => tokens.find((token) => token.key === key))
  if (!usdc || !dai) return undefined
  const lending = await deployLending(
    {
      deploy: async (data) => {
        const { contractAddress } = await send(owner, undefined, data)
        if (!contractAddress) throw new Error('a deployment gave no contract')
        return contractAddress
      },
      send: async (to, data) => {
        await send(owner, to, data)
      },
      call: async (to, data) => (await client.call({ to, data })).data ?? '0x',
    },
    owner.address,
    [usdc, dai],
  )
  if (!lending) return undefined
  const lenders = userAccounts()
    .slice(-2)
    .map(({ privateKey }) => privateKeyToAccount(privateKey))
  const plans = [
    { own: usdc, lent: '20000', other: dai, owed: '5000' },
    { own: dai, lent: '30000', other: usdc, owed: '2000' },
  ]
  const erc20 = (functionName: 'mint' | 'approve', args: readonly [Address, bigint]) =>
    encodeFunctionData({ abi: testTokenAbi as Abi, functionName, args })
  for (const [at, lender] of lenders.entries()) {
    const { own, lent } = plans[at] ?? { own: usdc, lent: '0' }
    const amount = parseUnits(lent, own.decimals)
    await send(owner, own.address, erc20('mint', [lender.address, amount]))
    await send(lender, own.address, erc20('approve', [lending.pool, amount]))
    await send(lender, lending.pool, lendingCalls.supply(own.address, amount, lender.address))
  }
  for (const [at, lender] of lenders.entries()) {
    const { other, owed } = plans[at] ?? { other: usdc, owed: '0' }
    const amount = parseUnits(owed, other.decimals)
    await send(lender, lending.pool, lendingCalls.borrow(other.address, amount, lender.address))
  }
  return lending
}

const exhibited: Record<Withheld, string> = {
  INDEXING_NOT_STARTED: 'Nothing is set to measure its growth, so its yield is withheld.',
  INDEXING_STALLED: 'Holds next to nothing: the price of its shares is no reading, so its yield is withheld.',
  PROTOCOL_UNSUPPORTED: 'Listed and watched only: nothing is built for it, and the price of its shares is not indexed.',
  FAILED_PRECONDITION: 'Two sources measure its growth at once, so its APY waits for a choice.',
}

function describe(plan: VaultPlan, token: DevToken, address: Address, startBlock: number): DevVault {
  const percent = formatPercent(plan.rate)
  const description = plan.withheld
    ? exhibited[plan.withheld]
    : plan.kind === 'erc7540'
      ? `Takes deposits and redemptions of ${token.symbol} as requests, settled half a minute later.`
      : `Earns ${percent} % a year on ${token.symbol}, block by block.`
  return {
    slug: plan.slug,
    name: plan.name,
    description,
    kind: plan.kind ?? 'erc4626',
    ...(plan.withheld ? { withheld: plan.withheld } : {}),
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
