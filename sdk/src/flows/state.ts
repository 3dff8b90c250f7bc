import type { PlannedTransaction } from '../verify/types.js'
import type { PlannedBatch } from '../verify/verifyBatch.js'
import type { Place } from '../wallet/ask.js'
import type { ProviderFailure } from '../wallet/provider.js'
import type { Trusts } from '../wallet/world.js'

/** A decision of the user that a flow waits for. */
export type Word =
  /** Ask the wallet: at first, after it said no, or after a reload. */
  | 'go'
  /** The same, although no own quote supports the least amount, or the plan changed: the sentences were read. */
  | 'confirm'
  /** Ask the wallet again, although it may have sent the first request: with its nonce and fees, so that one of both is mined. */
  | 'again'

export type Problem = { code: string; text: string }

/** A request to the wallet: written down before it is made, as nobody else knows of it while the wallet shows it. */
export type Request = {
  position: number
  /** Unix milliseconds. */
  at: number
  /** Of a plain account. */
  place?: Place | undefined
  batchId?: string | undefined
  /** It was made once before, and nobody knows what became of that: a refusal tells nothing about the first. */
  isAgain?: boolean | undefined
}

/** Members of every flow. All of it is JSON; none of it is believed. */
export type Base = {
  version: 1
  id: string
  chainId: number
  wallet: string
  status: string
  needs?: Word | undefined
  problem?: Problem | undefined
  /** Where the facts come from that the plan was compared with. */
  trusts?: Trusts | undefined
  /** About what the wallet will be asked for, in signing order. */
  sentences?: readonly string[] | undefined
  /** The sentences that were shown before the plan was built again, where they were others. */
  before?: readonly string[] | undefined
  /** How often in a row nothing new was seen; spaces the looks. */
  looks?: number | undefined
  /** The balances of the wallet at the last look; they space the questions to the service. */
  mark?: string | undefined
}

export type BuiltPlan = {
  actionId: string
  transactions: readonly PlannedTransaction[]
  batch: PlannedBatch
  validUntil: string
  /** Unix milliseconds of the machine that asked for it. */
  builtAt: number
}

export const planKinds = ['deposit', 'withdraw', 'claim', 'cancel', 'swap'] as const
export type PlanKind = (typeof planKinds)[number]

export type PlanStatus =
  | 'building'
  | 'ready'
  | 'asking'
  | 'unknown'
  | 'sent'
  | 'mined'
  | 'credited'
  | 'requested'
  | 'done'
  | 'mined, not credited'
  | 'reverted'
  | 'replaced'
  | 'refused'

export type PlanFlow = Base & {
  kind: PlanKind
  status: PlanStatus
  /** The members of the request to the service. */
  params: Readonly<Record<string, unknown>>
  /** Names the intent of the present plan to the service (Idempotency-Key). */
  key: string
  plan?: BuiltPlan | undefined
  /** Ids of every plan that was built for this intent: a transaction of any of them is found by its suffix. */
  actionIds: readonly string[]
  /** The first transaction of the plan that is not mined. */
  position: number
  asked?: Request | undefined
  hash?: string | undefined
  batchId?: string | undefined
  /** The place of an earlier request that nobody saw: the next one takes its number, so that one of both is mined. */
  earlier?: Place | undefined
  /** Unix milliseconds of the first look that saw the last transaction mined. */
  minedAt?: number | undefined
  /** Unix milliseconds of the first look that saw another transaction in the place of ours. */
  takenAt?: number | undefined
  /** The hash of the transaction that carries the action, once it is mined. */
  txHash?: string | undefined
}

const last = new Set([
  ...['credited', 'requested', 'done', 'mined, not credited', 'reverted', 'replaced', 'refused'],
  ...['filled', 'partially-filled', 'cancelled', 'expired', 'claimed', 'member'],
])

/** Whether a flow has come to its end: nothing more happens. */
export const isLast = ({ status }: Pick<Base, 'status'>): boolean => last.has(status)

/**
 * States that this program made from a request of its user, or compared with it since it began. Others were stored, and may
 * say anything: their sentences, and a word that was said about them, count for nothing.
 */
const own = new WeakSet<object>()

/** Marks a state as made or compared here. */
export function make<S extends object>(state: S): S {
  own.add(state)
  return Object.freeze(state)
}

/** The same flow with other members. A stored flow stays one: a step does not compare it. */
export function change<F extends Base>(flow: F, part: Partial<F>): F {
  const next = { ...flow, ...part }
  return isOwn(flow) ? make(next) : Object.freeze(next)
}

export const isOwn = (state: object): boolean => own.has(state)

/** A wallet's refusal, after which it sent nothing, as the user is told. */
export const refusal = ({ code, message }: ProviderFailure): Problem => ({
  code: code === 4001 ? 'REJECTED' : 'NOT_TAKEN',
  text: message,
})

/** The pause before the next look, in milliseconds: 2 s growing to 15 s. */
export const pauseOf = ({ looks = 0 }: Pick<Base, 'looks'>): number => Math.min(15_000, 2_000 * 1.4 ** looks)

/** Random, also in pages without https, which have no `randomUUID`. */
export const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

export const isHex = (value: unknown, bytes: number): value is string =>
  typeof value === 'string' && new RegExp(`^0x[0-9a-f]{${2 * bytes}}$`, 'i').test(value)
