import { type AbiEvent, type AbiParameter, type ParseAbiItem, parseAbiItem, toEventSelector } from 'viem'
import type { RawLog } from '../rpc/raw.js'

/** An event of a vault, independent of its kind. Addresses are lower-case. */
export type VaultEvent = { logIndex: number } & (
  | {
      kind: 'deposit'
      sender: string
      owner: string
      assets: bigint
      shares: bigint
      isOtherToken?: true
      /** It completes at once although the kind is asynchronous: it takes from no request. */
      atOnce?: true
      /** It may be given back until then, that second included, and is named by this number. */
      refundable?: { nonce: bigint; until: bigint }
    }
  | {
      kind: 'withdraw'
      sender: string
      receiver: string
      owner: string
      assets: bigint
      shares: bigint
      /** `assets` are of another token than the vault's asset: shares move, but the amount fits no ledger. */
      isOtherToken?: true
      /** It completes at once although the kind is asynchronous: it takes from no request. */
      atOnce?: true
      /** It gives back the deposit of this number. */
      refunds?: bigint
      /** It pays all of this request, and tells no amounts: they are those of the request. */
      pays?: bigint
    }
  | {
      kind: 'depositRequest' | 'redeemRequest'
      controller: string
      owner: string
      requestId: bigint
      sender: string
      amount: bigint
      /** The assets that a redemption is to be paid with, where the request says so. */
      promised?: bigint
      /** The request whose shares it goes on with. */
      replaces?: bigint
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
  /** Further contracts of the vault, by the names its kind gives them. */
  contracts?: Readonly<Record<string, string>>
}

type WithoutPlace<T> = T extends unknown ? Omit<T, 'logIndex'> : never
type Meaning = WithoutPlace<VaultEvent>

/** An event a kind emits: how it is declared, and what a log of it means. */
export type EmittedEvent = {
  readonly event: AbiEvent
  /** Its first topic. */
  readonly topic: string
  /** It says nothing by itself: others are read by it. */
  readonly isBeside?: true
  /**
   * Undefined when the log has another shape, or tells of another vault. `logs` holds at least those of its transaction, in
   * their order. Never throws.
   */
  read(log: RawLog, vault: EmittingVault, logs: readonly RawLog[]): VaultEvent | undefined
}

/** The log of an event among those of its block or transaction, for an event that others complete. */
export type Around = { log: RawLog; logs: readonly RawLog[] }

type InputOf<S extends string> = Extract<ParseAbiItem<S>, AbiEvent>['inputs'][number]
type ArgumentsOf<S extends string> = {
  [input in InputOf<S> as Extract<input['name'], string>]: input['type'] extends 'address' ? string : bigint
}

/**
 * Declares an event and what it means. Its arguments are handed over by their names, to be taken one by one: addresses as
 * text, every other word as a number.
 */
export function emitted<const S extends string>(
  declaration: S,
  mean: (told: ArgumentsOf<S>, vault: EmittingVault, around: Around) => Meaning | undefined,
): EmittedEvent {
  const event = parseAbiItem(declaration as string) as AbiEvent
  const indexed = event.inputs.filter((input) => input.indexed)
  const words = event.inputs.filter((input) => !input.indexed)
  for (const input of event.inputs) assertWord(input, declaration)
  const [topic, topicCount, dataLength] = [toEventSelector(event), 1 + indexed.length, 2 + words.length * wordDigits]
  const Told = defineTold([
    ...indexed.map((input, at) => ({ input, inTopic: at + 1, from: 2 })),
    ...words.map((input, at) => ({ input, inTopic: 0, from: 2 + at * wordDigits })),
  ])
  return {
    event,
    topic,
    read: (log, vault, logs) => {
      if (log.topics[0] !== topic || log.topics.length !== topicCount || log.data.length !== dataLength)
        return undefined
      const meaning = mean(new Told(log) as unknown as ArgumentsOf<S>, vault, { log, logs })
      return meaning && Object.assign(meaning, { logIndex: log.logIndex })
    },
  }
}

/** Declares an event that is read only because others are understood by it. */
export function beside(declaration: string): EmittedEvent {
  return { ...emitted(declaration, () => undefined), isBeside: true }
}

const wordDigits = 64
/** Digits of a word before the address in it. */
const paddingDigits = 24

type Part = { input: AbiParameter; inTopic: number; from: number }

/** Arguments of a log by their names, each read when it is asked for: a rebuild decodes millions of logs. */
function defineTold(parts: readonly Part[]): new (log: RawLog) => object {
  function Told(this: { log: RawLog }, log: RawLog) {
    this.log = log
  }
  for (const { input, inTopic, from } of parts) {
    const isAddress = input.type === 'address'
    Object.defineProperty(Told.prototype, input.name ?? '', {
      get(this: { log: RawLog }) {
        const text = inTopic === 0 ? this.log.data : (this.log.topics[inTopic] ?? '')
        return isAddress
          ? `0x${text.slice(from + paddingDigits, from + wordDigits)}`
          : BigInt(`0x${text.slice(from, from + wordDigits)}`)
      },
    })
  }
  return Told as unknown as new (
    log: RawLog,
  ) => object
}

/** Asserts that a parameter takes exactly one word and is not hashed: others cannot be read by their place. */
function assertWord({ name, type }: AbiParameter, declaration: string): void {
  if (!name) throw new Error(`${declaration}: an argument has no name`)
  if (!/^(address|bool|bytes32|uint\d*)$/.test(type))
    throw new Error(`${declaration}: ${name} is no word that can be read`)
}
