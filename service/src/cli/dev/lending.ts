import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Abi,
  type Address,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseUnits,
  zeroAddress,
} from 'viem'

/** A market of Aave V3, and what it lends. */
export type DevLending = { pool: Address; dataProvider: Address; reserves: { token: Address; aToken: Address }[] }

/** `links`: per library, where its address stands in the bytecode. */
type Contract = { abi: Abi; bytecode: string; links: Readonly<Record<string, readonly { start: number }[]>> }

/** One, as Aave counts rates: 27 digits behind the point. */
const ray = 10n ** 27n

const files = {
  provider: 'protocol/configuration/PoolAddressesProvider.sol/PoolAddressesProvider',
  acl: 'protocol/configuration/ACLManager.sol/ACLManager',
  pool: 'protocol/pool/Pool.sol/Pool',
  configurator: 'protocol/pool/PoolConfigurator.sol/PoolConfigurator',
  rates: 'protocol/pool/DefaultReserveInterestRateStrategy.sol/DefaultReserveInterestRateStrategy',
  aToken: 'protocol/tokenization/AToken.sol/AToken',
  stableDebt: 'protocol/tokenization/StableDebtToken.sol/StableDebtToken',
  variableDebt: 'protocol/tokenization/VariableDebtToken.sol/VariableDebtToken',
  oracle: 'mocks/oracle/PriceOracle.sol/PriceOracle',
  data: 'misc/AaveProtocolDataProvider.sol/AaveProtocolDataProvider',
} as const

/** In an order in which each finds the libraries it uses. */
const libraries = [
  'SupplyLogic',
  'BorrowLogic',
  'LiquidationLogic',
  'EModeLogic',
  'BridgeLogic',
  'PoolLogic',
  'ConfiguratorLogic',
  'FlashLoanLogic',
] as const

type Name = keyof typeof files | (typeof libraries)[number]

