import { type AbiEvent, type Address, encodeAbiParameters, encodeEventTopics, type Hex, parseAbiItem } from 'viem'
import type { RawLog } from '../../src/rpc/raw.js'

/** What the walk over the kinds needs of one: what its contracts answer, and what they tell of a call. */
export type KindFixture = {
  kind: string
  /** Contracts beside the vault, by name. */
  contracts?: Readonly<Record<string, Address>>
  /** What its contracts have told before an event that is understood by it. */
  before?: readonly Told[]
  /** What the vault and the contracts beside it answer, by the declaration of the function; whatever else is asked reverts. */
  answers: Readonly<Record<string, unknown>>
  /** What the call of a planned deposit makes them tell of. */
  deposit(wallet: Address, assets: bigint, shares: bigint): Told[]
  /** What the call of a planned withdrawal makes them tell of. */
  withdraw(wallet: Address, assets: bigint, shares: bigint): Told[]
}

export type Told = Pick<RawLog, 'address' | 'topics' | 'data'>

const who = (text: string): Address => `0x${text.padStart(40, '0')}`

/** Addresses of every fixture; the receipt token is the vault. */
export const places = {
  nobody: who(''),
  vault: who('f0'),
  asset: who('a55e7'),
  beside: who('be51de'),
  escrow: who('5110'),
}

/** A log as a contract writes it. */
export function told(address: Address, declaration: string, args: Record<string, unknown>): Told {
  const event = parseAbiItem(declaration) as AbiEvent
  const words = event.inputs.filter((input) => !input.indexed)
  const topics = encodeEventTopics({ abi: [event], eventName: event.name, args }) as Hex[]
  const values = words.map(({ name }) => args[name ?? ''])
  return { address, topics, data: encodeAbiParameters(words, values) }
}

/** Shares that move. */
export function moved(from: Address, to: Address, amount: bigint): Told {
  const declaration = 'event Transfer(address indexed from, address indexed to, uint256 amount)'
  return told(places.vault, declaration, { from, to, amount })
}
