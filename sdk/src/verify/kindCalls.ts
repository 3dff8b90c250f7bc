import { type Abi, type Address, decodeFunctionData, type Hex } from 'viem'

export type Wanted = { user: Address; requestId: bigint | undefined; amount: bigint | undefined }

/** `minimumOut`: the least that must come out, for vaults whose calls say it. */
type Asked = { user: Address; token: Address; minimumOut: bigint }
export type DepositAsked = Asked & { amount: bigint }
/** `slippageBps`: the most that may be lost to a discount, for vaults whose calls name one. */
export type WithdrawAsked = Asked & { shares: bigint; slippageBps: number }

/** The role of a vault's contract in a plan: it is called, or it takes the tokens, or the shares. */
export type Role = 'spender' | 'puller' | 'deposit' | 'withdraw' | 'claimDeposit' | 'cancelDeposit'

/** The calls of one kind of vault that do what was asked, and nothing else. One file each, written from the standard. */
export type ExpectedCalls = {
  /** The vault takes and pays several tokens. */
  severalTokens?: boolean
  /** Further contracts that have a role of the vault, by their names in the catalogue. */
  contracts?: Readonly<Partial<Record<Role, string>>>
  /** The names of its further contracts in their order, once for each number of them that a vault can be listed with. */
  names?: readonly (readonly string[])[]
  isDeposit(call: Hex, asked: DepositAsked): boolean
  /** Redeeming, or claiming what was redeemed, or asking for it. */
  isWithdraw(call: Hex, asked: WithdrawAsked): boolean
  /** Whether a vault may need its shares approved for a withdrawal that begins like this. */
  mayPull?(data: Hex): boolean
  isClaim?(call: Hex, wanted: Wanted): boolean
  isCancel?(call: Hex, wanted: Wanted): boolean
}

/** The arguments of a call to a function; undefined where it is a call to another one, or none. */
export function readCall(call: Hex, abi: Abi, name: string): readonly unknown[] | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi, data: call })
    return functionName === name ? args : undefined
  } catch {
    return undefined
  }
}
