import type { RawLog } from '../../src/rpc/raw.js'

/** What happened, told without calldata or topics: the recount reads only this. */

export type How = 'signed' | 'unsigned' | 'legacy'
/** What a call makes a vault tell of, by its arguments: amount 0 is the event's first, 1 its second. */
export type ModelCall = {
  kind: 'deposit' | 'withdraw' | 'requestDeposit' | 'requestRedeem'
  of: 0 | 1
  amount: bigint
  owner: string
  /** Of a claim or a request. */
  controller?: string
}
/** A call: who made it, what it called and with which data, which code it carries. `isWhole`: the transaction itself. */
export type ModelFrame = {
  caller: string
  target: string
  /** What it is known to make; nothing at all, or unknown. */
  makes: ModelCall | 'nothing' | null
  body: string
  code: string | null
  how: How
  /** The chain a signature is for; on any other, where somebody may send the same transaction, it proves nothing. */
  signedFor?: number
  isWhole: boolean
}

export type ModelEvent = { at: number; vault: string } & (
  | { kind: 'transfer'; from: string; to: string; amount: bigint }
  | { kind: 'deposit' | 'withdraw'; sender: string; owner: string; assets: bigint; shares: bigint }
  | { kind: 'requestDeposit' | 'requestRedeem'; controller: string; owner: string; sender: string; amount: bigint }
  | { kind: 'cancelDeposit' | 'cancelRedeem'; controller: string; sender: string }
  | { kind: 'cancelledDeposit' | 'cancelledRedeem'; controller: string; sender: string; amount: bigint }
)

/** Calls of one sender: the whole transaction, or one user operation of a bundle. `to` is exclusive, by log index. */
export type ModelGroup = { frames: ModelFrame[]; from: number; to: number }

export type ModelTransaction = {
  hash: string
  from: string
  to: string
  input: string
  groups: ModelGroup[]
  events: ModelEvent[]
  logs: RawLog[]
}

export type ModelBlock = {
  number: number
  hash: string
  parentHash: string
  timestamp: number
  transactions: ModelTransaction[]
  /** State after the block; only the generator looks at it. */
  state: ModelState
}

/** A request as the vault itself keeps it. */
export type ModelRequest = {
  controller: string
  kind: 'deposit' | 'redeem'
  pending: bigint
  claimable: bigint
  cancelling: bigint
}

export type ModelState = {
  /** Shares by vault and wallet. */
  shares: Map<string, Map<string, bigint>>
  requests: ModelRequest[]
}

export function cloneState(state: ModelState): ModelState {
  return {
    shares: new Map([...state.shares].map(([vault, wallets]) => [vault, new Map(wallets)])),
    requests: state.requests.map((request) => ({ ...request })),
  }
}

/** Time of the first block, unix seconds. */
export const start = 1_700_000_000

export const address = (text: string): string => `0x${text.padStart(40, '0')}`
export const zero = address('0')
export const wallets = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map(address)
/** Smart accounts: one driven by its owner, two by bundles. */
export const accounts = ['ac1', 'ac2'].map(address)
export const router = address('b0')
export const treasury = address('fee')
export const settler = address('5e')
export const asyncVault = address('f2')
export const outerVault = address('f1')
export const innerVault = address('f0')
export const lateVault = address('f3')
export const allVaults = [innerVault, outerVault, asyncVault, lateVault]
/** The token of every vault, of six decimals on every chain. */
export const token = `0x${'dd'.repeat(20)}`
export const tokenDecimals = 6
export const codes = ['alpha', 'Beta_2', 'gamma-3']
export const strangerCode = 'nobody'

/** From how many shares on a wallet is an LP, oldest first: of one vault it changes, up and down. */
export const floorsOf = (vault: string): { from: number; shares: bigint }[] =>
  vault === innerVault
    ? [
        { from: 0, shares: 40_000_000_000n },
        { from: start + 40, shares: 1_000n },
        { from: start + 100, shares: 300_000_000_000n },
      ]
    : vault === outerVault
      ? [{ from: 0, shares: 1_000_000n }]
      : []