/** The contracts from their npm package; undefined if it is not installed for the program at `from`. */
export function readLending(from: string = import.meta.url): Readonly<Record<Name, Contract>> | undefined {
  const { resolve } = createRequire(from)
  const read = (path: string): Contract => {
    const file = resolve(`@aave/core-v3/artifacts/contracts/${path}.json`)
    const { abi, bytecode, linkReferences } = JSON.parse(readFileSync(file, 'utf8'))
    return { abi, bytecode, links: Object.assign({}, ...Object.values(linkReferences)) }
  }
  try {
    const named = Object.entries(files).map(([name, path]) => [name, read(path)])
    const linked = libraries.map((name) => [name, read(`protocol/libraries/logic/${name}.sol/${name}`)])
    return Object.fromEntries([...named, ...linked])
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** How transactions of an owner are sent: each is mined when its promise resolves. */
export type LendingChain = {
  deploy(data: Hex): Promise<Address>
  send(to: Address, data: Hex): Promise<void>
  call(to: Address, data: Hex): Promise<Hex>
}

export type LentToken = { address: Address; symbol: string; decimals: number; priceUsd: string }

/** Deploys the published contracts of Aave V3 and opens a market of these tokens; undefined where the package is missing. */
export async function deployLending(
  chain: LendingChain,
  owner: Address,
  tokens: readonly LentToken[],
): Promise<DevLending | undefined> {
  const published = readLending()
  if (!published) return undefined
  const at = new Map<string, Address>()
  const deploy = async (name: Name, args: readonly unknown[] = []): Promise<Address> => {
    const { abi, bytecode, links } = published[name]
    const address = await chain.deploy(
      encodeDeployData({ abi, bytecode: withLibraries(bytecode, links, at), args } as never),
    )
    at.set(name, address)
    return address
  }
  const write = (to: Address, name: Name, functionName: string, args: readonly unknown[]) =>
    chain.send(to, encodeFunctionData({ abi: published[name].abi, functionName, args }))
  const ask = async (to: Address, name: Name, functionName: string, args: readonly unknown[] = []) => {
    const { abi } = published[name]
    const data = await chain.call(to, encodeFunctionData({ abi, functionName, args }))
    return decodeFunctionResult({ abi, functionName, data })
  }

  for (const name of libraries) await deploy(name)
  const provider = await deploy('provider', ['OpenEarn devnet', owner])
  const set = (what: string, address: Address) => write(provider, 'provider', `set${what}`, [address])
  await set('ACLAdmin', owner)
  const acl = await deploy('acl', [provider])
  await set('ACLManager', acl)
  await write(acl, 'acl', 'addPoolAdmin', [owner])
  await set('PoolImpl', await deploy('pool', [provider]))
  await set('PoolConfiguratorImpl', await deploy('configurator'))
  const oracle = await deploy('oracle')
  await set('PriceOracle', oracle)
  const dataProvider = await deploy('data', [provider])
  await set('PoolDataProvider', dataProvider)
  const pool = (await ask(provider, 'provider', 'getPool')) as Address
  const configurator = (await ask(provider, 'provider', 'getPoolConfigurator')) as Address

  const tokenImpls = [await deploy('aToken', [pool]), await deploy('stableDebt', [pool])] as const
  const variableImpl = await deploy('variableDebt', [pool])
  const percent = (share: bigint) => (share * ray) / 100n
  const curve = [80n, 0n, 4n, 60n, 2n, 60n, 2n, 0n, 20n].map(percent)
  const rates = await deploy('rates', [provider, ...curve])
  await write(configurator, 'configurator', 'initReserves', [
    tokens.map(({ address, symbol, decimals }) => ({
      ...{ aTokenImpl: tokenImpls[0], stableDebtTokenImpl: tokenImpls[1], variableDebtTokenImpl: variableImpl },
      ...{ underlyingAssetDecimals: decimals, interestRateStrategyAddress: rates, underlyingAsset: address },
      ...{ treasury: owner, incentivesController: zeroAddress, params: '0x10' },
      ...{ aTokenName: `Lent ${symbol}`, aTokenSymbol: `a${symbol}` },
      ...{ variableDebtTokenName: `Owed ${symbol}`, variableDebtTokenSymbol: `d${symbol}` },
      ...{ stableDebtTokenName: `Owed ${symbol} at a fixed rate`, stableDebtTokenSymbol: `s${symbol}` },
    })),
  ])
  const reserves: DevLending['reserves'] = []
  for (const { address, priceUsd } of tokens) {
    await write(configurator, 'configurator', 'configureReserveAsCollateral', [address, 7_500n, 8_000n, 10_500n])
    await write(configurator, 'configurator', 'setReserveBorrowing', [address, true])
    await write(oracle, 'oracle', 'setAssetPrice', [address, parseUnits(priceUsd, 8)])
    const [aToken] = (await ask(dataProvider, 'data', 'getReserveTokensAddresses', [address])) as [Address]
    reserves.push({ token: address, aToken })
  }
  return { pool, dataProvider, reserves }
}

/** The bytecode with the addresses of the libraries it calls. */
function withLibraries(bytecode: string, links: Contract['links'], at: ReadonlyMap<string, Address>): Hex {
  let linked = bytecode
  for (const [name, places] of Object.entries(links)) {
    const address = at.get(name)?.slice(2).toLowerCase()
    if (!address) throw new Error(`the library ${name} is not deployed yet`)
    for (const { start } of places)
      linked = `${linked.slice(0, 2 + start * 2)}${address}${linked.slice(2 + start * 2 + 40)}`
  }
  return linked as Hex
}

/** Calls of users of a market. */
export const lendingCalls = {
  supply: (token: Address, amount: bigint, user: Address): Hex =>
    encodeFunctionData({ abi: poolAbi, functionName: 'supply', args: [token, amount, user, 0] }),
  /** At the variable rate. */
  borrow: (token: Address, amount: bigint, user: Address): Hex =>
    encodeFunctionData({ abi: poolAbi, functionName: 'borrow', args: [token, amount, 2n, 0, user] }),
}

const poolAbi = parseAbi([
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function borrow(address asset, uint256 amount, uint256 interestRateMode, uint16 referralCode, address onBehalfOf)',
])
