import { type EmittingVault, findMakingCall, type VaultEvent } from '../vaults/index.js'

/** The data of one call: its own bytes from `start` to `end` of the transaction input. */
export type CallData = { data: Uint8Array; start: number; end: number }

/** A call: the contract called, and its first four bytes as hex. */
type Called = { target: string; selector: string }

/** Calls that make no vault event: of tokens, permits and operators. */
const silentCalls: ReadonlySet<string> = new Set([
  'a9059cbb', // transfer(address,uint256)
  '23b872dd', // transferFrom(address,address,uint256)
  '095ea7b3', // approve(address,uint256)
  '87517c45', // approve(address,address,uint160,uint48)
  '39509351', // increaseAllowance(address,uint256)
  'a457c2d7', // decreaseAllowance(address,uint256)
  'd505accf', // permit(address,address,uint256,uint256,uint8,bytes32,bytes32)
  '9fd5a6cf', // permit(address,address,uint256,uint256,bytes)
  '8fcbaf0c', // permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)
  '558a7297', // setOperator(address,bool)
  'eecea000', // setAuthorization(address,bool)
  'a22cb465', // setApprovalForAll(address,bool)
  '711b58ff', // authorizeOperator(address,address,bool,bytes32,uint256,bytes)
  '959b8c3f', // authorizeOperator(address)
])

/** The first four bytes of a call's data as hex; fewer if the data is shorter. */
export function selectorOf({ data, start, end }: CallData): string {
  return Buffer.from(data.subarray(start, Math.min(start + 4, end))).toString('hex')
}

export function isSilent(selector: string): boolean {
  return silentCalls.has(selector)
}

/** The kind of event that a call to a vault's contract makes; undefined if the call is unknown. */
export function findKind(vault: EmittingVault, { target, selector }: Called): VaultEvent['kind'] | undefined {
  return findMakingCall(vault, target, selector)?.makes
}

/** Whether the event of a call names the controller as its sender, for every sender of the transaction. */
export function isClaim(vault: EmittingVault, { target, selector }: Called): boolean {
  return findMakingCall(vault, target, selector)?.isClaim === true
}

/** Whether owner and amount of an event are the arguments of a call to its vault. */
export function hasArguments(
  vault: EmittingVault,
  { target, selector }: Called,
  call: CallData,
  event: VaultEvent,
): boolean {
  const argument = (index: number): bigint | undefined => {
    const at = call.start + 4 + index * 32
    if (at + 32 > call.end) return undefined
    return BigInt(`0x${Buffer.from(call.data.subarray(at, at + 32)).toString('hex')}`)
  }
  return findMakingCall(vault, target, selector)?.matches(event, argument) ?? false
}
