import type { Digits } from './bytes.js'

/** What a vault's log says. Addresses lower-case. */
export type Told = { logIndex: number; vaultId: number } & (
  | {
      kind: 'deposit'
      sender: string
      owner: string
      assets: bigint
      shares: bigint
      atOnce?: true
      /** In a token beside the vault's asset, in which the ledger is. */
      ofOtherToken?: true
      /** It may be given back by this number until this second. */
      refundable?: { nonce: bigint; until: bigint }
    }
  | {
      kind: 'withdraw'
      sender: string
      receiver: string
      owner: string
      assets: bigint
      shares: bigint
      /** Of no request, although the vault's kind takes requests. */
      atOnce?: true
      ofOtherToken?: true
      /** It gives back the deposit of this number. */
      refunds?: bigint
      /** It pays all of this request; what for stands in the request. */
      pays?: bigint
    }
  | {
      kind: 'depositRequest' | 'redeemRequest'
      sender: string
      owner: string
      controller: string
      id: bigint
      amount: bigint
      /** What it is to be paid with, in the vault's asset. */
      promised?: bigint
      /** The request whose shares it goes on with. */
      replaces?: bigint
    }
  | { kind: 'cancelDepositRequest' | 'cancelRedeemRequest'; sender: string; controller: string; id: bigint }
  | {
      kind: 'cancelDepositClaim' | 'cancelRedeemClaim'
      sender: string
      receiver: string
      controller: string
      id: bigint
      amount: bigint
    }
)
export type Kind = Told['kind']
/** An event that somebody's code may be credited for. */
export type Creditable = Extract<Told, { kind: 'deposit' | 'withdraw' | 'depositRequest' | 'redeemRequest' }>
export const isCreditable = (event: Told): event is Creditable =>
  event.kind === 'deposit' ||
  event.kind === 'withdraw' ||
  event.kind === 'depositRequest' ||
  event.kind === 'redeemRequest'

export type Move = { logIndex: number; from: string; to: string; value: bigint }

/** SEMANTICS §2: a call that was executed, with the data that may carry a suffix. */
export type Frame = {
  caller: string
  target: string
  data: Digits
  /** Which call of the transaction it is: the same for the same call. */
  place: number
  /** A call of its own: no delegatecall, no operation. */
  isCall: boolean
  /** It rests on one node's word. */
  isWord: boolean
  /** `callData` of the operations it runs in or is. */
  operations: Digits[]
  /** The entry points, the innermost first, whose `handleOps` it runs in. */
  bundles: readonly string[]
}

/** The frames around an event, innermost first. `emitting`: the place of the call that emitted it, where that is known. */
export type Chain = { frames: Frame[]; emitting: number | undefined }

/** How an event of a transaction may have been made: one way, or several that cannot be told apart. */
export type Ways = { ways: Chain[]; callers: ReadonlySet<string> }

/** A log as the recount reads it, with the logs of the same call where a trace tells. */
export type OwnLogs = ReadonlyMap<number, ReadonlySet<number>>
