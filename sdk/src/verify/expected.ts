import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { ExpectedCalls, Role } from './kindCalls.js'
import { cooldown } from './kinds/cooldown.js'
import { erc4626 } from './kinds/erc4626.js'
import { erc5115 } from './kinds/erc5115.js'
import { erc7540, erc7540Deposit, erc7540Redeem } from './kinds/erc7540.js'
import { lagoon } from './kinds/lagoon.js'
import { maple } from './kinds/maple.js'
import { umbrella } from './kinds/umbrella.js'
import { veda } from './kinds/veda.js'
import { windowStake } from './kinds/windowStake.js'

export type { DepositAsked, ExpectedCalls, Wanted, WithdrawAsked } from './kindCalls.js'

const tokenAbi = parseAbi(['function approve(address spender, uint256 amount)'])
const wrappedAbi = parseAbi(['function deposit()'])

export const approve = (spender: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: tokenAbi, args: [spender, amount] })

export const wrap = (): Hex => encodeFunctionData({ abi: wrappedAbi })

/** By the name of the vault's kind. */
export const expectedCalls: Readonly<Record<string, ExpectedCalls>> = {
  erc4626,
  erc5115,
  erc7540,
  'erc7540-deposit': erc7540Deposit,
  'erc7540-redeem': erc7540Redeem,
  cooldown,
  'window-stake': windowStake,
  umbrella,
  maple,
  veda,
  lagoon,
}

type VaultAddresses = { address: string; contracts?: Readonly<Record<string, string>> }

/** The contract of a vault that has a role in a plan, the vault itself in most; undefined where its address is not known. */
export function findContract({ contracts }: ExpectedCalls, role: Role, vault: VaultAddresses): string | undefined {
  const name = contracts?.[role]
  if (name === undefined) return vault.address
  return vault.contracts && Object.hasOwn(vault.contracts, name) ? vault.contracts[name] : undefined
}

/** The further contracts of a vault by their names; `list`: as GetVerificationContext tells them, in the order of the names. */
export function nameContracts(kind: string, list: readonly string[]): Record<string, string> {
  const known = Object.hasOwn(expectedCalls, kind) ? expectedCalls[kind]?.names : undefined
  const names = known?.find(({ length }) => length === list.length) ?? []
  return Object.fromEntries(names.map((name, place) => [name, list[place] ?? '']))
}
