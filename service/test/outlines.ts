import { answeringAbi, answeringBytecode } from '@openearn/contracts'
import {
  type AbiFunction,
  type Address,
  encodeFunctionData,
  encodeFunctionResult,
  type Hex,
  parseAbiItem,
  toFunctionSelector,
} from 'viem'
import type { Anvil } from '../../contracts/test/anvil.js'

/** What a contract answers, by the declaration of the function; with arguments where these decide. */
export type Answers = Record<string, unknown | { of: readonly unknown[]; is: unknown }>

const isOf = (said: unknown): said is { of: readonly unknown[]; is: unknown } =>
  typeof said === 'object' && said !== null && 'of' in said

/** What every token answers. */
export const share = (name: string): Answers => ({
  'name() view returns (string)': name,
  'symbol() view returns (string)': 'SHARE',
  'decimals() view returns (uint8)': 18,
  'totalSupply() view returns (uint256)': 5n,
  'balanceOf(address) view returns (uint256)': 0n,
})
export const names = (view: string, at: Address): Answers => ({ [`${view}() view returns (address)`]: at })

export type Outlines = ReturnType<typeof openOutlines>

/** Contracts that answer what they are told to, and what products of the field look like made of them. */
export function openOutlines(anvil: Anvil, token: Address) {
  async function outline(answers: Answers = {}): Promise<Address> {
    const address = await anvil.deploy({ abi: answeringAbi, bytecode: answeringBytecode, args: [] })
    await tell(address, answers)
    return address
  }

  async function tell(address: Address, answers: Answers): Promise<void> {
    for (const [declaration, said] of Object.entries(answers)) {
      const item = parseAbiItem(`function ${declaration}`) as AbiFunction
      const { of, is } = isOf(said) ? said : { of: undefined, is: said }
      const call: Hex = of ? encodeFunctionData({ abi: [item], args: of } as never) : toFunctionSelector(item)
      const answer = encodeFunctionResult({ abi: [item], functionName: item.name, result: is } as never)
      const write = { address, abi: answeringAbi, functionName: 'tell', args: [call, answer] } as const
      await anvil.done(anvil.client.writeContract(write))
    }
  }

  /** A vault of Veda with its teller, accountant and queue. */
  async function veda() {
    const [vault, teller, accountant, queue] = [
      await outline(share('Veda')),
      await outline(),
      await outline(),
      await outline(),
    ] as const
    await tell(vault, names('hook', teller))
    await tell(teller, { ...names('vault', vault), ...names('accountant', accountant) })
    await tell(accountant, { ...names('vault', vault), ...names('base', token) })
    await tell(queue, { ...names('boringVault', vault), ...names('accountant', accountant) })
    return { vault, teller, accountant, queue }
  }

  return { outline, tell, veda }
}
