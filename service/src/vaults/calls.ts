import { type AbiFunction, type AbiParameter, type ParseAbiItem, parseAbiItem, toFunctionSelector } from 'viem'
import type { VaultEvent } from './events.js'

/** A call that makes a vault tell of something. */
export type MakingCall = {
  readonly function: AbiFunction
  /** Its first four bytes, as eight digits. */
  readonly selector: string
  /** The kind of event that the call makes. */
  readonly makes: VaultEvent['kind']
  /** The event names the controller as its sender, for every sender of the call. */
  readonly isClaim: boolean
  /** Whether the arguments of a call are those of an event; an argument beyond the calldata is undefined. */
  matches(event: VaultEvent, argument: (index: number) => bigint | undefined): boolean
}

type InputNames<S extends string> = Extract<ParseAbiItem<S>, AbiFunction>['inputs'][number]['name']
type EventOf<K extends VaultEvent['kind']> = Extract<VaultEvent, { kind: K }>
type Member<K extends VaultEvent['kind']> = Exclude<
  keyof EventOf<K>,
  'kind' | 'logIndex' | 'isOtherToken' | 'atOnce' | 'refundable' | 'refunds' | 'pays' | 'promised'
>
type Same<K extends VaultEvent['kind'], S extends string> = { [member in Member<K>]?: InputNames<S> }

/** Declares a call, what it makes, and which of its arguments stand in the event: `same` names them by the event's members. */
export function making<const S extends string, K extends VaultEvent['kind']>(
  declaration: S,
  makes: K,
  same: Same<K, S>,
  more: { isClaim?: boolean } = {},
): MakingCall {
  const abiFunction = parseAbiItem(declaration as string) as AbiFunction
  for (const input of abiFunction.inputs) assertOneWord(input, declaration)
  const pairs = Object.entries(same).map(([member, name]) => ({
    member,
    index: abiFunction.inputs.findIndex((input) => input.name === name),
    isAddress: abiFunction.inputs.some((input) => input.name === name && input.type === 'address'),
  }))
  return {
    function: abiFunction,
    selector: toFunctionSelector(abiFunction).slice(2),
    makes,
    isClaim: more.isClaim === true,
    matches: (event, argument) =>
      event.kind === makes &&
      pairs.every(({ member, index, isAddress }) => {
        const value = argument(index)
        if (value === undefined) return false
        return event[member as keyof VaultEvent] === (isAddress ? toAddress(value) : value)
      }),
  }
}

function toAddress(value: bigint): string {
  return `0x${value.toString(16).padStart(40, '0')}`
}

/** The place of an argument follows from those before it: each takes one word, of its own or of its place in the rest. */
function assertOneWord({ name, type }: AbiParameter, declaration: string): void {
  if (type === 'tuple' || /\[\d+\]$/.test(type)) throw new Error(`${declaration}: ${name} takes more than one word`)
}
