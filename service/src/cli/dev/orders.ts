import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Abi, type Address, type Hex, zeroAddress } from 'viem'
import { type DevChain, devAccount } from './anvil.js'

/** Index of the devnet account that settles swap orders. */
export const solverIndex = 4

/** The settlement contract of CoW Protocol on the devnet, who takes what is sold for it, and who says which solvers may settle. */
export type DevOrders = { settlement: Address; relayer: Address; authenticator: Address }

type Contract = { abi: Abi; bytecode: Hex }

/** The contracts from their npm package; undefined if it is not installed for the program at `from`. */
export function readSettlement(
  from: string = import.meta.url,
): Record<'authenticator' | 'settlement', Contract> | undefined {
  const { resolve } = createRequire(from)
  const read = (name: string): Contract => {
    const file = resolve(`@cowprotocol/contracts/lib/contracts/${name}.json`)
    const { abi, bytecode } = JSON.parse(readFileSync(file, 'utf8'))
    return { abi, bytecode }
  }
  try {
    return { authenticator: read('GPv2AllowListAuthentication'), settlement: read('GPv2Settlement') }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** How transactions of an owner are sent: each is mined when its promise resolves. */
type Sending = {
  deploy(abi: Abi, bytecode: Hex, args: unknown[]): Promise<{ address: Address }>
  write(address: Address, abi: Abi, functionName: string, args: unknown[]): Promise<unknown>
}

/**
 * Deploys the published settlement contract, which makes its vault relayer, and allows the devnet's solver; undefined where
 * the package is not installed. Balances are those of ERC-20, so the vault of Balancer is not there.
 */
export async function deploySettlement(
  { client }: DevChain,
  owner: Address,
  { deploy, write }: Sending,
): Promise<DevOrders | undefined> {
  const published = readSettlement()
  if (!published) return undefined
  const { abi } = published.authenticator
  const { address: authenticator } = await deploy(abi, published.authenticator.bytecode, [])
  await write(authenticator, abi, 'initializeManager', [owner])
  await write(authenticator, abi, 'addSolver', [devAccount(solverIndex).address])
  const settlement = await deploy(published.settlement.abi, published.settlement.bytecode, [authenticator, zeroAddress])
  const read = { ...settlement, abi: published.settlement.abi, functionName: 'vaultRelayer' }
  const relayer = (await client.readContract(read)) as Address
  return { settlement: settlement.address, relayer, authenticator }
}
