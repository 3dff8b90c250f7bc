import { type AbiEvent, type AbiParameter, type ParseAbiItem, parseAbiItem, toEventSelector } from 'viem'
import type { RawLog } from '../rpc/raw.js'

/** What an event of a vault means, whatever its kind calls it. Addresses are lower-case. */
export type VaultEvent = { logIndex: number } & (
  | { kind: 'deposit'; sender: string; owner: string; assets: bigint; shares: bigint; isOtherToken?: true }
  | {
      kind: 'withdraw'
      sender: string
      receiver: string
      owner: string
      assets: bigint
      shares: bigint
      /** `assets` are of another token than the vault's asset: shares move, but the amount fits no ledger. */
      isOtherToken?: true
    }
  | {
      kind: 'depositRequest' | 'redeemRequest'
      controller: string
      owner: string
      requestId: bigint
      sender: string
      amount: bigint
    }
  | {
      kind: 'cancelDepositRequest' | 'cancelRedeemRequest'
      controller: string
      requestId: bigint
      sender: string
    }
  | {
      kind: 'cancelDepositClaim' | 'cancelRedeemClaim'
      controller: string
      receiver: string
      requestId: bigint
      sender: string
      amount: bigint
    }
)

/** A vault as its logs are read. Addresses lower-case. */
export type EmittingVault = {
  address: string
  kind: string
  asset: string
  receiptToken: string
  /** Contracts beside the vault, by the name its kind gives them. */
  contracts?: Readonly<Record<string, string>>
}

type WithoutPlace<T> = T extends unknown ? Omit<T, 'logIndex'> : never
type Meaning = WithoutPlace<VaultEvent>

/** An event a kind emits: how it is declared, and what a log of it means. */
export type EmittedEvent = {
  readonly event: AbiEvent
  /** Its first topic. */
  readonly topic: string
  /** Undefined when the log has another shape, or tells of another vault. Never throws. */
  read(log: RawLog, vault: EmittingVault): VaultEvent | undefined
}

type InputOf<S extends string> = Extract<ParseAbiItem<S>, AbiEvent>['inputs'][number]
type ArgumentsOf<S extends string> = {
  [input in InputOf<S> as Extract<input['name'], string>]: input['type'] extends 'address' ? string : bigint
}

/**
 * Declares an event and what it means. Its arguments are handed over by their names: addresses as text, every other word
 * as a number.
 */
export function emitted<const S extends string>(
  declaration: S,
  mean: (told: ArgumentsOf<S>, vault: EmittingVault) => Meaning | undefined,
): EmittedEvent {
  const event = parseAbiItem(declaration as string) as AbiEvent
  const indexed = event.inputs.filter((input) => input.indexed)
  const words = event.inputs.filter((input) => !input.indexed)
  for (const input of event.inputs) assertWord(input, declaration)
  const [topic, topicCount, dataLength] = [toEventSelector(event), 1 + indexed.length, 2 + words.length * 64]
  const parts = [
    ...indexed.map((input, at) => ({ ...toPart(input), inTopic: at + 1, from: 2 })),
    ...words.map((input, at) => ({ ...toPart(input), inTopic: 0, from: 2 + at * 64 })),
  ]
  return {
    event,
    topic,
    read: (log, vault) => {
      const { topics, data, logIndex } = log
      if (topics[0] !== topic || topics.length !== topicCount || data.length !== dataLength) return undefined
      const told: Record<string, string | bigint> = {}
      for (const { name, isAddress, inTopic, from } of parts) {
        const text = inTopic === 0 ? data : (topics[inTopic] ?? '')
        told[name] = isAddress ? `0x${text.slice(from + 24, from + 64)}` : BigInt(`0x${text.slice(from, from + 64)}`)
      }
      const meaning = mean(told as ArgumentsOf<S>, vault)
      return meaning && { ...meaning, logIndex }
    },
  }
}

function toPart({ name, type }: AbiParameter): { name: string; isAddress: boolean } {
  return { name: name ?? '', isAddress: type === 'address' }
}

/** What takes more or less than one word, or its hash alone, cannot be read by its place. */
function assertWord({ name, type }: AbiParameter, declaration: string): void {
  if (!name) throw new Error(`${declaration}: an argument has no name`)
  if (!/^(address|bool|bytes32|uint\d*)$/.test(type))
    throw new Error(`${declaration}: ${name} is no word that can be read`)
}

/** Whose event it is: a frame whose caller is one of these counts for all wallets the event is about. */
export function eventParties(event: VaultEvent): readonly string[] {
  if (event.kind === 'deposit' || event.kind === 'withdraw') return [event.sender, event.owner]
  if (event.kind === 'depositRequest' || event.kind === 'redeemRequest')
    return [event.sender, event.owner, event.controller]
  return [event.sender, event.controller]
}
