import type { VaultEvent } from './events.js'

/** The data of one call: its own bytes from `start` to `end` of the transaction input. */
export type CallData = { data: Uint8Array; start: number; end: number }

type Kind = VaultEvent['kind']
type Reads = { kind: Kind; matches: (event: VaultEvent, argument: (index: number) => bigint | undefined) => boolean }

const asAddress = (value: bigint | undefined): string | undefined =>
  value === undefined ? undefined : `0x${value.toString(16).padStart(40, '0')}`

/** A deposit whose owner and amount, in assets or in shares, are the named arguments; a claim names its controller too. */
const deposit = (owner: number, of: 'assets' | 'shares', amount: number, controller?: number): Reads => ({
  kind: 'deposit',
  matches: (event, argument) =>
    event.kind === 'deposit' &&
    event[of] === argument(amount) &&
    event.owner === asAddress(argument(owner)) &&
    (controller === undefined || event.sender === asAddress(argument(controller))),
})
const withdraw = (owner: number | undefined, of: 'assets' | 'shares', amount: number): Reads => ({
  kind: 'withdraw',
  matches: (event, argument) =>
    event.kind === 'withdraw' &&
    event[of] === argument(amount) &&
    (owner === undefined || event.owner === asAddress(argument(owner))),
})
const request = (kind: 'depositRequest' | 'redeemRequest'): Reads => ({
  kind,
  matches: (event, argument) =>
    event.kind === kind &&
    event.amount === argument(0) &&
    event.controller === asAddress(argument(1)) &&
    event.owner === asAddress(argument(2)),
})
const other = (kind: Kind): Reads => ({ kind, matches: (event) => event.kind === kind })

/** Calls that make a vault tell of something, by selector: ERC-4626, ERC-5115, ERC-7540, ERC-7887 and Lagoon. */
const vaultCalls: ReadonlyMap<string, Reads> = new Map([
  ['6e553f65', deposit(1, 'assets', 0)], // deposit(uint256,address)
  ['94bf804d', deposit(1, 'shares', 0)], // mint(uint256,address)
  ['2e2d2984', deposit(1, 'assets', 0, 2)], // deposit(uint256,address,address)
  ['da39b3e7', deposit(1, 'shares', 0, 2)], // mint(uint256,address,address)
  ['20e8c565', deposit(0, 'assets', 2)], // deposit(address,address,uint256,uint256)
  ['b460af94', withdraw(2, 'assets', 0)], // withdraw(uint256,address,address)
  ['ba087652', withdraw(2, 'shares', 0)], // redeem(uint256,address,address)
  ['769f8e5d', withdraw(undefined, 'shares', 1)], // redeem(address,uint256,address,uint256,bool)
  ['85b77f45', request('depositRequest')], // requestDeposit(uint256,address,address)
  ['a5948c89', request('depositRequest')], // requestDeposit(uint256,address,address,address)
  ['7d41c86e', request('redeemRequest')], // requestRedeem(uint256,address,address)
  ['b9cf0634', other('cancelDepositRequest')], // cancelDepositRequest(uint256,address)
  ['2b9d9c1f', other('cancelRedeemRequest')], // cancelRedeemRequest(uint256,address)
  ['69d77a44', other('cancelDepositClaim')], // claimCancelDepositRequest(uint256,address,address)
  ['00a06d19', other('cancelRedeemClaim')], // claimCancelRedeemRequest(uint256,address,address)
  ['9c428921', other('cancelDepositClaim')], // cancelRequestDeposit()
])

/** Calls that make no vault tell of anything: of tokens, permits and operators. */
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

/** Calls of a claim name the controller as the event's sender, whoever sends them. */
const claimCalls: ReadonlySet<string> = new Set(['2e2d2984', 'da39b3e7'])

/** The first four bytes of a call's data as hex; less where there are less. */
export function selectorOf({ data, start, end }: CallData): string {
  return Buffer.from(data.subarray(start, Math.min(start + 4, end))).toString('hex')
}

export function isSilent(selector: string): boolean {
  return silentCalls.has(selector)
}

/** What a call to a vault makes it tell of; undefined when the selector is not known. */
export function findKind(selector: string): Kind | undefined {
  return vaultCalls.get(selector)?.kind
}

export function isClaim(selector: string): boolean {
  return claimCalls.has(selector)
}

/** Whether owner and amount of an event are the arguments of a call to its vault. */
export function hasArguments(selector: string, call: CallData, event: VaultEvent): boolean {
  const argument = (index: number): bigint | undefined => {
    const at = call.start + 4 + index * 32
    if (at + 32 > call.end) return undefined
    return BigInt(`0x${Buffer.from(call.data.subarray(at, at + 32)).toString('hex')}`)
  }
  return vaultCalls.get(selector)?.matches(event, argument) ?? false
}
